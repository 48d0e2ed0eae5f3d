"""What is plain to see of the languages of patterns: how their strings begin, and
which they are, if they are few."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from stcon.syntax.charset import CharSet
from stcon.syntax.rules import EPSILON, Chars, Concat, Expr, Repeat, Union

_LONGEST = 32
MAX_WORDS = 64


@dataclass(frozen=True, slots=True)
class Prefix:
    """Every string of a language begins with a character of each of ``sets``, as
    far as they are plain to see; ``ends``: they are the whole string."""

    sets: tuple[CharSet, ...]
    ends: bool


def prefix_of(expr: Expr) -> Prefix:
    """The prefix of the strings of ``expr``, 32 characters at most."""
    sets: list[CharSet] = []
    todo = [expr]
    while todo:
        node = todo.pop()
        if len(sets) >= _LONGEST:
            return Prefix(tuple(sets), False)
        if isinstance(node, Concat):
            todo += reversed(node.items)
        elif isinstance(node, Chars):
            sets.append(node.charset)
        elif isinstance(node, Repeat) and isinstance(node.item, Chars) and node.least:
            sets += [node.item.charset] * min(node.least, _LONGEST)
            if node.least != node.most:
                return Prefix(tuple(sets), False)
        elif node is not EPSILON:
            return Prefix(tuple(sets), False)
    return Prefix(tuple(sets), True)


def are_apart(one: Prefix, other: Prefix) -> bool:
    """Whether it is plain that no string has both prefixes.  False promises
    nothing."""
    if one.ends and len(one.sets) < len(other.sets):
        return True
    if other.ends and len(other.sets) < len(one.sets):
        return True
    return any(map(_are_disjoint, one.sets, other.sets))


def _are_disjoint(one: CharSet, other: CharSet) -> bool:
    """Whether no character is in both."""
    mine, theirs = list(one.ranges), list(other.ranges)
    while mine and theirs:
        low, high = mine[-1], theirs[-1]
        if low[0] > high[1]:
            mine.pop()
        elif high[0] > low[1]:
            theirs.pop()
        else:
            return False
    return True


def words_of(expr: Expr) -> list[str] | None:
    """The strings of a language in the order it names them; None when they are
    more than 64 or that is not plain to see."""
    if expr is EPSILON:
        return [""]
    if isinstance(expr, Chars):
        return _characters(expr.charset)
    if isinstance(expr, Union):
        return _union([words_of(item) for item in expr.items])
    if isinstance(expr, Concat):
        return _sequence([words_of(item) for item in expr.items])
    if isinstance(expr, Repeat) and expr.most is not None and expr.most <= MAX_WORDS:
        words = words_of(expr.item)
        counts = range(expr.least, expr.most + 1)
        return _union([_sequence([words] * count) for count in counts])
    return None


def _characters(charset: CharSet) -> list[str] | None:
    if len(charset) > MAX_WORDS:
        return None
    return [chr(c) for low, high in charset.ranges for c in range(low, high + 1)]


def _union(parts: list[list[str] | None]) -> list[str] | None:
    """The words of all parts, each once."""
    found: dict[str, None] = {}
    for part in parts:
        if part is None:
            return None
        found.update(dict.fromkeys(part))
    return list(found) if len(found) <= MAX_WORDS else None


def _sequence(parts: list[list[str] | None]) -> list[str] | None:
    """The words that are one of each part, in sequence, each once."""
    found = [""]
    for part in parts:
        if part is None or len(found) * len(part) > MAX_WORDS:
            return None
        found = list(dict.fromkeys(a + b for a, b in product(found, part)))
    return found
