"""Instances with their keys in the order in which a schema declares them.

stcon writes keys in declared order, and so do some peers; the instances of a
file come in any.  What counts at one place is every ``properties`` that applies
there: of the schema itself, and through ``$ref``, ``allOf``, ``anyOf``,
``oneOf``, ``if``, ``then``, ``else`` and ``dependentSchemas``; the first mention
wins.  Keys that are declared come first, then those that are only required,
then those that ``propertyNames`` lists, then the others as they are.

Alternatives may declare the same keys in different orders, and the schema alone
does not tell which one an instance is of.  So there are up to four orders:
alternatives after what always applies or where they stand, those that look as
if they fit first or as they come.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product
from typing import Any

from stcon.bench.local_refs import resolve
from stcon.bench.may_fit import may_fit

_MAX_DEPTH = 100
_REFERENCES = ("$ref", "$recursiveRef", "$dynamicRef")
_ALWAYS = (*_REFERENCES, "allOf")
_CHOICES = ("anyOf", "oneOf", "if", "dependentSchemas", "dependencies")

Statement = tuple[str, Any, dict[str, Any]]
"""A keyword, its value and the schema around it."""


def declared_orders(schema: Any, value: Any) -> list[Any]:
    """``value`` in the orders that ``schema`` may mean, each once, the most
    likely first."""
    found: dict[str, Any] = {}
    for in_place, fits_first in product((False, True), (True, False)):
        ordered = _Order(schema, fits_first, in_place).arranged(value, [schema])
        found.setdefault(json.dumps(ordered), ordered)
    return list(found.values())


class _Order:
    """One way to order.  ``fits_first``: alternatives that look as if they fit
    come before the others.  ``in_place``: keywords count as they come; else
    alternatives count after all that always applies."""

    def __init__(self, root: Any, fits_first: bool, in_place: bool) -> None:
        self._root = root
        self._fits_first = fits_first
        self._in_place = in_place
        self._depth = 0

    def arranged(self, value: Any, schemas: list[Any]) -> Any:
        """``value``, to which ``schemas`` apply, with all keys in order."""
        if not isinstance(value, (dict, list)) or self._depth > _MAX_DEPTH:
            return value
        said = list(self._said(schemas, value))
        self._depth += 1
        arranged: Any
        if isinstance(value, list):
            arranged = [
                self.arranged(item, list(_of_item(said, at)))
                for at, item in enumerate(value)
            ]
        else:
            arranged = {
                name: self.arranged(value[name], list(_of_key(said, name)))
                for name in _names(said, value)
            }
        self._depth -= 1
        return arranged

    def _said(self, schemas: list[Any], value: Any) -> Iterator[Statement]:
        """What the schemas and all below them say of ``value`` itself."""
        seen: set[int] = set()
        todo = schemas
        while todo:
            later: list[Any] = []
            for schema in todo:
                yield from self._walk(schema, value, seen, later)
            todo = later

    def _walk(
        self, schema: Any, value: Any, seen: set[int], later: list[Any]
    ) -> Iterator[Statement]:
        if not isinstance(schema, dict) or id(schema) in seen:
            return
        seen.add(id(schema))
        for keyword, item in schema.items():
            yield keyword, item, schema
            if keyword in _CHOICES and not self._in_place:
                later += self._below(keyword, item, schema, value)
            elif keyword in _ALWAYS or keyword in _CHOICES:
                for below in self._below(keyword, item, schema, value):
                    yield from self._walk(below, value, seen, later)

    def _below(
        self, keyword: str, item: Any, schema: dict[str, Any], value: Any
    ) -> list[Any]:
        """The subschemas of a keyword that may apply to ``value`` too."""
        if keyword in _REFERENCES:
            return [resolve(self._root, item)]
        if keyword == "if":
            then = [item, schema.get("then")]
            other = [schema.get("else")]
            return then + other if self._fits(item, value) else other + then
        if keyword in ("dependentSchemas", "dependencies"):
            found = item if isinstance(item, dict) and isinstance(value, dict) else {}
            return [found[name] for name in found if name in value]
        alternatives = list(item) if isinstance(item, list) else []
        if keyword in ("anyOf", "oneOf"):
            alternatives.sort(key=lambda one: not self._fits(one, value))
        return alternatives

    def _fits(self, schema: Any, value: Any) -> bool:
        """Whether ``schema`` looks as if it fits; True where that is not asked."""
        return not self._fits_first or may_fit(self._root, schema, value)


def _names(said: list[Statement], value: dict[str, Any]) -> list[str]:
    """The keys of ``value`` in order."""
    names: dict[str, None] = {}
    for wanted, listed in _LISTS:
        for keyword, item, _ in said:
            if keyword == wanted:
                names.update(dict.fromkeys(listed(item)))
    names.update(dict.fromkeys(value))
    return [name for name in names if name in value]


def _keys(item: Any) -> list[str]:
    return list(item) if isinstance(item, dict) else []


def _texts(item: Any) -> list[str]:
    return [n for n in item if isinstance(n, str)] if isinstance(item, list) else []


def _dependents(item: Any) -> list[str]:
    needed = item.values() if isinstance(item, dict) else ()
    return [name for names in needed for name in _texts(names)]


def _listed_names(item: Any) -> list[str]:
    return _texts(item.get("enum")) if isinstance(item, dict) else []


_LISTS = (
    ("properties", _keys),
    ("required", _texts),
    ("dependentRequired", _dependents),
    ("dependencies", _dependents),
    ("propertyNames", _listed_names),
)


def _of_key(said: list[Statement], name: str) -> Iterator[Any]:
    """The schemas that apply to the value of the key ``name``."""
    for keyword, item, schema in said:
        if keyword == "properties" and name in _keys(item):
            yield item[name]
        elif keyword == "patternProperties":
            yield from (item[p] for p in _keys(item) if _matches(p, name))
        elif keyword == "unevaluatedProperties" or (
            keyword == "additionalProperties" and not _claims(schema, name)
        ):
            yield item


def _claims(schema: dict[str, Any], name: str) -> bool:
    """Whether ``properties`` or ``patternProperties`` speak of the key."""
    patterns = _keys(schema.get("patternProperties"))
    return name in _keys(schema.get("properties")) or any(
        _matches(pattern, name) for pattern in patterns
    )


def _matches(pattern: str, name: str) -> bool:
    """As Python reads the pattern; False where it cannot."""
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return False


def _of_item(said: list[Statement], at: int) -> Iterator[Any]:
    """The schemas that apply to item ``at`` of an array."""
    for keyword, item, schema in said:
        if keyword in ("prefixItems", "items") and isinstance(item, list):
            yield from item[at : at + 1]
        elif keyword == "items":
            if at >= len(schema.get("prefixItems", ())):
                yield item
        elif keyword == "additionalItems":
            first = schema.get("items")
            if isinstance(first, list) and at >= len(first):
                yield item
        elif keyword in ("contains", "unevaluatedItems"):
            yield item
