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

Histories are kept and compared as raw bytes, four a token: comparing 1,000
tokens costs 0.3 µs that way, 5 µs as numpy arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from stcon.constraints.constraint import Constraint
from stcon.errors import HistoryError
from stcon.machines.dfa import DEAD

WIDTH = 4
"""Bytes of one token in a history, an unsigned little-endian number."""

_MAX_BYTES = WIDTH << 22


class Run:
    """A prompt of ``start`` tokens and what followed.

    ``states[i]`` is the state when ``start + i`` tokens are known.
    """

    def __init__(self, tokens: bytes, start: int, states: list[int]) -> None:
        self._tokens = bytearray(tokens)
        self.start = start
        self.states = states

    @property
    def nbytes(self) -> int:
        """Bytes of the history held."""
        return len(self._tokens)

    def knows(self, history: bytes) -> bool:
        """Whether ``history``, or all of it but the last token, is a beginning
        of this run that holds its whole prompt."""
        start = self.start * WIDTH
        if len(history) == start:
            return self._tokens.startswith(history)
        before = len(history) - WIDTH
        return start <= before <= len(self._tokens) and self._tokens.startswith(
            history[:-WIDTH]
        )

    def holds(self, history: bytes) -> bool:
        """Whether all of ``history`` is a beginning of this run."""
        return self._tokens.startswith(history)

    def extend(self, token: bytes, state: int) -> None:
        """Nothing; one more token, and the state after it."""
        self._tokens += token
        self.states.append(state)

    def branch(self, length: int) -> Run:
        """A run of its own with the first ``length`` tokens of this one."""
        states = self.states[: length - self.start + 1]
        return Run(self._tokens[: length * WIDTH], self.start, states)


class Runs:
    """The runs one processor has seen, the latest used first."""

    def __init__(self, constraint: Constraint) -> None:
        self._constraint = constraint
        self._runs: list[Run] = []

    def state(self, history: bytes) -> int:
        """The state after ``history`` (at least one token).

        Raises HistoryError when its last token is not allowed.
        """
        for run in self._runs:
            if run.knows(history):
                state = self._follow(run, history)
                if state is not None:
                    return state
        start = self._constraint.start
        self._add(Run(history, len(history) // WIDTH, [start]))
        return start

    def _follow(self, run: Run, history: bytes) -> int | None:
        """The state after a history ``run`` knows but for its last token; None
        when the run had ended and this is a new prompt."""
        if self._runs[0] is not run:
            self._runs.remove(run)
            self._runs.insert(0, run)
        length = len(history) // WIDTH
        if run.holds(history):
            return run.states[length - run.start]
        before = run.states[length - 1 - run.start]
        token = history[-WIDTH:]
        state = self._constraint.advance(before, int.from_bytes(token, "little"))
        if state == DEAD:
            if self._has_ended(before):
                return None
            self._refuse(length - 1, token, before)
        if run.nbytes >= len(history):
            run = run.branch(length - 1)
            self._add(run)
        run.extend(token, state)
        return state

    def _has_ended(self, state: int) -> bool:
        """Whether only end-of-text ids are open."""
        constraint = self._constraint
        return constraint.is_complete(state) and not constraint.live(state)

    def _refuse(self, position: int, raw: bytes, state: int) -> NoReturn:
        token = int.from_bytes(raw, "little")
        vocabulary = self._constraint.vocabulary
        text = vocabulary.token_bytes(token) if token < vocabulary.size else b""
        what = repr(text.decode("utf-8", "replace")) if text else "not text"
        raise HistoryError(
            f"token {token} ({what}) at position {position} of the history is not "
            f"allowed there; {self._wanted(state)}",
            position=position,
            hint="the constraint must be the last logits processor, and the "
            "sampler must not pick tokens at -inf; for a new prompt that "
            "continues an earlier output, pass constraint.fresh()",
        )

    def _wanted(self, state: int) -> str:
        if self._constraint.is_complete(state):
            return "the output may end there"
        shortest = self._constraint.shortest(state).decode("utf-8", "replace")
        return f"a right continuation would be {shortest[:60]!r}"

    def _add(self, run: Run) -> None:
        """Nothing; ``run`` comes first, and old runs go beyond 16 MB."""
        self._runs.insert(0, run)
        fitting = sum(held <= _MAX_BYTES for held in self._held())
        del self._runs[max(fitting, 1) :]

    def _held(self) -> Iterator[int]:
        """Bytes of the first run, of the first two, ..."""
        held = 0
        for run in self._runs:
            held += run.nbytes
            yield held
