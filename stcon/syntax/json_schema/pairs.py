"""Pairs of key and value as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stcon.syntax.json_schema.constants import Constants
from stcon.syntax.json_schema.goals import ANYTHING, Goal
from stcon.syntax.json_schema.object_shape import FreeKeys, ObjectShape
from stcon.syntax.json_schema.objects import Pattern
from stcon.syntax.json_schema.strings import (
    ANY_TEXT,
    StringShape,
    string_language,
    text_expr,
)
from stcon.syntax.json_schema.values import STRING
from stcon.syntax.rules import (
    EMPTY,
    Expr,
    complement,
    concat,
    intersect,
    union,
)

if TYPE_CHECKING:
    from stcon.syntax.json_schema.writer import Writer


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A named key with its value, as text."""

    name: str
    value: Goal
    text: Expr
    is_required: bool


def named_pairs(shape: ObjectShape, writer: Writer, depth: int) -> list[Pair]:
    """The named pairs in the order of writing."""
    return [
        Pair(
            name,
            wanted,
            writer.named_pair(name, writer.value(wanted, depth)),
            name in shape.required,
        )
        for name, wanted in shape.names.items()
    ]


def free_pairs(shape: ObjectShape, writer: Writer, depth: int) -> Expr:
    """Any pair whose key is not named."""
    return union(
        *(
            concat(
                free_key(shape, free, writer),
                writer.layout.colon,
                writer.value(free.value, depth),
            )
            for free in shape.free
            if writer.plan.is_reachable(free.value)
        )
    )


def free_key(
    shape: ObjectShape, free: FreeKeys, writer: Writer, more: Goal = ANYTHING
) -> Expr:
    """The keys of one class, less the named ones, in quotes; they also reach the
    goal ``more``."""
    parts = []
    least, most = 0, None
    cases = [_case(*case) for case in free.cases]
    if ANY_TEXT not in cases:
        parts.append(union(*cases))
    for wanted in (shape.key_goal, more):
        if wanted != ANYTHING:
            language, low, high = _key_language(wanted, writer)
            parts += [] if language is None else [language]
            least = max(least, low)
            most = high if most is None else most if high is None else min(most, high)
    if most is not None and least > most:
        return EMPTY
    if not parts and not least and most is None:
        return writer.all_keys_but(shape.names)
    if shape.names:
        parts.append(complement(union(*map(text_expr, shape.names))))
    if EMPTY in parts:
        return EMPTY
    return writer.quoted(intersect(*parts) if parts else None, least, most)


def _case(matched: tuple[Pattern, ...], missed: tuple[Pattern, ...]) -> Expr:
    """The keys that match just these patterns."""
    if not matched and not missed:
        return ANY_TEXT
    return intersect(
        *(pattern.language for pattern in matched),
        *(complement(pattern.language) for pattern in missed),
    )


def _key_language(wanted: Goal, writer: Writer) -> tuple[Expr | None, int, int | None]:
    """The decoded strings that reach a goal: a language (None: any) and the
    least and most number of characters."""
    shapes = writer.plan.expander.shapes(wanted, STRING)
    if len(shapes) == 1 and isinstance(shapes[0], StringShape):
        return shapes[0].language, shapes[0].least, shapes[0].most
    return text_language(wanted, writer), 0, None


def text_language(wanted: Goal, writer: Writer) -> Expr:
    """The decoded strings that reach a goal."""
    found: list[Expr] = []
    for shape in writer.plan.expander.shapes(wanted, STRING):
        if isinstance(shape, StringShape):
            found.append(string_language(shape))
        elif isinstance(shape, Constants):
            found += map(text_expr, shape.values)
    return union(*found)
