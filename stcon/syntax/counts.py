"""Counted repetition without unrolling.

``item{1000}`` written out is a thousand copies.  Here it is ten rules, each twice
the one before, so the rules grow with the digits of the count: exactly n items are
the powers of two of which n is the sum, and at most n items are

    up to n          =  2^k items, then up to n - 2^k   |  up to 2^k - 1
    up to 2^k - 1    =  2^(k-1) items, then up to 2^(k-1) - 1   |  up to 2^(k-1) - 1

with 2^k the highest power in n: every number of items is read in one way.
"""

from __future__ import annotations

from collections.abc import Callable

from stcon.syntax.rules import (
    EPSILON,
    Call,
    Expr,
    Repeat,
    concat,
    repeat,
    star,
    union,
)
from stcon.syntax.sizes import Sizes

_WRITTEN_OUT = 256
"""Bytes, sets and calls; so much is written out, as that is read with fewer stacks."""

NewRule = Callable[[Expr], Expr]


def counted_items(item: Expr, least: int, most: int | None, new: NewRule) -> Expr:
    """``item`` from ``least`` to ``most`` times (None: without bound).

    ``new``: names an expression, and gives a call of it.  Cost: rules in number as
    the binary digits of the counts.
    """
    if (folded := _folded(item, least, most)) is not None:
        return folded
    copies = least if most is None else most
    if Sizes().of(item) * copies <= _WRITTEN_OUT:
        return repeat(item, least, most)
    powers = _Powers(item, new)
    if most is None:
        return concat(powers.exactly(least), star(powers.power(0)))
    return concat(powers.exactly(least), powers.up_to(most - least))


_SIMPLE = ((0, 1), (0, None), (1, None))


def _folded(item: Expr, least: int, most: int | None) -> Expr | None:
    """``x??``, ``x*+`` and their like are one sign; None for other counts."""
    if (least, most) not in _SIMPLE or not isinstance(item, Repeat):
        return None
    if (item.least, item.most) not in _SIMPLE:
        return None
    has_end = most is not None and item.most is not None
    return repeat(item.item, min(least, item.least), 1 if has_end else None)


class _Powers:
    """The rules of one item: 2^k of it, and up to 2^k - 1 of it."""

    def __init__(self, item: Expr, new: NewRule) -> None:
        self._new = new
        self._powers = [item if isinstance(item, Call) else new(item)]
        self._below: list[Expr] = [EPSILON]

    def power(self, k: int) -> Expr:
        """2^k items."""
        while len(self._powers) <= k:
            last = self._powers[-1]
            self._powers.append(self._new(concat(last, last)))
        return self._powers[k]

    def exactly(self, count: int) -> Expr:
        """``count`` items."""
        digits = range(count.bit_length())
        return concat(*(self.power(k) for k in digits if count >> k & 1))

    def up_to(self, count: int) -> Expr:
        """At most ``count`` items."""
        more: Expr = EPSILON
        for k in range(count.bit_length()):
            if count >> k & 1:
                longer = concat(self.power(k), more)
                more = self._new(union(longer, self._below_power(k)))
        return more

    def _below_power(self, k: int) -> Expr:
        """Fewer than 2^k items."""
        while len(self._below) <= k:
            last, power = self._below[-1], self.power(len(self._below) - 1)
            self._below.append(self._new(union(concat(power, last), last)))
        return self._below[k]
