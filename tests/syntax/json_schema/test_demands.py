"""Objects some key of which must meet a demand: each valid object can be written,
and what a reader makes of a text that repeats a key is valid too."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from stcon.errors import LimitError, SchemaError
from stcon.syntax.json_schema import compile_schema
from tests.syntax.json_schema.world import matcher

KEYS = ["a", "ab", "-", "-b", "c"]
VALUES = [1, "s"]
OBJECTS = [
    dict(zip(keys, values, strict=True))
    for size in range(4)
    for keys in itertools.combinations(KEYS, size)
    for values in itertools.product(VALUES, repeat=size)
]
PAIRS = [f"{json.dumps(k)}:{json.dumps(v)}" for k in KEYS[1:4] for v in VALUES]


def no_name(pattern: str) -> dict[str, Any]:
    """Some key matches ``pattern``."""
    return {"not": {"propertyNames": {"not": {"pattern": pattern}}}}


def no_key(pattern: str) -> dict[str, Any]:
    """Some key matches ``pattern``, said of its value."""
    return {"not": {"patternProperties": {pattern: False}}}


NOT_ONLY_NUMBERS = {"not": {"additionalProperties": {"type": "integer"}}}
OBJ = {"type": "object"}

SCHEMAS: list[dict[str, Any]] = [
    {**OBJ, "allOf": [no_name("a"), no_name("-")]},
    {**OBJ, "allOf": [no_name("a"), no_name("b"), no_name("-")]},
    {**OBJ, "allOf": [no_key("a"), no_name("-")], "properties": {"a": {}, "c": {}}},
    {**OBJ, "allOf": [no_name("a"), no_name("b")], "maxProperties": 2},
    {**OBJ, "allOf": [no_name("a"), no_name("b")], "required": ["c"]},
    {**OBJ, "allOf": [no_name("^a$"), no_name("b"), no_name("c")], "maxProperties": 2},
    {**OBJ, "allOf": [no_name("a"), NOT_ONLY_NUMBERS]},
    {**OBJ, "allOf": [no_name("b"), no_name("-"), NOT_ONLY_NUMBERS]},
    {**OBJ, "allOf": [no_key("b"), NOT_ONLY_NUMBERS], "maxProperties": 2},
    {**OBJ, "allOf": [no_key("b"), NOT_ONLY_NUMBERS], "minProperties": 1,
     "properties": {"c": {"type": "integer"}}},
    {**OBJ, "not": {"anyOf": [
        {"patternProperties": {"a": False}, "additionalProperties": False},
        {"patternProperties": {"b": False}, "additionalProperties": False}]}},
]  # fmt: skip


@pytest.mark.parametrize("order", ["declared", "any"])
@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda s: json.dumps(s)[:80])
def test_demands(schema: dict[str, Any], order: str) -> None:
    matches = matcher(compile_schema(schema, key_order=order).rules)
    oracle = Draft202012Validator(schema)
    for value in OBJECTS:
        pairs = [f"{json.dumps(k)}:{json.dumps(v)}" for k, v in value.items()]
        texts = ["{" + ",".join(p) + "}" for p in itertools.permutations(pairs)]
        have = any(matches(text.encode()) for text in texts)
        assert have == oracle.is_valid(value), value
    for size in range(4):
        for chosen in itertools.product(PAIRS, repeat=size):
            text = "{" + ",".join(chosen) + "}"
            if matches(text.encode()):
                assert oracle.is_valid(json.loads(text)), text


@pytest.mark.parametrize("order", ["declared", "any"])
def test_values_of_several_keys(order: str) -> None:
    """Two keys would each need a value; one key twice would pass for them."""
    texts = {"not": {"additionalProperties": {"type": "string"}}}
    schema = {**OBJ, "allOf": [NOT_ONLY_NUMBERS, texts]}
    with pytest.raises(SchemaError, match="several keys") as caught:
        compile_schema(schema, key_order=order)
    assert caught.value.keyword == "additionalProperties"
    leave = {"additionalProperties"}
    assert compile_schema(schema, key_order=order, allow_unenforced=leave)


def test_too_many_demands() -> None:
    schema = {**OBJ, "allOf": [no_name(c) for c in "abcdefgh"]}
    assert compile_schema(schema)
    with pytest.raises(LimitError, match="more than 100 sets"):
        compile_schema(schema, max_sets=100)
