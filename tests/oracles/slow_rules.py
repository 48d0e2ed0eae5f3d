"""A slow, obvious matcher of Rules, calls included: sets of end positions.

``ends(expr, start)`` is every position where a match that begins at ``start``
can end.  Rules must read a byte before they call themselves, as JSON does.
"""

from __future__ import annotations

from stcon.syntax import rules as r


def matches(rules: r.Rules, data: bytes) -> bool:
    """Whether ``data`` is in the language of ``rules``."""
    return len(data) in _Matcher(rules, data).ends(rules.rules[rules.start], 0)


class _Matcher:
    def __init__(self, rules: r.Rules, data: bytes) -> None:
        self.rules = rules.rules
        self.data = data
        self.known: dict[tuple[int, int], frozenset[int]] = {}

    def ends(self, expr: r.Expr, start: int) -> frozenset[int]:
        key = (id(expr), start)
        if key not in self.known:
            self.known[key] = frozenset(self._ends(expr, start))
        return self.known[key]

    def _ends(self, expr: r.Expr, start: int) -> set[int]:
        match expr:
            case r.Literal(text):
                there = self.data.startswith(text, start)
                return {start + len(text)} if there else set()
            case r.ByteSet(mask):
                there = start < len(self.data) and mask >> self.data[start] & 1
                return {start + 1} if there else set()
            case r.Concat(items):
                reached = {start}
                for item in items:
                    reached = {end for at in reached for end in self.ends(item, at)}
                return reached
            case r.Union(items):
                return {end for item in items for end in self.ends(item, start)}
            case r.And(items):
                return set.intersection(*(set(self.ends(i, start)) for i in items))
            case r.Not(item):
                everywhere = set(range(start, len(self.data) + 1))
                return everywhere - self.ends(item, start)
            case r.Call(name):
                return set(self.ends(self.rules[name], start))
            case r.Repeat(item, least, most):
                return self._repeated(item, least, most, start)
        return set()

    def _repeated(
        self, item: r.Expr, least: int, most: int | None, start: int
    ) -> set[int]:
        # after this many rounds nothing new can happen
        rounds = len(self.data) + 1
        level, reached = {start}, {start} if least == 0 else set()
        for count in range(1, min(least + rounds, most or least + rounds) + 1):
            after = {end for at in level for end in self.ends(item, at)}
            if count >= least:
                reached |= after
            if after == level and count >= least:
                break
            level = after
            if not level:
                break
        return reached
