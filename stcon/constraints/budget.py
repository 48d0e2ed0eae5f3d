"""A constraint with a limit on tokens: every output is valid within it.

A state is that of the constraint and the tokens left.  A token is allowed iff the
output can be finished after it with what is left then; with room to spare the mask
is that of the constraint, bit for bit.  The end-of-text id need not fit: loops stop
at their limit, and a text that is complete there is valid.

For a finite automaton costs are exact.  A pushdown knows one certain text to the
end of each state and what that takes, so another text may turn out dearer after a
token of it: then the state keeps the rest of the text it came along (``plan``).
Source: few-paths paper, mechanism 4, Theorem 21.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from operator import contains
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from stcon.constraints.constraint import Constraint, State
from stcon.constraints.costs import Costs
from stcon.errors import LimitError, StconError
from stcon.machines.dfa import DEAD
from stcon.tokens.fewest import NEVER, Text

_AMPLE = 64
"""Tokens more than are needed, with which no plan is kept."""


class Place(NamedTuple):
    """A state of ``inner`` with ``left`` tokens to come at most; ``plan``: texts
    that finish the output in fewer tokens than the costs of ``inner`` know of."""

    inner: State
    left: int
    plan: Text | None = None


class BudgetConstraint(Constraint):
    """See Constraint; states are Places.

    ``live`` and ``forced`` are those of the format: a limit is about tokens.  Only
    ``advance`` takes tokens from what is left; ``read`` does not.
    """

    def __init__(self, inner: Constraint, max_tokens: int) -> None:
        """Raises LimitError when no output is known to have so few tokens, whatever
        the prompt."""
        if not isinstance(max_tokens, int):
            raise TypeError(f"max_tokens is a whole number, not {max_tokens!r}")
        super().__init__(inner._bind)
        self.family = inner.family
        self.inner = inner
        self.kind = inner.kind
        self.vocabulary = inner.vocabulary
        self.max_tokens = max_tokens
        self._costs = inner.costs
        self.start = Place(inner.start, max_tokens)
        self._check(self._costs.least(inner.soonest_start))

    @property
    def costs(self) -> Costs:
        """Nothing; raises StconError: a limit has no costs of its own."""
        raise StconError(
            "this constraint has a limit on tokens already",
            hint="call within(n) of the constraint without one",
        )

    @property
    def reads_prompt(self) -> bool:  # type: ignore[override]
        """Whether the format begins somewhere after the prompt."""
        return self.inner.reads_prompt

    def start_after(self, prompt: Sequence[int]) -> Place:
        """The place before the first token of an output after ``prompt``.

        Raises LimitError when no output after it has so few tokens.
        """
        start = self.inner.start_after(prompt)
        self._check(self._costs.least(start))
        return Place(start, self.max_tokens)

    def _check(self, least: int) -> None:
        if least > self.max_tokens or least >= NEVER:
            _refuse(least, self.max_tokens)

    def least_tokens(self, place: Place) -> int:
        """In how many tokens the output can surely be finished."""
        if place.plan is not None:
            return self.vocabulary.fewest.counts(place.plan)[0]
        return self._costs.least(place.inner)

    def fits(self, place: Place) -> bool:
        """Whether the output can surely be finished with what is left."""
        if place.plan is None and self._costs.most(place.inner) <= place.left:
            return True
        return self.least_tokens(place) <= place.left

    def is_roomy(self, place: Place) -> bool:
        """Whether the mask is surely that of the constraint without a limit."""
        if place.left <= 0:
            return not self.inner.live(place.inner)
        return self._costs.is_roomy(place.inner, place.left)

    def advance(self, place: Place, token: int) -> State:
        """The state after ``token``; ``DEAD`` when it is not allowed."""
        after = self.inner.advance(place.inner, token)
        if after == DEAD:
            return DEAD
        if token in self.vocabulary.eos_ids:
            return Place(after, 0)
        left = place.left - 1
        if self._costs.most(after) + _AMPLE <= left:
            return Place(after, left)
        rest = self._rest(place, self.vocabulary.token_bytes(token))
        if rest is not None:
            planned = self.vocabulary.fewest.counts(rest)[0]
            rest = rest if planned < self._costs.least(after) else None
        found = Place(after, left, rest)
        return found if self.fits(found) else DEAD

    def _rest(self, place: Place, written: bytes) -> Text | None:
        """What is left of the plan after its beginning ``written``; None for another
        text."""
        if self._costs.is_exact:
            return None
        plan = self._plan(place)
        if len(written) > len(plan):
            return None
        follows = all(map(contains, plan, written))
        return self.vocabulary.fewest.rest(plan, len(written)) if follows else None

    def _plan(self, place: Place) -> Text:
        return self._costs.plan(place.inner) if place.plan is None else place.plan

    def allowed(self, place: Place) -> NDArray[np.bool_]:
        """bool [vocabulary size]: which tokens may come next."""
        if self.is_roomy(place):
            return self.inner.allowed(place.inner)
        if place.left <= 0:
            row = np.zeros(self.vocabulary.size, np.bool_)
            row[list(self.vocabulary.eos_ids)] = self.inner.is_complete(place.inner)
            return row
        row = self._costs.allowed(place.inner, place.left)
        if not self._costs.is_exact:
            row[self._planned(place)] = True
        return row

    def _planned(self, place: Place) -> NDArray[np.intp]:
        """The tokens that go on with the plan and leave enough."""
        plan, fewest = self._plan(place), self.vocabulary.fewest
        ends = [count < place.left for count in fewest.counts(plan)]
        return fewest.tokens_along(plan, ends)

    def open_classes(self, place: Place) -> NDArray[np.bool_] | None:
        """bool [classes]: ``allowed`` by the token classes of a finite automaton;
        None for other machines."""
        return self._costs.open_classes(place.inner, place.left)

    def row_key(self, place: Place) -> Hashable:
        """What the row of a state depends on; with room to spare as without limit."""
        if self.is_roomy(place):
            return self.inner.row_key(place.inner)
        classes = self.open_classes(place)
        if classes is not None:
            return np.packbits(classes).tobytes()
        return place

    def is_complete(self, place: Place) -> bool:
        """Whether the output may end in a state."""
        return self.inner.is_complete(place.inner)

    def read(self, place: Place, data: bytes) -> State:
        """The state after the bytes ``data``, or ``DEAD``; takes no tokens."""
        after = self.inner.read(place.inner, data)
        return DEAD if after == DEAD else Place(after, place.left)

    def live(self, place: Place) -> tuple[int, ...]:
        """The bytes that may come next, ascending; none without tokens left."""
        return self.inner.live(place.inner) if place.left > 0 else ()

    def forced(self, place: Place) -> bytes:
        """A text that every valid continuation starts with."""
        return self.inner.forced(place.inner) if place.left > 0 else b""

    def shortest(self, place: Place) -> bytes:
        """A text that completes the output within the tokens left."""
        if place.plan is None:
            return self._costs.text(place.inner)
        fewest = self.vocabulary.fewest
        return fewest.spelled(place.plan, fewest.counts(place.plan))

    def matches(self, text: str | bytes) -> bool:
        """Whether the whole of ``text`` is in the format and can be written within
        the limit."""
        if not self.inner.matches(text):
            return False
        raw = text.encode() if isinstance(text, str) else text
        return self.vocabulary.fewest.of(raw) <= self.max_tokens

    def explain(self, text: str | bytes) -> str:
        """Where and why ``text`` is refused; that it is too long for the limit; or
        that it is valid."""
        if not self.inner.matches(text) or self.matches(text):
            return self.inner.explain(text)
        raw = text.encode() if isinstance(text, str) else text
        return (
            f"The text is valid, but it takes {self.vocabulary.fewest.of(raw)} tokens "
            f"at least, and the limit is {self.max_tokens}."
        )

    @property
    def nbytes(self) -> int:
        """Size of the tables of the constraint in bytes."""
        return self.inner.nbytes

    def report(self) -> dict[str, Any]:
        """That of the constraint, with the limit and the least that it may be."""
        least = self._costs.least(self.inner.start)
        limits = {"max_tokens": self.max_tokens, "least_tokens": least}
        return {**self.inner.report(), **limits}

    def save(self, path: str | Path) -> None:
        """Nothing; raises StconError: a limit belongs to a call."""
        raise StconError(
            "a limit on tokens is not saved",
            hint="save the constraint without it, and call within(n) once loaded",
        )


def _refuse(least: int, max_tokens: int) -> NoReturn:
    if least >= NEVER:
        raise LimitError(
            "the shortest output is too long to be worked out, so no limit on tokens "
            "can be kept",
            what="tokens",
            limit=max_tokens,
            hint="lower minLength and minItems, or set no limit",
        )
    raise LimitError(
        f"no valid output is known to fit {max_tokens} tokens; the least is {least}",
        what="tokens",
        limit=least,
        hint=f"set max_tokens to {least} or more",
    )
