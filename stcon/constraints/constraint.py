"""What every constraint offers, whatever machine stands behind it.

A constraint is a machine over bytes joined with a vocabulary.  It never
changes: its states are small hashable values, and everything it answers is a
function of a state.  So one object serves any number of runs, rows and threads.

Laws, for every state and token (tests/laws):

* ``allowed(state)[token]`` is true iff ``advance(state, token)`` is not dead,
  iff the token's bytes keep the output the beginning of a valid one;
* an end-of-text id is allowed iff the output is complete; after it, only
  end-of-text ids are;
* a state that can be reached has at least one allowed token.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stcon.errors import LimitError
from stcon.machines.dfa import DEAD

if TYPE_CHECKING:
    from stcon.constraints.costs import Costs
    from stcon.tokens.vocabulary import Vocabulary

LogitsProcessor = Callable[[Any, Any], Any]

State = Any
"""A small hashable value; the integer ``DEAD`` is the dead one."""


class Constraint(ABC):
    """A format joined with a vocabulary; a logits processor as it is.

    ``kind``: which machine enforces it, ``"dfa"``, ``"pushdown"`` or
    ``"grammar"``.
    ``vocabulary``: the tokens it speaks.
    ``start``: the state before the first token; ``DEAD`` is the state after a
    token that is not allowed.
    ``family``: what rows are kept under; within it equal row keys, equal rows.
    ``reads_prompt``: whether ``start_after`` looks at the prompt.
    ``kept``: what later rooms have worked out for it, by type; shared with its
    ``fresh`` twins.
    """

    reads_prompt = False

    kind: str
    vocabulary: Vocabulary
    start: State
    family: Hashable

    def __init__(self, bind: Callable[[Constraint], LogitsProcessor]) -> None:
        self.family = object()
        self.kept: dict[type, Any] = {}
        self._bind = bind
        self._processor: LogitsProcessor | None = None

    def __repr__(self) -> str:
        """The class and the size of the machine."""
        facts = self.report()
        size = f"{facts['states']:,} states, {facts['bytes']:,} bytes"
        return f"<{type(self).__name__}: {size}>"

    def __call__(self, tokens: Any, logits: Any) -> Any:
        """Logits with everything the format does not allow set to -inf.

        ``tokens``: the history (prompt and output so far), a 1-d array or list
        of ids; ``logits``: float, [1, width] or [width].  The mlx-lm logits
        processor protocol.  Raises HistoryError when the history contradicts
        the format.
        """
        if self._processor is None:
            self._processor = self._bind(self)
        return self._processor(tokens, logits)

    def fresh(self) -> Constraint:
        """The same constraint without memory of earlier runs.

        Only needed when a prompt continues, by exactly one token, the very
        text an earlier run of this object has produced.
        """
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._processor = None
        return twin

    def within(self, max_tokens: int) -> Constraint:
        """This constraint for outputs of at most ``max_tokens`` tokens.

        Every output is valid, whatever is sampled; with room to spare nothing
        changes.  Raises LimitError, with the least as ``limit``, when no valid
        output is known to be so short.
        """
        from stcon.constraints.budget import BudgetConstraint

        return BudgetConstraint(self, max_tokens)

    @property
    @abstractmethod
    def costs(self) -> Costs:
        """What it takes, in tokens, to finish an output."""

    @property
    def soonest_start(self) -> State:
        """Of all states that a prompt may lead to, the one from which an output is
        finished in the fewest tokens."""
        return self.start

    def start_after(self, prompt: Sequence[int]) -> State:
        """The state before the first token of an output after ``prompt``."""
        return self.start

    @abstractmethod
    def advance(self, state: State, token: int) -> State:
        """The state after ``token``; ``DEAD`` when it is not allowed."""

    @abstractmethod
    def allowed(self, state: State) -> NDArray[np.bool_]:
        """bool [vocabulary size]: which tokens may come next."""

    def open_classes(self, state: State) -> NDArray[np.bool_] | None:
        """bool [classes]: which token classes are open, where tokens have any."""
        return None

    @abstractmethod
    def row_key(self, state: State) -> Hashable:
        """What ``allowed(state)`` depends on: equal keys, equal rows."""

    @abstractmethod
    def is_complete(self, state: State) -> bool:
        """Whether the output may end in ``state``."""

    @abstractmethod
    def read(self, state: State, data: bytes) -> State:
        """The state after the bytes ``data``, or ``DEAD``."""

    @abstractmethod
    def live(self, state: State) -> tuple[int, ...]:
        """The bytes that may come next, ascending."""

    @abstractmethod
    def forced(self, state: State) -> bytes:
        """The text that every valid continuation of ``state`` starts with."""

    @abstractmethod
    def shortest(self, state: State) -> bytes:
        """A shortest text that completes the output from ``state``."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Size of the tables in bytes, without the vocabulary's."""

    @abstractmethod
    def report(self) -> dict[str, Any]:
        """How the format is enforced: machine kind, states, classes, bytes."""

    @abstractmethod
    def save(self, path: str | Path) -> None:
        """Nothing; writes the constraint to ``path`` for ``stcon.load``."""

    def advance_all(self, tokens: list[int]) -> State:
        """The state after ``tokens``, from the start."""
        state = self.start
        for token in tokens:
            state = self.advance(state, token)
        return state

    def matches(self, text: str | bytes) -> bool:
        """Whether the whole of ``text`` is in the format, ``depth`` included."""
        try:
            state = self.read(self.start, _raw(text))
        except LimitError:
            return False
        return state != DEAD and self.is_complete(state)

    def explain(self, text: str | bytes) -> str:
        """Where and why ``text`` is refused, in words; or that it is valid."""
        from stcon.constraints.explain import explain

        return explain(self, _raw(text))

    def forced_spans(self, text: str | bytes) -> list[tuple[int, int]]:
        """The byte ranges of ``text`` that the format decided alone, ascending.

        A byte counts when the format allowed no other at its place.
        """
        state = self.start
        spans: list[tuple[int, int]] = []
        for at, byte in enumerate(_raw(text)):
            if self.live(state) == (byte,) and not self.is_complete(state):
                first = spans.pop()[0] if spans and spans[-1][1] == at else at
                spans.append((first, at + 1))
            state = self.read(state, bytes([byte]))
            if state == DEAD:
                break
        return spans


def _raw(text: str | bytes) -> bytes:
    """UTF-8 of ``text``; a lone surrogate becomes bytes no format allows."""
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"a text is str or bytes, not {type(text).__name__}")
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
