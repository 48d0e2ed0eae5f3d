"""Keywords that speak of arrays."""

from __future__ import annotations

from typing import Any

from stcon.syntax.json_schema.arrays import (
    Contains,
    ItemAt,
    ItemCount,
    ItemsFrom,
    Unique,
)
from stcon.syntax.json_schema.document import Place
from stcon.syntax.json_schema.formula import TRUE, All, Formula
from stcon.syntax.json_schema.keywords.counts import count
from stcon.syntax.json_schema.unevaluated import items_left_over


def prefix_items(value: Any, at: Place) -> Formula:
    """Item n satisfies schema n."""
    at.check(isinstance(value, list), "a list of schemas", value)
    return All(_first_items(value, at))


def _first_items(value: list[Any], at: Place) -> tuple[Formula, ...]:
    return tuple(ItemAt(at, n, at.literal(item, n)) for n, item in enumerate(value))


def items(value: Any, at: Place) -> Formula:
    """The items after ``prefixItems`` satisfy the schema; a list (drafts 4 to
    2019-09) is the old spelling of ``prefixItems``."""
    if isinstance(value, list) and at.draft != 2020:
        first = _first_items(value, at)
        rest = at.beside("additionalItems")
        more = rest.literal(at.schema.value.get("additionalItems", True))
        return All((*first, ItemsFrom(rest, len(first), more)))
    prefix = at.schema.value.get("prefixItems", []) if at.draft in (0, 2020) else []
    return ItemsFrom(
        at, len(prefix) if isinstance(prefix, list) else 0, at.literal(value)
    )


def min_items(value: Any, at: Place) -> Formula:
    """At least so many items."""
    return ItemCount(at, count(value, at), None)


def max_items(value: Any, at: Place) -> Formula:
    """At most so many items."""
    return ItemCount(at, 0, count(value, at))


def unique_items(value: Any, at: Place) -> Formula:
    """No two items are equal."""
    at.check(isinstance(value, bool), "true or false", value)
    return Unique(at) if value else TRUE


def contains(value: Any, at: Place) -> Formula:
    """``minContains`` (1) to ``maxContains`` items satisfy the schema."""
    beside = at.schema.value if at.draft in (0, 2019, 2020) else {}
    least = count(beside.get("minContains", 1), at.beside("minContains"))
    most = None
    if "maxContains" in beside:
        most = count(beside["maxContains"], at.beside("maxContains"))
    literal = at.literal(value)
    if most == 0 and least == 0:
        return ItemsFrom(at, 0, -literal)
    return Contains(at, literal, least, most)


def unevaluated_items(value: Any, at: Place) -> Formula:
    """The items that no other keyword has looked at satisfy the schema."""
    return items_left_over(value, at)
