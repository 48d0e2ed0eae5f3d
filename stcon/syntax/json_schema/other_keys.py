"""Every key but some: the prefix tree of their names, turned inside out.

A key leaves the tree at its first letter that no name goes on with; from there on
it is any text.  Linear in the letters of the names, where a product of automata
needs a subset construction.
"""

from __future__ import annotations

from collections.abc import Collection

from stcon.syntax.json_schema.standard import (
    ODD_REST,
    REST,
    is_plain,
    plain_mask,
)
from stcon.syntax.rules import EMPTY, Expr, byte_set, concat, literal, union

Tree = dict[str, "Tree"]
Known = dict[tuple[tuple[str, Expr | None], ...], Expr]

_END = ""
"""The key in a tree that says that a name ends."""


def can_be_plain(names: Collection[str], escapes: str) -> bool:
    """Whether ``other_keys`` may be used: each name has one spelling."""
    return escapes != "any" and all(map(is_plain, names))


def other_keys(names: Collection[str], known: Known | None = None) -> Expr:
    """The JSON strings, in quotes, that are none of the plain ``names``.

    ``known`` keeps the parts for the next names: equal ends of names, which other
    objects have too, are one node.
    """
    tree: Tree = {}
    for name in names:
        at = tree
        for char in name:
            at = at.setdefault(char, {})
        at[_END] = {}
    return concat(literal('"'), _outside(tree, {} if known is None else known))


def _outside(root: Tree, known: Known) -> Expr:
    """What may follow at the root; parts are made before what holds them."""
    made: dict[int, Expr] = {}
    rests: dict[int, Expr] = {}
    todo = [root]
    while todo:
        tree = todo[-1]
        below = [sub for char, sub in tree.items() if char != _END]
        missing = [sub for sub in below if id(sub) not in made]
        if missing:
            todo += missing
            continue
        todo.pop()
        key = tuple([(char, made.get(id(sub))) for char, sub in tree.items()])
        if key not in known:
            known[key] = _node(tree, made, rests)
        made[id(tree)] = known[key]
    return made[id(root)]


def _node(tree: Tree, made: dict[int, Expr], rests: dict[int, Expr]) -> Expr:
    """What may follow at a tree whose parts are made."""
    others = plain_mask
    ways: list[Expr] = [ODD_REST]
    for char, sub in tree.items():
        if char != _END:
            others &= ~(1 << ord(char))
            ways.append(concat(literal(char), made[id(sub)]))
    if others not in rests:
        rests[others] = concat(byte_set(others), REST)
    ways.append(rests[others])
    ways.append(EMPTY if _END in tree else literal('"'))
    return union(*ways)
