"""A quick look whether a schema may accept a value: for ordering alternatives.

True promises nothing.  False is right for the keywords it knows: ``type``,
``const``, ``enum``, ``required``, ``properties``, ``additionalProperties:
false``, ``items``, ``$ref``, ``allOf``, ``anyOf`` and ``oneOf``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stcon.bench.local_refs import resolve

_MAX_DEPTH = 6
_MAX_ITEMS = 8  # of an array; enough to tell alternatives apart

_TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda v: v is None,
    "boolean": lambda v: isinstance(v, bool),
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "integer": lambda v: (
        (isinstance(v, int) and not isinstance(v, bool))
        or (isinstance(v, float) and v.is_integer())
    ),
}


def may_fit(root: Any, schema: Any, value: Any, depth: int = 0) -> bool:
    """Whether ``schema``, part of ``root``, may accept ``value``."""
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return True
    look = _Look(root, schema, value, depth + 1)
    return all(_CHECKS[name](look, schema[name]) for name in _CHECKS if name in schema)


class _Look:
    """One value beside one schema; a method for each keyword says whether the value
    may meet it, true where the keyword itself is not well formed."""

    def __init__(self, root: Any, schema: dict[str, Any], value: Any, depth: int):
        self.root, self.schema, self.value, self.depth = root, schema, value, depth

    def fits(self, schema: Any, value: Any) -> bool:
        return may_fit(self.root, schema, value, self.depth)

    def type(self, wanted: Any) -> bool:
        names = wanted if isinstance(wanted, list) else [wanted]
        return any(
            not isinstance(name, str) or _TYPES.get(name, lambda v: True)(self.value)
            for name in names
        )

    def const(self, wanted: Any) -> bool:
        return _are_equal(self.value, wanted)

    def enum(self, wanted: Any) -> bool:
        if not isinstance(wanted, list):
            return True
        return any(_are_equal(self.value, item) for item in wanted)

    def required(self, wanted: Any) -> bool:
        if not isinstance(self.value, dict) or not isinstance(wanted, list):
            return True
        return all(not isinstance(n, str) or n in self.value for n in wanted)

    def properties(self, wanted: Any) -> bool:
        if not isinstance(self.value, dict) or not isinstance(wanted, dict):
            return True
        return all(
            self.fits(item, self.value[name])
            for name, item in wanted.items()
            if name in self.value
        )

    def additional(self, wanted: Any) -> bool:
        if wanted is not False or not isinstance(self.value, dict):
            return True
        if "patternProperties" in self.schema:
            return True
        return set(self.value) <= set(self.schema.get("properties", ()))

    def items(self, wanted: Any) -> bool:
        if not isinstance(self.value, list) or isinstance(wanted, list):
            return True
        if "prefixItems" in self.schema:
            return True
        return all(self.fits(wanted, item) for item in self.value[:_MAX_ITEMS])

    def ref(self, wanted: Any) -> bool:
        return self.fits(resolve(self.root, wanted), self.value)

    def all_of(self, wanted: Any) -> bool:
        items = wanted if isinstance(wanted, list) else []
        return all(self.fits(item, self.value) for item in items)

    def any_of(self, wanted: Any) -> bool:
        items = wanted if isinstance(wanted, list) else [True]
        return any(self.fits(item, self.value) for item in items)


_CHECKS: dict[str, Callable[[_Look, Any], bool]] = {
    "type": _Look.type,
    "const": _Look.const,
    "enum": _Look.enum,
    "required": _Look.required,
    "additionalProperties": _Look.additional,
    "properties": _Look.properties,
    "items": _Look.items,
    "$ref": _Look.ref,
    "allOf": _Look.all_of,
    "anyOf": _Look.any_of,
    "oneOf": _Look.any_of,
}


def _are_equal(one: Any, other: Any) -> bool:
    """Equality of JSON values, except that true inside of containers equals 1."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
