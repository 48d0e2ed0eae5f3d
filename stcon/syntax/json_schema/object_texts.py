"""Objects as text.

Named keys come in the order in which they are declared, each or none if it is
optional; then come all other keys.  Pairs are written from the last to the
first, so the tail after pair i is one node and n optional pairs cost n.  Where
keys are counted, or one of several keys must meet a demand, ``counted_keys``
writes the object instead.

A text may repeat a key that is not named; JSON readers keep the last, and every
value fits, so the object they build is valid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stcon.syntax.json_schema.constant_texts import in_brackets
from stcon.syntax.json_schema.counted_keys import counted_keys
from stcon.syntax.json_schema.object_shape import ObjectShape
from stcon.syntax.json_schema.pairs import Pair, free_pairs, named_pairs
from stcon.syntax.json_schema.unordered_keys import unordered_keys
from stcon.syntax.rules import EMPTY, Expr, concat, optional, star, union

if TYPE_CHECKING:
    from stcon.syntax.json_schema.writer import Writer


def object_expr(shape: ObjectShape, writer: Writer, depth: int) -> Expr:
    """The texts of the objects of ``shape``."""
    has_none, inside = inside_expr(shape, writer, depth)
    nothing = writer.layout.empty if has_none else EMPTY
    return in_brackets("{", nothing, inside, "}", writer.layout, depth)


def inside_expr(shape: ObjectShape, writer: Writer, depth: int) -> tuple[bool, Expr]:
    """Whether there may be no pair, and the texts of one pair or more."""
    writer.plan.expander.options.work(1 + len(shape.names) + len(shape.free))
    if writer.plan.expander.options.any_order and shape.names:
        return unordered_keys(shape, writer, depth)
    if (
        shape.least
        or shape.most is not None
        or shape.some
        or shape.presence is not True
    ):
        return counted_keys(shape, writer, depth)
    pairs = named_pairs(shape, writer, depth)
    free = free_pairs(shape, writer, depth)
    return not shape.required, _pairs(pairs, free, writer.layout.comma(depth))


def _pairs(pairs: list[Pair], free: Expr, comma: Expr) -> Expr:
    """One pair or more."""
    tail = star(concat(comma, free))
    firsts = [concat(free, tail)]
    for pair in reversed(pairs):
        if pair.is_required:
            firsts = []
        firsts.append(concat(pair.text, tail))
        more = concat(comma, pair.text)
        tail = concat(more if pair.is_required else optional(more), tail)
    return union(*reversed(firsts))
