"""``enum`` and ``const``: facts about finitely many values."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stcon.syntax.json_schema.formula import All, Fact, Formula
from stcon.syntax.json_schema.values import ARRAY, OBJECT, identity, kind_of

if TYPE_CHECKING:
    from stcon.syntax.json_schema.evaluate import Judge


@dataclass(frozen=True, slots=True, eq=False)
class Among(Fact):
    """The value equals one of ``values``, all of one kind; ``keys`` are their
    identities."""

    values: tuple[Any, ...]
    keys: frozenset[Hashable]

    def negated(self) -> Formula:
        kind = kind_of(self.values[0]) if self.values else ""
        if kind in (ARRAY, OBJECT):
            return All(tuple(-self._structure(value) for value in self.values))
        return NotAmong(self.place, self.values, self.keys)

    def holds(self, value: Any, judge: Judge) -> bool:
        return identity(value) in self.keys

    def _structure(self, value: Any) -> int:
        """The literal of a schema, without enum and const on top, that only
        ``value`` satisfies."""
        path = (*self.place.schema.path, self.place.keyword)
        key = ("constant", identity(value))
        return self.place.document.synthetic(path, _structure(value), key)


@dataclass(frozen=True, slots=True, eq=False)
class NotAmong(Fact):
    """The scalar equals none of ``values``."""

    values: tuple[Any, ...]
    keys: frozenset[Hashable]

    def negated(self) -> Formula:
        return Among(self.place, self.values, self.keys)

    def holds(self, value: Any, judge: Judge) -> bool:
        return identity(value) not in self.keys


@dataclass(frozen=True, slots=True, eq=False)
class Constants:
    """The shape of finitely many values, all of one kind."""

    values: tuple[Any, ...]


def _structure(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        items = [{"const": item} for item in value]
        return {
            "type": "array",
            "prefixItems": items,
            "minItems": len(items),
            "maxItems": len(items),
        }
    return {
        "type": "object",
        "properties": {name: {"const": item} for name, item in value.items()},
        "required": list(value),
        "additionalProperties": False,
    }
