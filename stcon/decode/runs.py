"""Which state a history stands for.

mlx-lm hands a logits processor nothing but a history of token ids, and one
object may serve several generations, all rows of a batch, and speculative
decoding that jumps back.  So the state must be a function of the history, not
of how often the processor was called.  ``Runs`` remembers what it has seen: a
run is a prompt of ``start`` tokens, the tokens after it, and the state at each.
A history that a run knows belongs to it.  One that a run knows but for its last
token goes on with that run if the shorter history was asked about and not gone
on with yet: every loop asks before it goes on, so this tells the next token of
a run from a new prompt that happens to be one token longer than an old one.
Any other history is a new prompt.  The first history may be the whole prompt
(mlx-lm 0.32.2), its last token only (0.31.3, speculative) or its uncached rest.

What stays undecidable from outside is a new prompt that is, to the token, what
an earlier run of the same object has seen, or that and one token more which the
format allows there.  It is taken for the run; ``Constraint.fresh`` starts from
nothing.

Histories are kept and compared as raw bytes, four a token: comparing 1,000
tokens costs 0.3 µs that way, 5 µs as numpy arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from stcon.constraints.constraint import State
from stcon.decode.forgotten import WIDTH, Forgotten
from stcon.decode.refused import Told, refuse
from stcon.errors import HistoryError
from stcon.machines.dfa import DEAD

_MAX_BYTES = WIDTH << 22


@dataclass(slots=True)
class Place:
    """A history some run has seen, and the state after it.

    ``asked``: calls with this history, less the new tokens that followed it.
    ``waiting``: calls with it, less all calls that went one token further.
    """

    state: State
    asked: int = 0
    waiting: int = 0


class Run:
    """A prompt of ``start`` tokens and what followed.

    ``places[i]`` belongs to the first ``start + i`` tokens; runs that branched
    share the places before their branch.
    """

    def __init__(
        self, tokens: bytes | bytearray, start: int, places: list[Place]
    ) -> None:
        self._tokens = bytearray(tokens)
        self.start = start
        self.places = places

    @property
    def nbytes(self) -> int:
        """Bytes of the history held."""
        return len(self._tokens)

    @property
    def tokens(self) -> bytes:
        """The whole history."""
        return bytes(self._tokens)

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

    def extend(self, token: bytes, state: State) -> None:
        """Nothing; one more token, and the state after it."""
        self._tokens += token
        self.places.append(Place(state))

    def branch(self, length: int) -> Run:
        """A run of its own with the first ``length`` tokens of this one."""
        places = self.places[: length - self.start + 1]
        return Run(self._tokens[: length * WIDTH], self.start, places)


class Machine(Told, Protocol):
    """What of a constraint, or of its Pins, a history is read with."""

    reads_prompt: bool

    @property
    def start(self) -> State:
        """See Constraint."""

    def start_after(self, prompt: Sequence[int]) -> State:
        """See Constraint."""

    def advance(self, state: State, token: int) -> State:
        """See Constraint."""

    def live(self, state: State) -> tuple[int, ...]:
        """See Constraint."""


class Runs:
    """The runs one processor has seen, the latest used first."""

    def __init__(self, constraint: Machine) -> None:
        self._constraint = constraint
        self._runs: list[Run] = []
        self._forgotten = Forgotten()

    def state(self, history: bytes) -> State:
        """The state after ``history`` (at least one token).

        Raises HistoryError when its last token is not allowed.
        """
        for run in self._runs:
            if run.knows(history):
                state = self._follow(run, history)
                if state is not None:
                    return state
        self._forgotten.refuse(history, _MAX_BYTES // WIDTH)
        start = self._start(history)
        place = Place(start, asked=1, waiting=1)
        self._add(Run(history, len(history) // WIDTH, [place]))
        return start

    def _start(self, history: bytes) -> State:
        """The state before the first token after a prompt.

        Raises HistoryError when only the end of the prompt was shown, and the
        constraint must see all of it.
        """
        constraint = self._constraint
        if not constraint.reads_prompt:
            return constraint.start
        if len(history) <= WIDTH:
            raise HistoryError(
                "only the last token of the prompt was shown, so it cannot be told "
                "whether its thinking is closed",
                position=0,
                hint="mlx-lm shows the whole prompt from 0.32 on, except with a draft "
                "model; or call stcon.patch()",
            )
        return constraint.start_after(np.frombuffer(history, "<u4").tolist())

    def _follow(self, run: Run, history: bytes) -> State | None:
        """The state after a history ``run`` knows but for its last token; None
        when this is a new prompt, as far as ``run`` can tell."""
        at = len(history) // WIDTH - run.start
        if run.holds(history):
            self._use(run)
        else:
            extended = self._extend(run, at - 1, history)
            if extended is None:
                return None
            run = extended
        place = run.places[at]
        place.asked += 1
        place.waiting += 1
        if at:
            run.places[at - 1].waiting -= 1
        return place.state

    def _extend(self, run: Run, at: int, history: bytes) -> Run | None:
        """The run that holds ``history``, whose last token ``run`` does not
        know; None when nobody asked for a token there."""
        place = run.places[at]
        token = history[-WIDTH:]
        if place.asked <= 0:
            return None
        number = int.from_bytes(token, "little")
        state = self._constraint.advance(place.state, number)
        if state == DEAD:
            if place.waiting <= 0 or self._has_ended(place.state):
                return None
            refuse(self._constraint, place.state, number, run.start + at)
        place.asked -= 1
        if run.nbytes >= len(history):
            run = run.branch(run.start + at)
            self._add(run)
        else:
            self._use(run)
        run.extend(token, state)
        return run

    def _use(self, run: Run) -> None:
        """Nothing; ``run`` comes first."""
        if self._runs[0] is not run:
            self._runs.remove(run)
            self._runs.insert(0, run)

    def _has_ended(self, state: State) -> bool:
        """Whether only end-of-text ids are open."""
        told = self._constraint
        return told.is_complete(state) and not told.live(state)

    def _add(self, run: Run) -> None:
        """Nothing; ``run`` comes first, and old runs go beyond 16 MB; a hash of each
        is kept, so that one that goes on is an error and not a new prompt."""
        self._runs.insert(0, run)
        fitting = sum(held <= _MAX_BYTES for held in self._held())
        for old in self._runs[max(fitting, 1) :]:
            self._forgotten.add(old.tokens)
        del self._runs[max(fitting, 1) :]

    def _held(self) -> Iterator[int]:
        """Bytes of the first run, of the first two, ..."""
        held = 0
        for run in self._runs:
            held += run.nbytes
            yield held
