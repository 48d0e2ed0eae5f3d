"""Rules that every schema shares: any string, number, value.

A constraint that calls them pays for its own keys only; what machines and
vocabularies find out about the standard rules is kept for all.
"""

from __future__ import annotations

from functools import lru_cache

from stcon.syntax.charset import ANY, CharSet
from stcon.syntax.encode import json_string
from stcon.syntax.json_schema.constant_texts import in_brackets
from stcon.syntax.json_schema.layout import layout
from stcon.syntax.json_schema.number_texts import INTEGER, NUMBER
from stcon.syntax.rules import (
    ALL_BYTES,
    EPSILON,
    TICK,
    Call,
    Expr,
    Rules,
    byte_set,
    complement,
    concat,
    intersect,
    literal,
    star,
    union,
)

STRING = Call("string")
CHARACTERS = Call("characters")
"""The inside of a string, a tick for each character, and the closing quote."""
REST = Call("rest of a string")
"""More characters and the closing quote."""
ODD_REST = Call("rest from an odd character")
"""The same, but the first character is not plain."""
INTEGER_CALL = Call("integer")
NUMBER_CALL = Call("number")
ARRAY = Call("array")
OBJECT = Call("object")
VALUE = Call("value")

_QUOTE = literal('"')
_ANY_BYTE = byte_set(ALL_BYTES)


@lru_cache(maxsize=16)
def standard_rules(
    whitespace: str,
    escapes: str,
    max_blanks: int,
    recursion: bool,
    *marks: str,
) -> Rules:
    """The rules for one way to write JSON; the same object each time.

    Without ``recursion`` there are no arrays, objects and values of any kind.
    ``marks``: texts that no string may hold as they are, but with escapes.
    """
    odd = odd_character(escapes)
    char = union(byte_set(plain_mask), odd) if escapes != "any" else odd
    more = without(star(char), marks)
    rules: dict[str, Expr] = {
        "string": concat(_QUOTE, more, _QUOTE),
        "characters": concat(without(star(concat(TICK, char)), marks, TICK), _QUOTE),
        "rest of a string": concat(more, _QUOTE),
        "rest from an odd character": concat(odd, more, _QUOTE),
        "integer": INTEGER,
        "number": NUMBER,
    }
    if recursion:
        rules |= _values(whitespace, max_blanks)
    name: tuple[str | int, ...]
    name = (whitespace, escapes, max_blanks, int(recursion), *marks)
    return Rules(rules, "string", None, name)


def without(text: Expr, marks: tuple[str, ...], tick: Expr = EPSILON) -> Expr:
    """The texts of ``text`` (bytes, with ``tick`` before each character) that hold none
    of ``marks`` (plain characters)."""
    if not marks:
        return text
    anything = star(union(byte_set(ALL_BYTES), tick) if tick is TICK else _ANY_BYTE)
    spelt = [concat(*(concat(tick, literal(c)) for c in mark)) for mark in marks]
    return intersect(text, complement(concat(anything, union(*spelt), anything)))


def _values(whitespace: str, max_blanks: int) -> dict[str, Expr]:
    spaces = layout(whitespace, max_blanks, 0)
    comma = spaces.comma(0)
    pair = concat(STRING, spaces.colon, VALUE)
    items = concat(VALUE, star(concat(comma, VALUE)))
    pairs = concat(pair, star(concat(comma, pair)))
    words = [literal(word) for word in ("null", "true", "false")]
    return {
        "array": in_brackets("[", spaces.empty, items, "]", spaces, 0),
        "object": in_brackets("{", spaces.empty, pairs, "}", spaces, 0),
        "value": union(*words, STRING, NUMBER_CALL, ARRAY, OBJECT),
    }


_PLAIN = CharSet.of((0x20, 0x7E)) - CharSet.of('"\\/')


def is_plain(text: str) -> bool:
    """Whether each character of ``text`` has one spelling, one byte, in strings
    whose escapes are not ``"any"``."""
    return all(ord(char) in _PLAIN for char in text)


@lru_cache(maxsize=4)
def odd_character(escapes: str) -> Expr:
    """One character that is not plain, in any of its spellings; if escapes are
    ``"any"``, none is."""
    return json_string(ANY - _PLAIN if escapes != "any" else ANY, escapes=escapes)


plain_mask = sum(
    1 << code for first, last in _PLAIN.ranges for code in range(first, last + 1)
)
