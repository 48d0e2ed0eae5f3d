"""``multipleOf`` over plain decimals.

Let the factor be n / 10**k with n = 2**a * 5**b * r and r prime to 10.  A decimal
with j fraction digits, read as one integer D without its point, is a multiple
when D * 10**(k - j) is one of n.  The part of 2 and 5 is decided by the last
digits of D; the part of r by the sum of all digits with weights, where neither
the point nor zeros at the end matter.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import gcd

from stcon.errors import LimitError
from stcon.syntax.rules import (
    EMPTY,
    EPSILON,
    Expr,
    Table,
    byte_range,
    byte_set,
    complement,
    concat,
    intersect,
    literal,
    optional,
    star,
    union,
)

_DIGIT = byte_range(0x30, 0x39)
_DIGITS = star(_DIGIT)
_POINT = literal(".")
_SIGN = optional(literal("-"))
_ZEROS = star(literal("0"))

# Residues cost a node or a state each.
_MAX_TAIL = 10_000
MAX_ODD_PART = 10_000
# One expression for each number of places.
MAX_PLACES = 64


def multiples(factor: Fraction, sign: bool) -> Expr:
    """The plain decimals (a superset of them: leading zeros pass) that are, or
    are not, multiples of ``factor``."""
    places = _places(factor)
    whole = int(factor * 10**places)
    odd = _prime_to_ten(whole)
    tails = [_with_places(whole // odd, j, places) for j in range(places + 1)]
    parts = [union(*tails)]
    if odd > 1:
        parts.append(_digit_sums(odd))
    found = intersect(*parts)
    return found if sign else complement(found)


def is_enforceable(factor: Fraction) -> bool:
    """Whether ``multiples`` takes ``factor``."""
    return (
        10**MAX_PLACES % factor.denominator == 0
        and _prime_to_ten(factor.numerator) <= MAX_ODD_PART
    )


def _prime_to_ten(whole: int) -> int:
    """What is left of ``whole`` without its factors 2 and 5."""
    for prime in (2, 5):
        while whole % prime == 0:
            whole //= prime
    return whole


def _places(factor: Fraction) -> int:
    """The least k for which ``factor`` * 10**k is whole."""
    for places in range(MAX_PLACES + 1):
        if 10**places % factor.denominator == 0:
            return places
    raise LimitError(
        f"multipleOf has more than {MAX_PLACES} decimal places",
        what="states",
        limit=MAX_PLACES,
        hint="round the factor",
    )


def _with_places(even: int, j: int, places: int) -> Expr:
    """Decimals with ``j`` digits after the point (when j is ``places``, zeros may
    follow) whose last digits make them multiples of ``even`` / 10**places."""
    even //= gcd(even, 10 ** (places - j))
    if even > _MAX_TAIL:
        raise LimitError(
            f"multipleOf depends on more than {_MAX_TAIL:,} endings",
            what="states",
            limit=_MAX_TAIL,
        )
    length = j
    while 10**length % even:
        length += 1

    @cache
    def tail(left: int, residue: int) -> Expr:
        """``left`` more digits that lead from ``residue`` to 0."""
        if left == 0:
            return EMPTY if residue else EPSILON
        masks: dict[int, int] = {}
        # only so much of a residue can make a difference to what comes out
        modulus = even // gcd(even, 10 ** (left - 1))
        for digit in range(10):
            after = (residue * 10 + digit) % modulus
            masks[after] = masks.get(after, 0) | 1 << (0x30 + digit)
        point = _POINT if left == j else EPSILON
        return concat(
            point,
            union(*(concat(byte_set(m), tail(left - 1, r)) for r, m in masks.items())),
        )

    if length > j:
        short = [tail(left, 0) for left in range(j + 1, length)]
        digits = union(concat(_DIGITS, tail(length, 0)), *short)
    else:
        digits = concat(_DIGIT, _DIGITS, tail(length, 0))
    if j < places:
        return concat(_SIGN, digits)
    more = _ZEROS if j else optional(concat(_POINT, literal("0"), _ZEROS))
    return concat(_SIGN, digits, more)


def _digit_sums(odd: int) -> Expr:
    """Texts whose digits, read as one integer, are a multiple of ``odd``: one state
    a residue, where the sign and the point stay."""
    if odd > MAX_ODD_PART:
        raise LimitError(
            f"multipleOf has a factor of {odd:,}, which is more than "
            f"{MAX_ODD_PART:,} and divisible by neither 2 nor 5",
            what="states",
            limit=MAX_ODD_PART,
            hint="choose another factor, or pass allow_unenforced={'multipleOf'}",
        )
    moves: list[tuple[tuple[int, int], ...]] = []
    for residue in range(odd):
        masks = {residue: 1 << 0x2D | 1 << 0x2E}
        for digit in range(10):
            after = (residue * 10 + digit) % odd
            masks[after] = masks.get(after, 0) | 1 << (0x30 + digit)
        moves.append(tuple((mask, after) for after, mask in masks.items()))
    return Table(tuple(moves), frozenset({0}))
