"""A constraint that begins after a mark: a model may think first.

Until the mark (``</think>``) the output is free: any token but the end of the text.
After it come up to two newlines, as chat templates write them, and then the format.
A prompt that has closed its thinking already begins with the format.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stcon.constraints.constraint import Constraint, State
from stcon.constraints.costs import Costs
from stcon.errors import StconError
from stcon.machines.dfa import DEAD
from stcon.tokens.fewest import Text, exactly

_NEWLINE = 0x0A
_MOST_NEWLINES = 2


class Mark(NamedTuple):
    """What ends the free part.  ``text``: its bytes; ``token``: the id of the whole
    of it, None if it has none; ``opens``: the id that opens a free part, or None."""

    text: bytes
    token: int | None
    opens: int | None = None

    @staticmethod
    def of(text: str, token: int | None, opens: int | None) -> Mark:
        """The mark of a text."""
        return Mark(text.encode(), token, opens)


@dataclass(frozen=True, slots=True)  # a tuple would equal a Gap
class Free:
    """A place before the format: ``matched`` bytes of the mark have just been
    written."""

    matched: int


@dataclass(frozen=True, slots=True)
class Gap:
    """A place after the mark, and ``newlines`` newlines."""

    newlines: int


class AfterConstraint(Constraint):
    """See Constraint; states are those of ``inner``, Free and Gap."""

    def __init__(self, inner: Constraint, mark: Mark) -> None:
        super().__init__(inner._bind)
        self.inner = inner
        self.mark = mark
        self.kind = inner.kind
        self.family = inner.family
        self.vocabulary = inner.vocabulary
        self.start = Free(0)
        self.reads_prompt = True
        self._fallback = _fallbacks(mark.text)

    @property
    def soonest_start(self) -> State:
        """The format's, behind a prompt that has closed its thinking."""
        return Gap(_MOST_NEWLINES)

    def start_after(self, prompt: Sequence[int]) -> State:
        """The state after ``prompt``: the format's if its last free part is closed,
        or if nothing in it opens one and the mark stands there."""
        for token in reversed(prompt):
            if token == self.mark.token:
                return Gap(_MOST_NEWLINES)
            if token == self.mark.opens:
                return Free(0)
        if self.mark.token is not None:
            return Free(0)
        decode = self.vocabulary.decode
        return Gap(_MOST_NEWLINES) if self.mark.text in decode(prompt) else Free(0)

    def advance(self, state: State, token: int) -> State:
        """The state after ``token``; ``DEAD`` when it is not allowed."""
        if not isinstance(state, (Free, Gap)):
            return self.inner.advance(state, token)
        if token in self.vocabulary.eos_ids:
            return (
                DEAD
                if isinstance(state, Free)
                else self.inner.advance(self.inner.start, token)
            )
        if isinstance(state, Free) and token == self.mark.token:
            return self._gap
        data = self.vocabulary.token_bytes(token)
        if isinstance(state, Gap):
            return self.read(state, data) if data else DEAD
        if not 0 <= token < self.vocabulary.size:
            return DEAD
        return self.read(state, data) if data else Free(0)

    @cached_property
    def _gap(self) -> State:
        """The state after the mark; the format's where it begins with a newline."""
        inner = self.inner
        begins = inner.read(inner.start, bytes([_NEWLINE])) != DEAD
        return Gap(_MOST_NEWLINES) if begins else Gap(0)

    def read(self, state: State, data: bytes) -> State:
        """The state after the bytes ``data``, or ``DEAD``."""
        for place, byte in enumerate(data):
            if isinstance(state, Free):
                state = self._matched(state.matched, byte)
            elif isinstance(state, Gap):
                if byte != _NEWLINE or state.newlines >= _MOST_NEWLINES:
                    return self.inner.read(self.inner.start, data[place:])
                state = Gap(state.newlines + 1)
            else:
                return self.inner.read(state, data[place:])
        return state

    def _matched(self, matched: int, byte: int) -> State:
        """Knuth, Morris and Pratt's step."""
        text = self.mark.text
        while matched and text[matched] != byte:
            matched = self._fallback[matched]
        matched += text[matched] == byte
        return self._gap if matched == len(text) else Free(matched)

    def allowed(self, state: State) -> NDArray[np.bool_]:
        """bool [vocabulary size]: which tokens may come next."""
        if isinstance(state, Free):
            row: NDArray[np.bool_] = np.ones(self.vocabulary.size, np.bool_)
            row[list(self.vocabulary.eos_ids)] = False
            for token in self.closing:
                row[token] = self.advance(state, token) != DEAD
            return row
        if not isinstance(state, Gap):
            return self.inner.allowed(state)
        row = self.inner.allowed(self.inner.start).copy()
        if state.newlines < _MOST_NEWLINES:
            for token in self._newlines:
                row[token] = self.advance(state, token) != DEAD
        return row

    @cached_property
    def closing(self) -> list[int]:
        """The tokens with the last byte of the mark: no other can complete it."""
        return self._with(self.mark.text[-1])

    @cached_property
    def _newlines(self) -> list[int]:
        """The tokens that begin with a newline."""
        vocabulary = self.vocabulary
        with_newline = self._with(_NEWLINE)
        return [t for t in with_newline if vocabulary.token_bytes(t)[0] == _NEWLINE]

    def _with(self, byte: int) -> list[int]:
        vocabulary = self.vocabulary
        places = np.flatnonzero(vocabulary.data == byte)
        tokens = np.searchsorted(vocabulary.offsets, places, "right") - 1
        return sorted(set(tokens.tolist()))

    def row_key(self, state: State) -> Hashable:
        """What the row of ``state`` depends on."""
        if isinstance(state, Gap) and state.newlines >= _MOST_NEWLINES:
            return self.inner.row_key(self.inner.start)
        if isinstance(state, (Free, Gap)):
            return state, self.mark
        return self.inner.row_key(state)

    def is_complete(self, state: State) -> bool:
        """Whether the output may end in ``state``."""
        if isinstance(state, Free):
            return False
        inner = self.inner
        return inner.is_complete(inner.start if isinstance(state, Gap) else state)

    def live(self, state: State) -> tuple[int, ...]:
        """The bytes that may come next, ascending."""
        if isinstance(state, Free):
            return tuple(range(256))
        if not isinstance(state, Gap):
            return self.inner.live(state)
        live = set(self.inner.live(self.inner.start))
        if state.newlines < _MOST_NEWLINES:
            live.add(_NEWLINE)
        return tuple(sorted(live))

    def forced(self, state: State) -> bytes:
        """The text that every valid continuation of ``state`` starts with."""
        if isinstance(state, Free):
            return b""
        if not isinstance(state, Gap):
            return self.inner.forced(state)
        is_last = state.newlines >= _MOST_NEWLINES
        return self.inner.forced(self.inner.start) if is_last else b""

    def shortest(self, state: State) -> bytes:
        """A shortest text that completes the output from ``state``."""
        if not isinstance(state, (Free, Gap)):
            return self.inner.shortest(state)
        rest = self.mark.text[state.matched :] if isinstance(state, Free) else b""
        return rest + self.inner.shortest(self.inner.start)

    @property
    def costs(self) -> Costs:
        """What it takes, in tokens, to finish an output."""
        return AfterCosts(self)

    @property
    def nbytes(self) -> int:
        """Size of the tables in bytes, without the vocabulary's."""
        return self.inner.nbytes

    def report(self) -> dict[str, Any]:
        """That of the format, and the mark it comes after."""
        return {**self.inner.report(), "after": self.mark.text.decode()}

    def save(self, path: str | Path) -> None:
        """Nothing; raises StconError: the mark is not part of a saved format."""
        raise StconError(
            "a constraint that begins after a mark is not saved",
            hint="save the one made without after=, and give after= to stcon.load",
        )


