"""Constants as text: canonical JSON with the blanks of the layout."""

from __future__ import annotations

from typing import Any

from stcon.syntax.encode import json_text
from stcon.syntax.json_schema.layout import Layout
from stcon.syntax.json_schema.values import scalar_text
from stcon.syntax.rules import EMPTY, Expr, concat, literal, union


def constants_expr(values: tuple[Any, ...], layout: Layout, depth: int) -> Expr:
    """The texts of ``values``, which stand at ``depth``."""
    return union(*(constant_expr(value, layout, depth) for value in values))


def constant_expr(value: Any, layout: Layout, depth: int) -> Expr:
    """The text of one value: keys in the order given, one spelling a scalar."""
    if isinstance(value, list):
        parts = [constant_expr(item, layout, depth + 1) for item in value]
        return bracketed("[", parts, "]", layout, depth)
    if isinstance(value, dict):
        pairs = [
            concat(key_expr(name), layout.colon, constant_expr(item, layout, depth + 1))
            for name, item in value.items()
        ]
        return bracketed("{", pairs, "}", layout, depth)
    return literal(scalar_text(value))


def key_expr(name: str) -> Expr:
    """The text of a key, in quotes."""
    return literal(json_text(name))


def bracketed(
    left: str, parts: list[Expr], right: str, layout: Layout, depth: int
) -> Expr:
    """The parts, with commas between them, in brackets."""
    if not parts:
        return concat(literal(left), layout.empty, literal(right))
    comma = layout.comma(depth)
    inside = parts[0]
    for part in parts[1:]:
        inside = concat(inside, comma, part)
    return in_brackets(left, EMPTY, inside, right, layout, depth)


def in_brackets(
    left: str, nothing: Expr, inside: Expr, right: str, layout: Layout, depth: int
) -> Expr:
    """``inside`` in brackets; also the empty brackets unless ``nothing`` is EMPTY."""
    close = literal(right)
    full = concat(layout.after_open(depth), inside, layout.before_close(depth), close)
    return concat(literal(left), union(concat(nothing, close), full))
