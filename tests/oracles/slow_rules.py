"""A slow, obvious matcher of Rules, calls and counts included: sets of ends.

``ends(expr, start)`` is every pair (position where a match that begins at ``start``
can end, ticks taken on the way).  Rules must read a byte before they call
themselves, as JSON does.
"""

from __future__ import annotations

from typing import Any

from stcon.machines.frames import has_ticks
from stcon.syntax import rules as r

End = tuple[int, int]


def matches(rules: r.Rules, data: bytes) -> bool:
    """Whether ``data`` is in the language of ``rules``."""
    return (len(data), 0) in _Matcher(rules, data).ends(rules.rules[rules.start], 0)


class _Matcher:
    def __init__(self, rules: r.Rules, data: bytes) -> None:
        self.rules = rules.rules
        self.data = data
        self.known: dict[tuple[int, int], frozenset[End]] = {}

    def ends(self, expr: r.Expr, start: int) -> frozenset[End]:
        key = (id(expr), start)
        if key not in self.known:
            self.known[key] = frozenset(self._ends(expr, start))
        return self.known[key]

    def _ends(self, expr: r.Expr, start: int) -> set[End]:
        match expr:
            case r.Literal(text):
                there = self.data.startswith(text, start)
                return {(start + len(text), 0)} if there else set()
            case r.ByteSet(mask):
                there = start < len(self.data) and mask >> self.data[start] & 1
                return {(start + 1, 0)} if there else set()
            case r.Tick():
                return {(start, 1)}
            case r.Counted(item, least, most, close):
                found = self.ends(item, start)
                fits = {
                    t for _, t in found if t >= least and (most is None or t <= most)
                }
                return self._after(close, {(at, 0) for at, t in found if t in fits})
            case r.Table(moves, accepts):
                return {(end, 0) for end in self._table_ends(moves, accepts, start)}
            case r.Concat(items):
                reached = {(start, 0)}
                for item in items:
                    reached = self._after(item, reached)
                return reached
            case r.Union(items):
                return {end for item in items for end in self.ends(item, start)}
            case r.And(items):
                return set.intersection(*(set(self.ends(i, start)) for i in items))
            case r.Not(item):
                last = len(self.data) + 1
                ticks = range(last if has_ticks(item) else 1)
                everywhere = {(at, t) for at in range(start, last) for t in ticks}
                return everywhere - self.ends(item, start)
            case r.Call(name):
                return set(self.ends(self.rules[name], start))
            case r.Repeat(item, least, most):
                return self._repeated(item, least, most, start)
        return set()

    def _table_ends(self, moves: Any, accepts: frozenset[int], start: int) -> set[int]:
        found, states = set(), {0}
        for at in range(start, len(self.data) + 1):
            if states & accepts:
                found.add(at)
            byte = self.data[at] if at < len(self.data) else 256
            states = {to for s in states for m, to in moves[s] if m >> byte & 1}
        return found

    def _after(self, item: r.Expr, reached: set[End]) -> set[End]:
        return {
            (end, ticks + more)
            for at, ticks in reached
            for end, more in self.ends(item, at)
        }

    def _repeated(
        self, item: r.Expr, least: int, most: int | None, start: int
    ) -> set[End]:
        # after this many rounds nothing new can happen
        rounds = len(self.data) + 1
        level, reached = {(start, 0)}, {(start, 0)} if least == 0 else set()
        for count in range(1, min(least + rounds, most or least + rounds) + 1):
            after = self._after(item, level)
            if count >= least:
                reached |= after
            if after == level and count >= least:
                break
            level = after
            if not level:
                break
        return reached
