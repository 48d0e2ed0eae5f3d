"""Numbers as text: every spelling of every number of a shape.

An integer is digits without fraction or exponent.  A number with a bound, a
multiple or a gap is a plain decimal without exponent, because no automaton can
compare 0.0001e5 with 10; without them, and with 0 as the only bound, it is any
JSON number.  Comparison goes digit by digit: equal so far, or decided.  Linear in
the digits of the bounds.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from stcon.syntax.json_schema.multiples import multiples
from stcon.syntax.json_schema.numbers import (
    Bound,
    Multiple,
    NumberShape,
    integer_bounds,
)
from stcon.syntax.json_schema.values import is_integer
from stcon.syntax.rules import (
    EMPTY,
    EPSILON,
    Expr,
    byte_range,
    byte_set,
    complement,
    concat,
    intersect,
    literal,
    optional,
    repeat,
    star,
    union,
)

DIGIT = byte_range(0x30, 0x39)
NONZERO = byte_range(0x31, 0x39)
DIGITS = star(DIGIT)
WHOLE = union(literal("0"), concat(NONZERO, DIGITS))
MINUS = literal("-")
FRACTION = optional(concat(literal("."), DIGIT, DIGITS))
EXPONENT = optional(
    concat(
        byte_set(1 << 0x45 | 1 << 0x65),
        optional(byte_set(1 << 0x2B | 1 << 0x2D)),
        DIGIT,
        DIGITS,
    )
)
_ZEROS = star(literal("0"))
_UNSIGNED = concat(WHOLE, FRACTION, EXPONENT)
_ZERO = concat(literal("0"), optional(concat(literal("."), _ZEROS, literal("0"))))
_POSITIVE_FRACTION = concat(literal("."), _ZEROS, NONZERO, DIGITS)
_NOT_ZERO = concat(
    union(
        concat(NONZERO, DIGITS, FRACTION),
        concat(literal("0"), _POSITIVE_FRACTION),
    ),
    EXPONENT,
)
NUMBER = concat(optional(MINUS), _UNSIGNED)
INTEGER = union(literal("0"), concat(optional(MINUS), NONZERO, star(DIGIT)))
_PLAIN = concat(optional(MINUS), WHOLE, FRACTION)
_NOT_INTEGER = concat(optional(MINUS), WHOLE, _POSITIVE_FRACTION)


def number_expr(shape: NumberShape) -> Expr:
    """The texts of the numbers of ``shape``."""
    parts: list[Expr] = []
    if shape.integer:
        low, high = integer_bounds(shape)
        parts.append(INTEGER if low is None and high is None else integers(low, high))
    else:
        parts += _decimal_parts(shape)
    parts += [_multiples(fact, shape) for fact in shape.multiples]
    excluded = [value for value in shape.excluded if _is_possible(value, shape)]
    if excluded:
        parts.append(complement(union(*map(_spellings, excluded))))
    if not parts:
        return NUMBER
    if not shape.integer and (shape.multiples or excluded):
        parts.insert(0, _PLAIN)
    return intersect(*parts)


def _multiples(fact: Multiple, shape: NumberShape) -> Expr:
    """The texts of the multiples; an integer is one of n / m (in lowest terms)
    when it is one of n."""
    whole = Fraction(fact.factor.numerator)
    return multiples(whole if shape.integer else fact.factor, fact.sign)


def _is_possible(value: Decimal | int, shape: NumberShape) -> bool:
    """Whether an excluded value would be of the right type at all."""
    return shape.integer is None or is_integer(value) == shape.integer


def _decimal_parts(shape: NumberShape) -> list[Expr]:
    parts: list[Expr] = []
    if shape.integer is False:
        parts.append(_NOT_INTEGER)
    is_free = not parts and not shape.multiples and not shape.excluded
    bounds = [b for b in (shape.low, shape.high) if b is not None]
    if is_free and len(bounds) == 1 and bounds[0].value == 0:
        return [_one_side_of_zero(shape)]
    if shape.low is not None:
        parts.append(_above(shape.low))
    if shape.high is not None:
        parts.append(_below(shape.high))
    return parts


def _one_side_of_zero(shape: NumberShape) -> Expr:
    """The sign alone decides, so every spelling of JSON is there."""
    bound = shape.low or shape.high
    sign = EPSILON if shape.low else MINUS
    other = MINUS if shape.low else EPSILON
    assert bound is not None
    if bound.strict:
        return concat(sign, _NOT_ZERO)
    return union(concat(sign, _UNSIGNED), concat(other, _ZERO, EXPONENT))


def _spellings(value: Decimal | int) -> Expr:
    """All plain decimals equal to ``value``."""
    whole, fraction = _digits(Decimal(value))
    tail = concat(literal("."), literal(fraction), _ZEROS)
    if not fraction:
        tail = optional(concat(literal("."), literal("0"), _ZEROS))
    sign = MINUS if value < 0 else EPSILON if value > 0 else optional(MINUS)
    return concat(sign, literal(whole), tail)


def _digits(value: Decimal) -> tuple[str, str]:
    """Digits before and after the point, the latter without trailing zeros."""
    whole, _, fraction = format(value.copy_abs(), "f").partition(".")
    return whole.lstrip("0") or "0", fraction.rstrip("0")


def integers(low: int | None, high: int | None) -> Expr:
    """The integers from ``low`` to ``high`` (None: no bound); zero has no sign, so
    that a field that cannot be negative surely begins with a digit."""
    positive: Expr = EMPTY
    if high is None or high >= 0:
        positive = _naturals(max(low or 0, 0), high)
    negative: Expr = EMPTY
    if low is None or low < 0:
        least = 1 if high is None else max(1, -high)
        negative = _naturals(least, None if low is None else -low)
    return union(positive, concat(MINUS, negative))


def _naturals(low: int, high: int | None) -> Expr:
    """The natural numbers from ``low`` to ``high`` without leading zeros."""
    first = str(low)
    if high is None:
        longer = concat(NONZERO, repeat(DIGIT, len(first), None))
        return union(_between(first, "9" * len(first)), longer)
    last = str(high)
    if low > high:
        return EMPTY
    if len(first) == len(last):
        return _between(first, last)
    middle: Expr = EMPTY
    if len(last) - len(first) > 1:
        middle = concat(NONZERO, repeat(DIGIT, len(first), len(last) - 2))
    shortest = _between(first, "9" * len(first))
    longest = _between("1" + "0" * (len(last) - 1), last)
    return union(shortest, middle, longest)


def _between(low: str, high: str) -> Expr:
    """Digit strings of one length from ``low`` to ``high``."""
    common = 0
    while common < len(low) and low[common] == high[common]:
        common += 1
    head = literal(low[:common])
    low, high = low[common:], high[common:]
    if not low:
        return head
    rest = repeat(DIGIT, len(low) - 1, len(low) - 1)
    return concat(
        head,
        union(
            concat(literal(low[0]), _from(low[1:], EPSILON)),
            concat(_digit_range(int(low[0]) + 1, int(high[0]) - 1), rest),
            concat(literal(high[0]), _upto(high[1:], EPSILON)),
        ),
    )


def _from(digits: str, equal: Expr, more: Expr = EPSILON) -> Expr:
    """Digit strings of this length that are greater, then ``more``, or the same,
    then ``equal``."""
    for place, digit in enumerate(reversed(digits)):
        greater = concat(
            _digit_range(int(digit) + 1, 9), repeat(DIGIT, place, place), more
        )
        equal = union(concat(literal(digit), equal), greater)
    return equal


def _upto(digits: str, equal: Expr, more: Expr = EPSILON, lead: int = 0) -> Expr:
    """Digit strings of this length that are less, then ``more``, or the same,
    then ``equal``; the first digit is at least ``lead``."""
    for place, digit in enumerate(reversed(digits)):
        is_first = place == len(digits) - 1
        least = lead if is_first else 0
        less = concat(
            _digit_range(least, int(digit) - 1), repeat(DIGIT, place, place), more
        )
        equal = union(concat(literal(digit), equal), less)
    return equal


def _digit_range(first: int, last: int) -> Expr:
    return byte_range(0x30 + first, 0x30 + last) if first <= last else EMPTY


def _above(bound: Bound) -> Expr:
    """Plain decimals at least (or above) a bound."""
    size = Bound(bound.value.copy_abs(), bound.strict)
    if bound.value > 0:
        return _size_from(size)
    negative = concat(MINUS, _size_upto(size))
    if bound.value == 0:
        positive = _size_from(size)
        return positive if bound.strict else union(positive, negative)
    return union(concat(WHOLE, FRACTION), negative)


def _below(bound: Bound) -> Expr:
    """Plain decimals at most (or below) a bound."""
    size = Bound(bound.value.copy_abs(), bound.strict)
    if bound.value < 0:
        return concat(MINUS, _size_from(size))
    positive = _size_upto(size)
    if bound.value == 0:
        negative = concat(MINUS, _size_from(size))
        return negative if bound.strict else union(positive, negative)
    return union(concat(MINUS, WHOLE, FRACTION), positive)


def _size_from(size: Bound) -> Expr:
    """Unsigned plain decimals from ``size`` on."""
    whole, fraction = _digits(size.value)
    equal = _fraction_from(fraction, size.strict)
    same_length = _from(whole, equal, FRACTION)
    longer = concat(NONZERO, repeat(DIGIT, len(whole), None), FRACTION)
    return union(same_length, longer)


def _size_upto(size: Bound) -> Expr:
    """Unsigned plain decimals up to ``size``."""
    whole, fraction = _digits(size.value)
    equal = _fraction_upto(fraction, size.strict)
    same_length = _upto(whole, equal, FRACTION, lead=len(whole) > 1)
    if len(whole) == 1:
        return same_length
    shorter = concat(NONZERO, repeat(DIGIT, 0, len(whole) - 2), FRACTION)
    return union(same_length, shorter, concat(literal("0"), FRACTION))


def _fraction_from(digits: str, strict: bool) -> Expr:
    """Fractions, point included, at least (or above) 0.``digits``."""
    if not digits:
        return _POSITIVE_FRACTION if strict else FRACTION
    tail: Expr = concat(_ZEROS, NONZERO, DIGITS) if strict else DIGITS
    for digit in reversed(digits):
        greater = concat(_digit_range(int(digit) + 1, 9), DIGITS)
        tail = union(concat(literal(digit), tail), greater)
    return concat(literal("."), tail)


def _fraction_upto(digits: str, strict: bool) -> Expr:
    """Fractions, point included, at most (or below) 0.``digits``."""
    if not digits:
        if strict:
            return EMPTY
        return optional(concat(literal("."), literal("0"), _ZEROS))
    # a text that ends here is all zeros from here on, so it is less
    tail: Expr = EMPTY if strict else _ZEROS
    for place, digit in enumerate(reversed(digits)):
        less = concat(_digit_range(0, int(digit) - 1), DIGITS)
        ends_early = EPSILON if place + 1 < len(digits) else EMPTY
        tail = union(concat(literal(digit), tail), less, ends_early)
    return optional(concat(literal("."), tail))
