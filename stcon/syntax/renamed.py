"""Rules under other names, so that they can stand beside others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from stcon.syntax.rules import (
    Call,
    Concat,
    Counted,
    Expr,
    Literal,
    Repeat,
    Union,
    literal,
    parts,
)


def renamed(
    rules: Mapping[str, Expr],
    name_of: Callable[[str], str],
    text_of: Callable[[bytes], bytes] | None = None,
) -> dict[str, Expr]:
    """``rules`` with names given by ``name_of``, and literals by ``text_of``; a node
    used twice stays one node.  Linear in the nodes, which may nest as deep as they
    like."""
    made: dict[int, Expr] = {}
    for body in rules.values():
        _rename(body, name_of, text_of, made)
    return {name_of(name): made[id(body)] for name, body in rules.items()}


def with_literals(expr: Expr, text_of: Callable[[bytes], bytes]) -> Expr:
    """``expr`` with literals given by ``text_of``."""
    return renamed({"": expr}, str, text_of)[""]


def _rename(
    expr: Expr,
    name_of: Callable[[str], str],
    text_of: Callable[[bytes], bytes] | None,
    made: dict[int, Expr],
) -> None:
    todo = [expr]
    while todo:
        node = todo[-1]
        if id(node) in made:
            todo.pop()
            continue
        waiting = [part for part in parts(node) if id(part) not in made]
        if waiting:
            todo.extend(waiting)
            continue
        if text_of and isinstance(node, Literal):
            made[id(node)] = literal(text_of(node.data))
        else:
            made[id(node)] = _with_parts(node, name_of, made)
        todo.pop()


def _with_parts(
    node: Expr, name_of: Callable[[str], str], made: Mapping[int, Expr]
) -> Expr:
    """``node`` with what its parts have become, or itself where they stayed."""
    if isinstance(node, Call):
        return Call(name_of(node.name))
    old = parts(node)
    new = tuple(made[id(part)] for part in old)
    if all(one is other for one, other in zip(old, new, strict=True)):
        return node
    if isinstance(node, (Concat, Union)):
        return replace(node, items=new)
    if isinstance(node, Counted):
        return replace(node, item=new[0], close=new[1])
    assert isinstance(node, Repeat)  # And and Not hold no calls
    return replace(node, item=new[0])
