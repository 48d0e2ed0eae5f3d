"""What is plain to see of the languages of patterns: how their strings begin."""

from __future__ import annotations

from dataclasses import dataclass

from stcon.syntax.charset import CharSet
from stcon.syntax.rules import EPSILON, Chars, Concat, Expr, Repeat

_LONGEST = 32


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
