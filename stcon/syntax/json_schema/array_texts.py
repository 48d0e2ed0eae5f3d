"""Arrays as text.

Items are written from the last to the first, so that the tail after item i is
one node.  Counting (``contains``) and remembering (``uniqueItems`` over finitely
many values) need states: one node a state, and at most ``MAX_SETS`` of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stcon.syntax.json_schema.arrays import ArrayShape
from stcon.syntax.json_schema.constant_texts import in_brackets
from stcon.syntax.json_schema.counted_items import counted_items
from stcon.syntax.json_schema.distinct_items import distinct_items, is_finite
from stcon.syntax.rules import (
    EMPTY,
    EPSILON,
    TICK,
    Expr,
    concat,
    counted,
    optional,
    star,
)

if TYPE_CHECKING:
    from stcon.syntax.json_schema.writer import Writer


def array_expr(shape: ArrayShape, writer: Writer, depth: int) -> Expr:
    """The texts of the arrays of ``shape``."""
    nothing = writer.layout.empty
    unique = bool(shape.unique) and shape.most not in (0, 1)
    if unique and not is_finite(shape, writer):
        shape.unique[0].place.need_leave(
            "the items are not from an enum, and no finite memory holds all that "
            "were written"
        )
        unique = False
    if unique:
        has_none, inside = distinct_items(shape, writer, depth)
    elif shape.contains:
        has_none, inside = counted_items(shape, writer, depth)
    else:
        has_none, inside = shape.least == 0, _items(shape, writer, depth)
    return in_brackets(
        "[", nothing if has_none else EMPTY, inside, "]", writer.layout, depth
    )


def _items(shape: ArrayShape, writer: Writer, depth: int) -> Expr:
    """One item or more."""
    most = shape.most
    items = [writer.value(wanted, depth) for wanted in shape.prefix[:most]]
    for index, item in enumerate(items):
        if item is EMPTY:
            most = index
            break
    rest: Expr = EMPTY
    if most is None or most > len(items):
        rest = writer.value(shape.rest, depth)
    if most == 0 or (not items and rest is EMPTY):
        return EMPTY
    comma = writer.layout.comma(depth)
    if not items:
        return _many(rest, comma, max(1, shape.least), most)
    start = len(items)
    tail: Expr = EPSILON
    if most is None or most > start:
        left = None if most is None else most - start
        tail = _more(rest, comma, max(0, shape.least - start), left)
    elif shape.least > max(most, 0):
        return EMPTY
    for index in range(min(start, len(items) if most is None else most) - 1, 0, -1):
        tail = concat(comma, items[index], tail)
        if index >= shape.least:
            tail = optional(tail)
    return concat(items[0], tail)


def _many(item: Expr, comma: Expr, least: int, most: int | None) -> Expr:
    """From ``least`` (at least 1) to ``most`` items."""
    more = star(concat(comma, item))
    if least == 1 and most is None:
        return concat(item, more)
    ticked = concat(TICK, item, star(concat(comma, TICK, item)))
    return counted(ticked, least, most)


def _more(item: Expr, comma: Expr, least: int, most: int | None) -> Expr:
    """From ``least`` to ``most`` items, a comma before each."""
    if least == 0 and most is None:
        return star(concat(comma, item))
    return counted(star(concat(comma, TICK, item)), least, most)
