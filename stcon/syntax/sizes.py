"""How large an expression is once everything shared in it is written out."""

from __future__ import annotations

from collections.abc import Mapping

from stcon.syntax.rules import Call, Counted, Expr, Literal, Repeat, Table, parts


class Sizes:
    """Sizes of expressions, each found once; a byte and a set of bytes are 1, and a
    repetition counts every round.  A call counts what it calls if ``rules`` are
    given, which must not call themselves; 1 if not."""

    def __init__(self, rules: Mapping[str, Expr] | None = None) -> None:
        self._known: dict[Expr, int] = {}
        self._rules = rules or {}

    def _parts(self, node: Expr) -> tuple[Expr, ...]:
        if isinstance(node, Call) and node.name in self._rules:
            return (self._rules[node.name],)
        return parts(node)

    def of(self, root: Expr) -> int:
        """The size of ``root``."""
        known = self._known
        stack = [root]
        while stack:
            node = stack[-1]
            if node in known:
                stack.pop()
                continue
            missing = [part for part in self._parts(node) if part not in known]
            if missing:
                stack += missing
                continue
            stack.pop()
            inside = sum([known[part] for part in self._parts(node)])
            known[node] = _own_size(node, inside)
        return known[root]


def _own_size(node: Expr, inside: int) -> int:
    if isinstance(node, Literal):
        return len(node.data)
    if isinstance(node, Repeat):
        return inside * max(1, node.least, node.most or 0)
    if isinstance(node, Table):
        return sum(map(len, node.moves))
    if isinstance(node, Counted):  # the close counts too often, which is little
        return inside * (1 + max(node.least, node.most or 0))
    return max(1, inside)
