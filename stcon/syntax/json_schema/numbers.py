"""Numbers: their facts and shape.  ``number_texts.py`` writes them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from stcon.syntax.json_schema.constants import NotAmong
from stcon.syntax.json_schema.formula import Fact, Formula, Integer

if TYPE_CHECKING:
    from stcon.syntax.json_schema.evaluate import Judge


@dataclass(frozen=True, slots=True, eq=False)
class AtLeast(Fact):
    """The number is at least ``value``, or above it when ``strict``."""

    value: Decimal
    strict: bool

    def negated(self) -> Formula:
        return AtMost(self.place, self.value, not self.strict)

    def holds(self, value: Any, judge: Judge) -> bool:
        return bool(value > self.value or (value == self.value and not self.strict))


@dataclass(frozen=True, slots=True, eq=False)
class AtMost(Fact):
    """The number is at most ``value``, or below it when ``strict``."""

    value: Decimal
    strict: bool

    def negated(self) -> Formula:
        return AtLeast(self.place, self.value, not self.strict)

    def holds(self, value: Any, judge: Judge) -> bool:
        return bool(value < self.value or (value == self.value and not self.strict))


@dataclass(frozen=True, slots=True, eq=False)
class Multiple(Fact):
    """The number is (``sign``) or is not a multiple of ``factor``."""

    factor: Fraction
    sign: bool = True

    def negated(self) -> Formula:
        return Multiple(self.place, self.factor, not self.sign)

    def holds(self, value: Any, judge: Judge) -> bool:
        return (Fraction(value) % self.factor == 0) == self.sign


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """An end of an interval."""

    value: Decimal
    strict: bool


@dataclass(frozen=True, slots=True, eq=False)
class NumberShape:
    """Numbers in an interval; ``integer``: True, False (no integers) or None;
    ``multiples``: facts of multipleOf; ``excluded``: values left out."""

    low: Bound | None = None
    high: Bound | None = None
    integer: bool | None = None
    multiples: tuple[Multiple, ...] = ()
    excluded: tuple[Any, ...] = ()


def merge_numbers(facts: list[Fact]) -> NumberShape | None:
    """The shape of numbers with all ``facts``; None when there are none."""
    shape = NumberShape()
    for fact in facts:
        if isinstance(fact, AtLeast):
            shape = replace(shape, low=_tighter(shape.low, fact, 1))
        elif isinstance(fact, AtMost):
            shape = replace(shape, high=_tighter(shape.high, fact, -1))
        elif isinstance(fact, Integer):
            if shape.integer not in (None, fact.sign):
                return None
            shape = replace(shape, integer=fact.sign)
        elif isinstance(fact, Multiple):
            shape = replace(shape, multiples=(*shape.multiples, fact))
        elif isinstance(fact, NotAmong):
            shape = replace(shape, excluded=(*shape.excluded, *fact.values))
    return None if _is_empty(shape) else shape


def _tighter(old: Bound | None, fact: AtLeast | AtMost, sign: int) -> Bound:
    """The stronger of two bounds on one side (``sign`` 1: low, -1: high)."""
    new = Bound(fact.value, fact.strict)
    if old is None:
        return new
    if new.value == old.value:
        return new if new.strict else old
    # not ``sign * value``: arithmetic on decimals rounds, comparison does not
    return new if (new.value > old.value) == (sign > 0) else old


def _is_empty(shape: NumberShape) -> bool:
    """Whether the interval holds no number (no integer, no multiple, if asked)."""
    if shape.low is None or shape.high is None:
        return False
    low, high = Fraction(shape.low.value), Fraction(shape.high.value)
    step = _step(shape)
    if step is not None:
        first, last = math.ceil(low / step) * step, math.floor(high / step) * step
        first += step if shape.low.strict and first == low else 0
        last -= step if shape.high.strict and last == high else 0
        return first > last
    if low == high:
        return shape.low.strict or shape.high.strict
    return low > high


def _step(shape: NumberShape) -> Fraction | None:
    """The distance of the numbers that are integers and multiples as asked; None
    where nothing is asked."""
    steps = [fact.factor for fact in shape.multiples if fact.sign]
    if shape.integer:
        steps.append(Fraction(1))
    if not steps:
        return None
    below = math.lcm(*(step.denominator for step in steps))
    above = math.lcm(*(int(step * below) for step in steps))
    return Fraction(above, below)


def integer_bounds(shape: NumberShape) -> tuple[int | None, int | None]:
    """The least and the greatest integer of the interval (None: no bound)."""
    low = high = None
    if shape.low is not None:
        low = math.ceil(Fraction(shape.low.value))
        low += low == shape.low.value and shape.low.strict
    if shape.high is not None:
        high = math.floor(Fraction(shape.high.value))
        high -= high == shape.high.value and shape.high.strict
    return low, high
