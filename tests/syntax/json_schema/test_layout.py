"""Whitespace: pretty is what ``json.dumps`` writes, bounded stops, free does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stcon.errors import SchemaError
from stcon.syntax.json_schema import compile_schema
from tests.syntax.json_schema.world import matcher

SCHEMA = {
    "type": "object",
    "properties": {
        "a": {
            "type": "array",
            "items": {"type": "array", "items": {"type": "integer"}},
        },
        "b": {"enum": [{"x": [1, {}], "y": {}}, []]},
        "c": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    "additionalProperties": False,
}
VALUES: list[Any] = [
    {},
    {"a": []},
    {"a": [[]]},
    {"a": [[1, 2], [], [3]], "b": {"x": [1, {}], "y": {}}, "c": {"k": 1, "l": 2}},
    {"b": [], "c": {}},
]


@pytest.mark.parametrize("indent", [0, 2, 4])
@pytest.mark.parametrize("value", VALUES)
def test_pretty(value: Any, indent: int) -> None:
    compiled = compile_schema(SCHEMA, whitespace="pretty", indent=indent)
    matches = matcher(compiled.rules)
    assert matches(json.dumps(value, indent=indent).encode())
    other = json.dumps(value, indent=indent + 1)
    assert matches(other.encode()) == ("\n" not in other)


@pytest.mark.parametrize("value", VALUES)
def test_spaced(value: Any) -> None:
    matches = matcher(compile_schema(SCHEMA, whitespace="spaced").rules)
    assert matches(json.dumps(value).encode())
    compact = json.dumps(value, separators=(",", ":"))
    assert matches(compact.encode()) == (compact == json.dumps(value))


def test_spaced_values_of_any_kind() -> None:
    matches = matcher(compile_schema({}, whitespace="spaced").rules)
    value = {"a": [1, {"b": [None, True, {}]}], "c": {"d": "e"}}
    assert matches(json.dumps(value).encode())
    assert not matches(json.dumps(value, separators=(",", ":")).encode())


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("whitespace", ["bounded", "free"])
def test_loose(value: Any, whitespace: str) -> None:
    matches = matcher(compile_schema(SCHEMA, whitespace=whitespace).rules)
    for indent in (None, 0, 1, 2):
        assert matches(json.dumps(value, indent=indent).encode())
    assert matches(json.dumps(value, separators=(",", ":")).encode())
    assert not matches(b" " + json.dumps(value).encode())
    assert not matches(json.dumps(value).encode() + b"\n")


def test_bounded_stops() -> None:
    rules = compile_schema(SCHEMA, whitespace="bounded", max_blanks=3).rules
    matches = matcher(rules)
    assert matches(b'{ \n\t"a" : [   ]}')
    assert not matches(b'{"a":[    ]}')


def test_pretty_refuses_recursion() -> None:
    schema = {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False}
    with pytest.raises(SchemaError, match="cannot indent"):
        compile_schema({**schema, "type": "object"}, whitespace="pretty")


@pytest.mark.parametrize(
    "options", [{"whitespace": "tabs"}, {"key_order": "sorted"}, {"indent": 99}]
)
def test_options_there_are_none_of(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"is|must be"):
        compile_schema(SCHEMA, **{"whitespace": "pretty", **options})
