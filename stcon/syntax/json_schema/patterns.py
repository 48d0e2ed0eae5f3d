"""What is plain to see of the languages of two patterns."""

from __future__ import annotations

from stcon.syntax.rules import EPSILON, Chars, Concat, Expr


def are_apart(one: Expr, other: Expr) -> bool:
    """Whether a look at how they begin shows that no string is in both
    languages.  False promises nothing."""
    (first, first_ends), (second, second_ends) = _prefix(one), _prefix(other)
    if first_ends and second_ends:
        return first != second
    if first_ends:
        return not first.startswith(second)
    if second_ends:
        return not second.startswith(first)
    shorter = min(len(first), len(second))
    return first[:shorter] != second[:shorter]


def _prefix(expr: Expr) -> tuple[str, bool]:
    """The characters every string of a language begins with, as far as they are
    plain to see, and whether they are the whole string."""
    text: list[str] = []
    todo = [expr]
    while todo:
        node = todo.pop()
        if isinstance(node, Concat):
            todo += reversed(node.items)
        elif isinstance(node, Chars) and len(node.charset) == 1:
            text.append(chr(node.charset.ranges[0][0]))
        elif node is not EPSILON:
            return "".join(text), False
    return "".join(text), True
