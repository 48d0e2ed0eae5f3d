"""``key_order="any"``: every permutation of the pairs of a valid object, and no
text that repeats a named key."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from stcon.errors import LimitError, SchemaError
from stcon.syntax.json_schema import compile_schema
from tests.syntax.json_schema.world import TEXTS, matcher

OBJ = {"type": "object"}
NAMES: dict[str, Any] = {"a": {"type": "integer"}, "b": {}, "c": {"const": 1}}
CLOSED = {"additionalProperties": False}

SCHEMAS: list[dict[str, Any]] = [
    {**OBJ, "properties": NAMES},
    {**OBJ, "properties": NAMES, **CLOSED},
    {**OBJ, "properties": NAMES, "required": ["c", "a"]},
    {**OBJ, "properties": NAMES, "required": ["c", "b"], **CLOSED},
    {**OBJ, "properties": {"a": {}, "b": False}, "required": ["d"]},
    {**OBJ, "required": ["d", "a"], "additionalProperties": {"type": "integer"}},
    {**OBJ, "properties": NAMES, "minProperties": 2, **CLOSED},
    {**OBJ, "properties": NAMES, "minProperties": 1, "maxProperties": 2},
    {**OBJ, "properties": NAMES, "maxProperties": 1},
    {**OBJ, "required": ["b"], "minProperties": 2, "maxProperties": 3},
    {**OBJ, "properties": NAMES, "dependentRequired": {"a": ["b"], "c": ["a"]}},
    {**OBJ, "properties": NAMES, "not": {"required": ["a", "b"]}},
    {**OBJ, "properties": NAMES, "propertyNames": {"enum": ["a", "b", "d"]}},
    {**OBJ, "properties": {"a": {}}, "patternProperties": {"^[bc]": {"minimum": 1}}},
    {**OBJ, "properties": {"b": {"type": "string"}}, "if": {"required": ["a"]},
     "then": {"required": ["b"]}},
    {**OBJ, "properties": {"a": {"properties": {"b": {}, "a": {}}}, "d": {}}},
    {**OBJ, "not": {"properties": {"a": {"type": "integer"}, "b": {"const": 1}}},
     **CLOSED, "properties": {"a": {}, "b": {}, "c": {}}},
    {"items": {"properties": {"a": {}, "b": {}}}},
    {"properties": {"a": {"$ref": "#"}, "b": {}}, **CLOSED},
]  # fmt: skip


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda s: json.dumps(s)[:70])
def test_every_order(schema: dict[str, Any]) -> None:
    matches = matcher(compile_schema(schema, key_order="any").rules)
    oracle = Draft202012Validator(schema)
    for value, texts in TEXTS:
        want = oracle.is_valid(value)
        assert all(matches(text) == want for text in texts), (value, want)


@pytest.mark.parametrize("schema", SCHEMAS[:8], ids=lambda s: json.dumps(s)[:70])
def test_repeated_names(schema: dict[str, Any]) -> None:
    matches = matcher(compile_schema(schema, key_order="any").rules)
    named = {*schema.get("properties", ()), *schema.get("required", ())}
    for keys in itertools.product("abcde", repeat=3):
        text = "{" + ",".join(f'"{key}":1' for key in keys) + "}"
        if any(keys.count(name) > 1 for name in named):
            assert not matches(text.encode()), text


# A key without a name that meets a demand is the last such key.
DEMANDS: list[dict[str, Any]] = [
    {**OBJ, "not": {"additionalProperties": {"type": "integer"}}},
    {**OBJ, "properties": {"a": {}, "b": {"type": "integer"}},
     "not": {"additionalProperties": {"type": "integer"}, "properties": {"a": {}}}},
    {**OBJ, "properties": {"ab": {}, "b": {}}, "not": {"propertyNames":
     {"maxLength": 1}}},
    {**OBJ, "properties": {"a": {}}, "minProperties": 1, "maxProperties": 2,
     "not": {"patternProperties": {"^x": {"type": "string"}}}},
]  # fmt: skip


@pytest.mark.parametrize("schema", DEMANDS, ids=lambda s: json.dumps(s)[:70])
def test_demands(schema: dict[str, Any]) -> None:
    matches = matcher(compile_schema(schema, key_order="any").rules)
    declared = matcher(compile_schema(schema).rules)
    oracle = Draft202012Validator(schema)
    for value, texts in TEXTS:
        have = [matches(text) for text in texts]
        assert any(have) == oracle.is_valid(value), value
        assert all(matches(text) for text in texts if declared(text)), value


def test_repeated_keys_change_nothing() -> None:
    """What a reader makes of a text (the last of equal keys) is valid."""
    for schema in [*SCHEMAS[:14], *DEMANDS]:
        matches = matcher(compile_schema(schema, key_order="any").rules)
        oracle = Draft202012Validator(schema)
        for text in _texts_of_three():
            if matches(text.encode()):
                assert oracle.is_valid(json.loads(text)), (schema, text)


def _texts_of_three() -> Iterator[str]:
    pairs = [f'"{key}":{value}' for key in "abe" for value in ("1", '"a"')]
    for size in range(4):
        for chosen in itertools.product(pairs, repeat=size):
            yield "{" + ",".join(chosen) + "}"


def _wide(count: int) -> dict[str, Any]:
    names = {f"k{n}": {"const": 1} for n in range(count)}
    return {"properties": {"x": {**OBJ, "properties": names, **CLOSED}}}


def test_twelve_names_fit() -> None:
    rules = compile_schema(_wide(12), key_order="any").rules
    matches = matcher(compile_schema(_wide(6), key_order="any").rules)
    assert rules.start == "start"
    pairs = [f'"k{n}":1' for n in (3, 1, 5, 0, 2)]
    assert matches(('{"x":{' + ",".join(pairs) + "}}").encode())


@pytest.mark.parametrize(("count", "sets"), [(13, 4096), (5, 31), (400, 4096)])
def test_too_many_names(count: int, sets: int) -> None:
    with pytest.raises(LimitError) as caught:
        compile_schema(_wide(count), key_order="any", max_sets=sets)
    assert caught.value.limit == sets
    where = "#/properties/x/properties"
    for part in (f"{sets:,} sets", "max_sets", where, 'key_order="declared"'):
        assert part in str(caught.value)


def test_too_many_keys_without_a_name() -> None:
    schema = {**OBJ, "properties": NAMES, "minProperties": 2}
    with pytest.raises(SchemaError, match="minProperties is not enforced"):
        compile_schema(schema, key_order="any")
    compile_schema(schema, key_order="any", allow_unenforced={"minProperties"})


def test_constants_stay_canonical() -> None:
    matches = matcher(
        compile_schema({"const": {"b": 1, "a": 2}}, key_order="any").rules
    )
    assert matches(b'{"b":1,"a":2}') and not matches(b'{"a":2,"b":1}')


def test_there_is_no_other_order() -> None:
    with pytest.raises(ValueError, match="key_order"):
        compile_schema({}, key_order="sorted")
    with pytest.raises(ValueError, match="max_sets"):
        compile_schema({}, max_sets=0)