class AfterCosts(Costs):
    """The mark and the costs of the format after it."""

    is_exact = False

    def __init__(self, constraint: AfterConstraint) -> None:
        self._constraint = constraint
        self._inner = constraint.inner.costs

    def least(self, state: State) -> int:
        """See Costs."""
        constraint = self._constraint
        if not isinstance(state, (Free, Gap)):
            return self._inner.least(state)
        least = self._inner.least(constraint.inner.start)
        if isinstance(state, Gap):
            return least
        mark = constraint.mark
        if mark.token is not None:
            return 1 + least
        return constraint.vocabulary.fewest.of(mark.text[state.matched :]) + least

    def text(self, state: State) -> bytes:
        """See Costs."""
        constraint = self._constraint
        if not isinstance(state, (Free, Gap)):
            return self._inner.text(state)
        text = self._inner.text(constraint.inner.start)
        if isinstance(state, Free):
            return constraint.mark.text[state.matched :] + text
        return text

    def plan(self, state: State) -> Text:
        """See Costs; that of the format, so that its rows are the same."""
        if not isinstance(state, (Free, Gap)):
            return self._inner.plan(state)
        return exactly(self.text(state))

    def most(self, state: State) -> int:
        """See Costs."""
        is_inside = not isinstance(state, (Free, Gap))
        return self._inner.most(state) if is_inside else self.least(state)

    def is_roomy(self, state: State, left: int) -> bool:
        """See Costs."""
        if not isinstance(state, (Free, Gap)):
            return self._inner.is_roomy(state, left)
        # after any token the whole mark may have to be written
        return left - 1 >= self.least(Free(0)) + len(self._constraint.mark.text)

    def allowed(self, state: State, left: int) -> NDArray[np.bool_]:
        """See Costs."""
        if not isinstance(state, (Free, Gap)):
            return self._inner.allowed(state, left)
        constraint = self._constraint
        row = constraint.allowed(state)
        # where there is little room, only what writes the mark or the format
        keep = np.zeros_like(row)
        for token in self._useful(state):
            if row[token]:
                after = constraint.advance(state, token)
                keep[token] = self.least(after) <= left - 1
        return keep

    def _useful(self, state: Free | Gap) -> list[int]:
        constraint = self._constraint
        if isinstance(state, Gap):
            return list(map(int, np.flatnonzero(constraint.allowed(state))))
        rest = constraint.mark.text[state.matched :]
        found = [
            token
            for token in constraint.closing
            if rest.startswith(constraint.vocabulary.token_bytes(token))
        ]
        single = constraint.vocabulary.byte_tokens[rest[0]]
        mark = constraint.mark.token
        return [
            *found,
            *([int(single)] if single >= 0 else []),
            *([mark] if mark is not None else []),
        ]


def _fallbacks(text: bytes) -> list[int]:
    """Per number of matched bytes how many still match after a mismatch."""
    found = [0, 0]
    for place in range(1, len(text)):
        at = found[place]
        while at and text[at] != text[place]:
            at = found[at]
        found.append(at + (text[at] == text[place]))
    return found
