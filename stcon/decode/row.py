"""One row of a batch: an output that grows by one token a run.

A row takes the place of its constraint among the row's logits processors, so it goes
where the row goes when rows join and leave.  It knows what it was asked: the prompt,
and how many tokens there may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stcon.constraints.constraint import Constraint
from stcon.decode.arguments import check_width
from stcon.decode.budgets import limited
from stcon.decode.forced import Forced
from stcon.decode.masks import Masks
from stcon.decode.pins import Pin, Pins
from stcon.decode.refused import refuse
from stcon.machines.dfa import DEAD


class Row:
    """The output of one row.

    As a logits processor, which it is for a loop that knows nothing of rows, it must
    be called once a token.
    """

    def __init__(
        self,
        constraint: Constraint,
        prompt: Sequence[int],
        max_tokens: int,
    ) -> None:
        """Raises LimitError when no valid output has as few tokens."""
        self._constraint = limited(constraint, max_tokens)
        self._pins = Pins(self._constraint)
        self._masks = Masks(self._constraint)
        self._pin: Pin = self._pins.start_after(prompt)
        self._has_begun = False

    def feed(self, token: int, heals: bool = True) -> tuple[int, Pin]:
        """The token to feed for ``token``, which was sampled, and the place after it;
        ``Forced`` if the format decided it; another one where forced text changes the
        split, if ``heals``.  The first token is the prompt's last.

        Nothing changes before ``go_on``.  Raises HistoryError when the format does not
        allow the token.
        """
        before = self._pin
        if not self._has_begun:
            return token, before
        if token == before.token:
            token = Forced(token)
        if heals:
            token, following = self._pins.settled(before, token)
        else:
            following = self._pins.advance(before, token)
        if not isinstance(following, Pin):
            assert following == DEAD
            refuse(self._constraint, self._pins.state(before), token, None)
        return token, following

    def go_on(self, place: Pin) -> None:
        """Nothing; the row is at ``place``, which ``feed`` gave."""
        self._has_begun = True
        self._pin = place

    def known(self, width: int) -> int | None:
        """The token that comes next, where a model of ``width`` logits need not be
        asked."""
        if self._pins.width is None:
            check_width(width, self._constraint.vocabulary)
            self._pin = self._pins.within(self._pin, width)
        if self._pin.token is not None:
            return self._pin.token
        over = self._pins.is_over(self._pin)
        return self._constraint.vocabulary.eos_ids[0] if over else None

    def row(self, width: int) -> Any:
        """bool mlx array [1, width]: what may come next."""
        return self._masks.pinned(self._pin, width)

    def __call__(self, tokens: Any, logits: Any) -> Any:
        """``logits`` with -inf where the format does not allow a token."""
        import mlx.core as mx

        _, place = self.feed(int(tokens[-1].item()), heals=False)
        self.go_on(place)
        self.known(logits.shape[-1])  # the plan may have tokens that the model lacks
        row = self.row(logits.shape[-1])
        return mx.where(row, logits, mx.array(-float("inf"), logits.dtype))
