"""Membership in rules by memoised search over spans: slow and obvious."""

from __future__ import annotations

from stcon.syntax import rules as r


def derive(rules: r.Rules, text: bytes) -> bool:
    """Whether ``rules`` accept ``text``: the least fixed point over spans."""
    known: dict[str, set[tuple[int, int]]] = {name: set() for name in rules.rules}
    everywhere = [(i, i) for i in range(len(text) + 1)]

    def spans(node: r.Expr) -> set[tuple[int, int]]:
        match node:
            case r.Empty():
                return set()
            case r.Literal(data):
                ends = range(len(data), len(text) + 1)
                at = [(e - len(data), e) for e in ends]
                return {(a, b) for a, b in at if text[a:b] == data}
            case r.ByteSet(mask):
                return {(i, i + 1) for i, b in enumerate(text) if mask >> b & 1}
            case r.Concat(items):
                out = set(everywhere)
                for item in items:
                    out = join(out, spans(item))
                return out
            case r.Union(items):
                return set().union(*map(spans, items))
            case r.Repeat(item, least, most):
                once = spans(item)
                out = set(everywhere)
                for _ in range(least):
                    out = join(out, once)
                total = set(out)
                for _ in range(len(text) + 1 if most is None else most - least):
                    out = join(out, once)
                    total |= out
                return total
            case r.Call(name):
                return known[name]
        raise TypeError(node)

    def join(
        left: set[tuple[int, int]], right: set[tuple[int, int]]
    ) -> set[tuple[int, int]]:
        return {(a, d) for a, b in left for c, d in right if b == c}

    while True:
        more = {name: spans(expr) for name, expr in rules.rules.items()}
        if more == known:
            return (0, len(text)) in known[rules.start]
        known = more
