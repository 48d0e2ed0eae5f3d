"""Keywords that speak of numbers."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from stcon.syntax.json_schema.document import Place
from stcon.syntax.json_schema.formula import TRUE, Formula
from stcon.syntax.json_schema.multiples import is_enforceable
from stcon.syntax.json_schema.numbers import AtLeast, AtMost, Multiple
from stcon.syntax.json_schema.values import NUMBER, kind_of

# A bound costs states for each of its digits.
_MAX_DIGITS = 400


def minimum(value: Any, at: Place) -> Formula:
    """At least ``value``; above it when draft 4 says ``exclusiveMinimum: true``."""
    strict = at.schema.value.get("exclusiveMinimum") is True
    return AtLeast(at, _number(value, at), strict)


def maximum(value: Any, at: Place) -> Formula:
    """At most ``value``; below it when draft 4 says ``exclusiveMaximum: true``."""
    strict = at.schema.value.get("exclusiveMaximum") is True
    return AtMost(at, _number(value, at), strict)


def exclusive_minimum(value: Any, at: Place) -> Formula:
    """Above ``value``."""
    if _is_flag(value, at):
        return TRUE
    return AtLeast(at, _number(value, at), True)


def exclusive_maximum(value: Any, at: Place) -> Formula:
    """Below ``value``."""
    if _is_flag(value, at):
        return TRUE
    return AtMost(at, _number(value, at), True)


def multiple_of(value: Any, at: Place) -> Formula:
    """A multiple of ``value``."""
    number = _number(value, at)
    at.check(number > 0, "above 0", value)
    factor = Fraction(number)
    if not is_enforceable(factor) and at.keyword in at.document.allowed:
        return at.refused("its factor is too large")
    return Multiple(at, factor)


def _is_flag(value: Any, at: Place) -> bool:
    """Whether this is draft 4's boolean spelling."""
    return isinstance(value, bool) and at.draft in (0, 4)


def _number(value: Any, at: Place) -> Decimal:
    at.check(kind_of(value) == NUMBER, "a number", value)
    number = Decimal(value)
    if number and not -_MAX_DIGITS < number.adjusted() < _MAX_DIGITS:
        raise at.error(f"a bound of more than {_MAX_DIGITS} digits")
    if len(number.as_tuple().digits) > _MAX_DIGITS:
        raise at.error(f"a bound of more than {_MAX_DIGITS} digits")
    return number
