"""Which subschemas say the same: equal JSON, whatever their annotations.

Generated schemas repeat themselves.  Equal subschemas that share a number
contradict each other when one is denied, so alternatives that differ in one place
need no look at the others.  Linear in the schema.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from stcon.syntax.json_schema.names import (
    ANNOTATIONS,
    CONTAINERS,
    SCHEMA_KEYWORDS,
    SCHEMA_MAPS,
)
from stcon.syntax.json_schema.pointers import Path

_SILENT = ANNOTATIONS | CONTAINERS
_MAPS = SCHEMA_MAPS - CONTAINERS


class Contents:
    """Keys that equal subschemas share, each found once."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        # by the id of a schema, which is kept, so that the id stays its own
        self._known: dict[int, tuple[dict[str, Any], int]] = {}

    def of(self, schema: dict[str, Any]) -> int:
        """The number of all subschemas that are equal to ``schema``."""
        known = self._known.get(id(schema))
        if known is not None:
            return known[1]
        key = tuple(
            (name, self._value(name, item))
            for name, item in schema.items()
            if name not in _SILENT
        )
        number = self._numbers.setdefault(key, len(self._numbers))
        self._known[id(schema)] = schema, number
        return number

    def _value(self, keyword: str, value: Any) -> Hashable:
        if isinstance(value, dict):
            if keyword in SCHEMA_KEYWORDS:
                return self.of(value)
            if keyword in _MAPS:
                return tuple((name, self._part(item)) for name, item in value.items())
        elif isinstance(value, list) and keyword in SCHEMA_KEYWORDS:
            return tuple(self._part(item) for item in value)
        return _data(value)

    def _part(self, value: Any) -> Hashable:
        return self.of(value) if isinstance(value, dict) else _data(value)


def _data(value: Any) -> Hashable:
    """A key that equal JSON shares; 1, 1.0 and true are different."""
    if isinstance(value, dict):
        return (dict, *((name, _data(item)) for name, item in value.items()))
    if isinstance(value, list):
        return (list, *map(_data, value))
    return value if isinstance(value, str) else (type(value), value)


def annotation_places(path: Path, schema: dict[str, Any]) -> Iterator[Path]:
    """The places of all annotations in and below a schema at ``path``."""
    todo: list[tuple[Path, Any]] = [(path, schema)]
    while todo:
        path, schema = todo.pop()
        if not isinstance(schema, dict):
            continue
        for name, item in schema.items():
            if name in ANNOTATIONS:
                yield (*path, name)
            elif name in _MAPS and isinstance(item, dict):
                todo += [((*path, name, key), part) for key, part in item.items()]
            elif name in SCHEMA_KEYWORDS:
                parts = enumerate(item) if isinstance(item, list) else ()
                todo.append(((*path, name), item))
                todo += [((*path, name, place), part) for place, part in parts]
