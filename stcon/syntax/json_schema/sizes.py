"""How large an expression is once everything shared in it is written out."""

from __future__ import annotations

from stcon.syntax.rules import And, Concat, Expr, Literal, Not, Repeat, Union


class Sizes:
    """Sizes of expressions, each found once; a byte, a set of bytes and a call
    are 1, and a repetition counts every round."""

    def __init__(self) -> None:
        self._known: dict[Expr, int] = {}

    def of(self, root: Expr) -> int:
        """The size of ``root``."""
        known = self._known
        stack = [root]
        while stack:
            node = stack[-1]
            if node in known:
                stack.pop()
                continue
            missing = [part for part in _parts(node) if part not in known]
            if missing:
                stack += missing
                continue
            stack.pop()
            inside = sum([known[part] for part in _parts(node)])
            known[node] = _own_size(node, inside)
        return known[root]


def _parts(node: Expr) -> tuple[Expr, ...]:
    if isinstance(node, (Concat, Union, And)):
        return node.items
    return (node.item,) if isinstance(node, (Repeat, Not)) else ()


def _own_size(node: Expr, inside: int) -> int:
    if isinstance(node, Literal):
        return len(node.data)
    if isinstance(node, Repeat):
        return inside * max(1, node.least, node.most or 0)
    return max(1, inside)
