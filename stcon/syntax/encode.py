"""Characters to bytes: how a set of code points is written, as an expression.

A code writes a number as digits (of 4 to 7 bits), each digit as one byte: UTF-8,
and the ``\\uXXXX`` of JSON, are the same construction with other digits.  The
digits that lead to the same remainder share one byte set, and the same remainder
is one node, so the expression is the minimal acyclic automaton of the set but
for the union of codes of different length.  ANY is 10 states of a DFA in UTF-8,
22 in a JSON string with all escapes, 16 with the canonical ones.

Sources: RFC 3629 (UTF-8), RFC 8259 section 7 (JSON strings).
Cost: linear in the ranges of the set; 0.2 ms for [a-z], 1.5 ms for ANY, then
remembered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import is_

from stcon.errors import StconError
from stcon.syntax import rules as r
from stcon.syntax.charset import ANY, MAX_CODE_POINT, CharSet, Range
from stcon.syntax.rules import (
    ByteSet,
    Call,
    Chars,
    Concat,
    Counted,
    Expr,
    Literal,
    Not,
    Repeat,
    Union,
    parts,
)

Encoder = Callable[[CharSet], Expr]

_SHORT_ESCAPES = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "\b": "b",
    "\f": "f",
    "\n": "n",
    "\r": "r",
    "\t": "t",
}
_OF_NOTHING, _OF_BYTES, _OF_CHARS = range(3)  # what the leaves of a node are
_CACHED = 256  # a schema of 40 patterns has about as many character sets
_CONTROLS = CharSet.of((0, 0x1F))
ESCAPES = ("usual", "any", "canonical")
"""How ``json_string`` may spell a character."""

_PRINTABLE = CharSet.of((0x20, 0x7E))
_ESCAPED = CharSet.of('"\\') | _CONTROLS
_UNNAMED = _CONTROLS - CharSet.of("".join(_SHORT_ESCAPES))


@dataclass(frozen=True, slots=True)
class _Digit:
    """A digit of ``bits`` bits: ``before``, then a byte of the set
    ``masks[value]``."""

    bits: int
    masks: tuple[int, ...]
    before: Expr = r.EPSILON


def _plain(bits: int, base: int) -> _Digit:
    """A digit written as the byte ``base + value``."""
    return _Digit(bits, tuple(1 << (base + value) for value in range(1 << bits)))


def _hex(bits: int, base: int = 0, before: Expr = r.EPSILON) -> _Digit:
    """A digit written as the hexadecimal digit ``base + value``, either case."""
    digits = [f"{base + value:x}" for value in range(1 << bits)]
    masks = tuple(1 << ord(d) | 1 << ord(d.upper()) for d in digits)
    return _Digit(bits, masks, before)


def _lower_hex(before: Expr = r.EPSILON) -> _Digit:
    """A hexadecimal digit in lower case."""
    return _Digit(4, tuple(1 << ord(f"{value:x}") for value in range(16)), before)


_REST = _plain(6, 0x80)
# first and last code point of each length, and its digits
_UTF8 = (
    (0, 0x7F, (_plain(7, 0),)),
    (0x80, 0x7FF, (_plain(5, 0xC0), _REST)),
    (0x800, 0xFFFF, (_plain(4, 0xE0), _REST, _REST)),
    (0x10000, MAX_CODE_POINT, (_plain(3, 0xF0), _REST, _REST, _REST)),
)
_U = r.literal("\\u")
_FOUR = (_hex(4, 0, _U), _hex(4), _hex(4), _hex(4))
_FOUR_LOWER = (_lower_hex(_U), _lower_hex(), _lower_hex(), _lower_hex())
_UD = r.concat(_U, r.byte_set(1 << ord("d") | 1 << ord("D")))
_PAIR = (
    *(_hex(2, 0x8, _UD), _hex(4), _hex(4)),
    *(_hex(2, 0xC, _UD), _hex(4), _hex(4)),
)


@lru_cache(maxsize=_CACHED)
def utf8(charset: CharSet) -> Expr:
    """One character of ``charset`` in UTF-8: no overlong form, no surrogate."""
    codes = [
        _Code(digits).expr(_within(charset, first, last))
        for first, last, digits in _UTF8
    ]
    return r.union(*codes)


@lru_cache(maxsize=_CACHED)
def json_string(charset: CharSet, *, escapes: str = "any") -> Expr:
    """One character of ``charset`` as it stands inside a JSON string.

    ``escapes``: ``"any"`` takes every spelling JSON has: the character itself,
    the eight short escapes, ``\\uXXXX`` in either case and, for characters
    beyond U+FFFF, pairs of surrogates; a surrogate alone never.
    ``"usual"`` is that without numbers for printable ASCII, which nobody
    writes: an e-mail address needs 1,983 states with them, 298 without, and
    the hyphens of a date are no longer forced.
    ``"canonical"`` takes the one that ``json.dumps(..., ensure_ascii=False)``
    writes.
    """
    if escapes not in ESCAPES:
        raise ValueError(f"escapes is one of {', '.join(ESCAPES)}, not {escapes!r}")
    raw = utf8(charset - _ESCAPED)
    if escapes == "canonical":
        unnamed = _Code(_FOUR_LOWER).expr((charset & _UNNAMED).ranges)
        return r.union(raw, _short(charset - CharSet.of("/")), unnamed)
    numbered = charset if escapes == "any" else charset - _PRINTABLE
    four = _Code(_FOUR).expr(_within(numbered, 0, 0xFFFF))
    pairs = _within(charset, 0x10000, MAX_CODE_POINT)
    numbers = tuple((first - 0x10000, last - 0x10000) for first, last in pairs)
    return r.union(raw, _short(charset), four, _Code(_PAIR).expr(numbers))


def json_text(text: str) -> bytes:
    """The JSON string literal of ``text``, quotes included, as
    ``json.dumps(text, ensure_ascii=False)`` writes it, in UTF-8."""
    try:
        return json.dumps(text, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise StconError(
            f"{text!r} holds a lone surrogate, which no UTF-8 text can hold",
            hint="use the whole character, for example chr(0x1F600)",
        ) from error


def encode(expr: Expr, encoder: Encoder) -> Expr:
    """``expr`` with every ``Chars`` written by ``encoder`` (``utf8``, or
    ``json_string`` with its ``escapes`` bound).

    ``Not`` becomes "characters, but not these", so it never accepts bytes that are
    no text; only a ``Not`` of bytes alone stays.  Shared nodes stay shared;
    nothing recurses.
    """
    return _Encoding(encoder).of(expr)


class _Code:
    """The expressions of one code; equal remainders are one node."""

    def __init__(self, digits: tuple[_Digit, ...]) -> None:
        self._digits = digits
        self._known: dict[tuple[int, tuple[Range, ...]], Expr] = {}

    def expr(self, numbers: tuple[Range, ...], place: int = 0) -> Expr:
        """The numbers in ``numbers`` (sorted ranges), from digit ``place`` on."""
        if place == len(self._digits):
            return r.EPSILON if numbers else r.EMPTY
        known = self._known.get((place, numbers))
        if known is None:
            known = self._known[place, numbers] = self._split(numbers, place)
        return known

    def _split(self, numbers: tuple[Range, ...], place: int) -> Expr:
        digit = self._digits[place]
        below = sum(d.bits for d in self._digits[place + 1 :])
        masks: dict[tuple[Range, ...], int] = {}
        for value, rest in _by_top(numbers, below):
            masks[rest] = masks.get(rest, 0) | digit.masks[value]
        return r.concat(
            digit.before,
            r.union(
                *(
                    r.concat(_one_byte(mask), self.expr(rest, place + 1))
                    for rest, mask in masks.items()
                )
            ),
        )


def _by_top(
    numbers: tuple[Range, ...], below: int
) -> Iterator[tuple[int, tuple[Range, ...]]]:
    """For each value of the bits above ``below``: the remainders it has."""
    full = (1 << below) - 1
    rests: dict[int, list[Range]] = {}
    for first, last in numbers:
        for value in range(first >> below, (last >> below) + 1):
            low = first & full if value == first >> below else 0
            high = last & full if value == last >> below else full
            rests.setdefault(value, []).append((low, high))
    for value, rest in rests.items():
        yield value, tuple(rest)


def _one_byte(mask: int) -> Expr:
    """One byte of a set; a set of one is a literal, which joins others."""
    if mask & (mask - 1):
        return r.byte_set(mask)
    return r.literal(bytes([mask.bit_length() - 1]))


def _within(charset: CharSet, first: int, last: int) -> tuple[Range, ...]:
    """The members from ``first`` to ``last``."""
    return tuple(
        (max(low, first), min(high, last))
        for low, high in charset.ranges
        if low <= last and high >= first
    )


def _short(charset: CharSet) -> Expr:
    """The short escapes of the members."""
    letters = [n for c, n in _SHORT_ESCAPES.items() if ord(c) in charset]
    mask = sum(1 << ord(letter) for letter in letters)
    return r.concat(r.literal("\\"), _one_byte(mask)) if mask else r.EMPTY


class _Encoding:
    """One walk: what each node met becomes, and what it is made of."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._charsets: dict[CharSet, Expr] = {}
        self._new: dict[int, Expr] = {}
        self._made_of: dict[int, int] = {}

    def of(self, root: Expr) -> Expr:
        """The encoded ``root``; parts are made before the node that holds them."""
        stack = [root]
        while stack:
            node = stack[-1]
            inside = parts(node)
            missing = [part for part in inside if id(part) not in self._new]
            if missing and id(node) not in self._new:
                stack += missing
                continue
            stack.pop()
            if id(node) not in self._new:
                self._made_of[id(node)] = self._kind(node, inside)
                self._new[id(node)] = self._made(node, inside)
        return self._new[id(root)]

    def _kind(self, node: Expr, inside: tuple[Expr, ...]) -> int:
        if isinstance(node, (ByteSet, Call)):
            return _OF_BYTES
        if isinstance(node, Literal):
            return _OF_BYTES if node.data else _OF_NOTHING
        if isinstance(node, Chars):
            return _OF_CHARS
        return max((self._made_of[id(part)] for part in inside), default=_OF_NOTHING)

    def _made(self, node: Expr, inside: tuple[Expr, ...]) -> Expr:
        """The encoded node, from its encoded parts."""
        if isinstance(node, Chars):
            return self._chars(node.charset)
        new = [self._new[id(part)] for part in inside]
        if isinstance(node, Not) and self._made_of[id(node)] != _OF_BYTES:
            return r.intersect(r.star(self._chars(ANY)), r.complement(new[0]))
        if all(map(is_, new, inside)):
            return node
        if isinstance(node, Concat):
            return r.concat(*new)
        if isinstance(node, Union):
            return r.union(*new)
        if isinstance(node, Repeat):
            return r.repeat(new[0], node.least, node.most)
        if isinstance(node, Counted):
            return r.counted(new[0], node.least, node.most, new[1])
        return r.complement(new[0]) if isinstance(node, Not) else r.intersect(*new)

    def _chars(self, charset: CharSet) -> Expr:
        known = self._charsets.get(charset)
        if known is None:
            known = self._charsets[charset] = self._encoder(charset)
        return known
