"""Hostile schemas: typed errors at once, with the place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from stcon.errors import LimitError, SchemaError
from stcon.syntax.json_schema import compile_schema
from stcon.syntax.json_schema.load import MAX_VALUES, load
from stcon.syntax.rules import Expr, Not, Repeat


def _shared(levels: int) -> dict[str, Any]:
    """One dict that stands at two places on every level."""
    schema: dict[str, Any] = {"type": "null"}
    for _ in range(levels):
        schema = {"if": schema, "then": schema}
    return schema


class _Endless(Mapping[str, Any]):
    """A mapping that never ends."""

    def __getitem__(self, key: str) -> Any:
        return 1

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        while True:
            yield "a"


@pytest.mark.parametrize("schema", [_shared(25), {"enum": [_Endless()]}])
def test_too_many_values(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match=f"more than {MAX_VALUES:,} values"):
        load(schema)


@pytest.mark.parametrize(
    "schema",
    [
        _shared(12),
        {"type": "null", "allOf": [_shared(14)]},
        {"type": "array", "items": {"enum": list(range(500))}, "uniqueItems": True},
    ],
)
def test_limits(schema: dict[str, Any]) -> None:
    with pytest.raises(LimitError):
        compile_schema(schema)


def test_few_levels_of_shared_dicts() -> None:
    assert compile_schema(_shared(5)).report["enforced"] == ["if", "then", "type"]


def _one_of(count: int) -> dict[str, Any]:
    return {"oneOf": [{"pattern": f"a{i}$"} for i in range(count)]}


def test_many_patterns() -> None:
    with pytest.raises(LimitError):
        compile_schema(_one_of(2_000))
    rules = compile_schema({"type": "string", **_one_of(200)}).rules
    have = len(expr_nodes(rules.rules[rules.start]))
    assert have < 10_000, "every pattern is encoded once"


def expr_nodes(root: Expr) -> set[Expr]:
    """All nodes below ``root``, shared ones once."""
    seen, todo = {root}, [root]
    while todo:
        node = todo.pop()
        parts = [*getattr(node, "items", ())]
        parts += [node.item] if isinstance(node, (Not, Repeat)) else []
        todo += [part for part in parts if part not in seen]
        seen.update(parts)
    return seen
