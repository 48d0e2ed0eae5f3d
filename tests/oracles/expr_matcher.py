"""A slow, obvious matcher of an expression on one byte string.

``ends(node, i)`` is the set of places where a match of ``node`` that begins at i
can end, written down from the meaning of each node.  Exponential in nothing,
but every call looks at every place; for strings of a few bytes.
"""

from __future__ import annotations

from functools import cache

from stcon.syntax import rules as r


def matches(expr: r.Expr, data: bytes) -> bool:
    """Whether ``data`` is in the language of ``expr`` (bytes, no calls)."""

    @cache
    def ends(node: r.Expr, i: int) -> frozenset[int]:
        match node:
            case r.Empty():
                return frozenset()
            case r.Literal(text):
                found = data.startswith(text, i)
                return frozenset([i + len(text)] if found else [])
            case r.ByteSet(mask):
                found = i < len(data) and bool(mask >> data[i] & 1)
                return frozenset([i + 1] if found else [])
            case r.Concat(items):
                places = frozenset([i])
                for item in items:
                    places = after(item, places)
                return places
            case r.Union(items):
                return frozenset().union(*(ends(item, i) for item in items))
            case r.And(items):
                return frozenset.intersection(*(ends(item, i) for item in items))
            case r.Not(item):
                return frozenset(range(i, len(data) + 1)) - ends(item, i)
            case r.Repeat(item, least, most):
                return rounds(item, least, most, frozenset([i]))
        raise TypeError(node)

    def after(node: r.Expr, places: frozenset[int]) -> frozenset[int]:
        return frozenset().union(*(ends(node, j) for j in places))

    def rounds(
        item: r.Expr, least: int, most: int | None, places: frozenset[int]
    ) -> frozenset[int]:
        for _ in range(least):
            places = after(item, places)
        found = places
        # a round that reads something moves on: len(data) more say it all
        more = len(data) if most is None else min(most - least, len(data))
        for _ in range(more):
            places = after(item, places)
            found |= places
        return found

    return len(data) in ends(expr, 0)
