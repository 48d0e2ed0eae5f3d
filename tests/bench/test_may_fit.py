"""The quick look at alternatives: False only where jsonschema says invalid."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from stcon.bench.may_fit import may_fit

_A_B = {"a": {"type": "string"}, "b": {"const": 1}}
_SCHEMAS: list[Any] = [
    True,
    False,
    {"type": "integer"},
    {"type": ["number", "null"]},
    {"type": "boolean"},
    {"const": 1},
    {"const": True},
    {"enum": ["x", None, 2]},
    {"required": ["a"]},
    {"properties": _A_B},
    {"properties": _A_B, "additionalProperties": False},
    {"patternProperties": {"^z": {}}, "additionalProperties": False},
    {"items": {"type": "string"}},
    {"prefixItems": [{}], "items": False},
    {"$ref": "#/$defs/s", "$defs": {"s": {"type": "object"}}},
    {"allOf": [{"type": "object"}, {"required": ["b"]}]},
    {"anyOf": [{"type": "string"}, {"properties": {"a": False}}]},
    {"oneOf": [{"type": "null"}, {"type": "array"}]},
    {"$ref": "#"},
]
_VALUES: list[Any] = [
    None,
    True,
    1,
    1.0,
    2.5,
    "x",
    {"a": "x"},
    {"a": 1, "b": 1},
    {"b": 1},
    {"z": []},
    [],
    ["x"],
    [1, "x"],
]


@pytest.mark.parametrize("schema", _SCHEMAS, ids=str)
def test_false_is_right(schema: Any) -> None:
    judge = jsonschema.Draft202012Validator(schema)
    for value in _VALUES:
        if not may_fit(schema, schema, value):
            assert not judge.is_valid(value), value


_TELLS_APART = {
    "type": ({"type": "integer"}, 1, "1"),
    "const": ({"const": "a"}, "a", "b"),
    "enum": ({"enum": [1, 2]}, 2, 3),
    "required": ({"required": ["a"]}, {"a": 1}, {}),
    "property": ({"properties": _A_B}, {"b": 1}, {"b": 2}),
    "closed": ({"additionalProperties": False}, {}, {"a": 1}),
    "items": ({"items": {"type": "null"}}, [None], [None, 1]),
    "ref": ({"$ref": "#/$defs/s"}, "x", 1),
    "allOf": ({"allOf": [{}, {"type": "string"}]}, "x", 1),
    "anyOf": ({"anyOf": [{"type": "string"}, {"const": 1}]}, 1, 2),
}


@pytest.mark.parametrize("name", _TELLS_APART)
def test_what_it_knows(name: str) -> None:
    schema, good, bad = _TELLS_APART[name]
    root = {"$defs": {"s": {"type": "string"}}}
    assert may_fit(root, schema, good)
    assert not may_fit(root, schema, bad)


@pytest.mark.parametrize(
    "schema", [{"type": 5}, {"enum": 1}, {"required": 1}, {"allOf": 1}, {"oneOf": 1}, 7]
)
def test_what_is_no_schema_may_fit(schema: Any) -> None:
    assert may_fit({}, schema, {"a": 1})
