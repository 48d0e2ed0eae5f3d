"""Which state a history stands for.

mlx-lm hands a logits processor nothing but a history of token ids, and one
object may serve several generations, all rows of a batch, and speculative
decoding that jumps back.  So the state must be a function of the history, not
of how often the processor was called.  ``Runs`` remembers what it has seen: a
run is a prompt of ``start`` tokens, the tokens after it, and the state at each.
A history that a run knows, or knows but for its last token, belongs to it;
any other is a new prompt.  The first history may be the whole prompt (mlx-lm
0.32.2), its last token only (0.31.3, speculative) or its uncached rest.

One case is undecidable from outside: a new prompt that is, to the token, an
earlier run of the same object or that run and one token more.  It is taken for
the run going on; ``Constraint.fresh`` starts from nothing.

Cost: one comparison of the history, about 3 µs for 1,000 tokens, and two
lookups.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from stcon.constraints.constraint import Constraint
from stcon.errors import HistoryError
from stcon.machines.dfa import DEAD

History = NDArray[np.int64]
_MAX_TOKENS = 1 << 22


class Run:
    """A prompt of ``start`` tokens and what followed.

    ``states[i]`` is the state when ``start + i`` tokens are known.
    """

    def __init__(self, tokens: History, start: int, states: list[int]) -> None:
        self._tokens = tokens
        self.length = len(tokens)
        self.start = start
        self.states = states

    def knows(self, history: History) -> bool:
        """Whether ``history``, or all of it but the last token, is a beginning
        of this run that holds its whole prompt."""
        known = len(history) - 1
        if known > self.length or known + 1 < self.start or known < 0:
            return False
        if known + 1 == self.start:
            return bool((self._tokens[: known + 1] == history).all())
        last_agrees = known == 0 or self._tokens[known - 1] == history[known - 1]
        return bool(last_agrees and (self._tokens[:known] == history[:known]).all())

    def holds(self, history: History) -> bool:
        """Whether the last token of a known ``history`` is known too."""
        length = len(history)
        return length <= self.length and self._tokens[length - 1] == history[-1]

    def extend(self, token: int, state: int) -> None:
        """Nothing; one more token, and the state after it."""
        if self.length == len(self._tokens):
            room = np.empty(len(self._tokens) + 64, np.int64)
            self._tokens = np.concatenate([self._tokens, room])
        self._tokens[self.length] = token
        self.length += 1
        self.states.append(state)

    def branch(self, length: int) -> Run:
        """A run of its own with the first ``length`` tokens of this one."""
        states = self.states[: length - self.start + 1]
        return Run(self._tokens[:length].copy(), self.start, states)


class Runs:
    """The runs one processor has seen, the latest used first."""

    def __init__(self, constraint: Constraint) -> None:
        self._constraint = constraint
        self._runs: list[Run] = []

    def state(self, history: History) -> int:
        """The state after ``history`` (int64, at least one token).

        Raises HistoryError when its last token is not allowed.
        """
        for run in self._runs:
            if run.knows(history):
                state = self._follow(run, history)
                if state is not None:
                    return state
        self._add(Run(history.copy(), len(history), [self._constraint.start]))
        return self._constraint.start

    def _follow(self, run: Run, history: History) -> int | None:
        """The state after a history ``run`` knows but for its last token; None
        when the run had ended and this is a new prompt."""
        self._first(run)
        length = len(history)
        if length == run.start or run.holds(history):
            return run.states[length - run.start]
        before = run.states[length - 1 - run.start]
        token = int(history[-1])
        state = self._constraint.advance(before, token)
        if state == DEAD:
            if self._has_ended(before):
                return None
            self._refuse(history, before)
        if run.length >= length:
            run = run.branch(length - 1)
            self._add(run)
        run.extend(token, state)
        return state

    def _has_ended(self, state: int) -> bool:
        """Whether only end-of-text ids are open."""
        constraint = self._constraint
        return constraint.is_complete(state) and not constraint.live(state)

    def _refuse(self, history: History, state: int) -> None:
        token = int(history[-1])
        vocabulary = self._constraint.vocabulary
        text = vocabulary.token_bytes(token).decode("utf-8", "replace")
        what = repr(text) if vocabulary.is_text(token) else "not text"
        wanted = bytes(self._constraint.live(state)[:8]).decode("utf-8", "replace")
        raise HistoryError(
            f"token {token} ({what}) at position {len(history) - 1} of the history "
            f"is not allowed there; the text so far allows {wanted!r}",
            position=len(history) - 1,
            hint="the constraint must be the last logits processor, and the "
            "sampler must not pick tokens at -inf; for a new prompt that "
            "continues an earlier output, pass constraint.fresh()",
        )

    def _first(self, run: Run) -> None:
        if self._runs[0] is not run:
            self._runs.remove(run)
            self._runs.insert(0, run)

    def _add(self, run: Run) -> None:
        self._runs.insert(0, run)
        kept = 0
        for count, old in enumerate(self._tokens_held()):
            kept = count + 1
            if old > _MAX_TOKENS:
                break
        del self._runs[max(kept, 1) :]

    def _tokens_held(self) -> Iterator[int]:
        held = 0
        for run in self._runs:
            held += run.length
            yield held
