"""Every small value, for a table of schemas: it can be written, with its keys in
some order, exactly when the ``jsonschema`` package calls it valid."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft4Validator, Draft7Validator, Draft202012Validator

from stcon.syntax.json_schema import compile_schema
from tests.syntax.json_schema.world import TEXTS, matcher

A_INT = {"properties": {"a": {"type": "integer"}}}
B_STR = {"properties": {"b": {"type": "string"}}}
LIST = {"type": "array"}
OBJ = {"type": "object"}

SCHEMAS: dict[str, list[Any]] = {
    "booleans": [True, False, {}, {"not": {}}, {"not": False}],
    "type": [
        {"type": "integer"},
        {"type": "number"},
        {"type": ["string", "null"]},
        {"type": ["integer", "object"]},
        {"type": "boolean"},
    ],
    "constants": [
        {"enum": [1, "a", None, [1], {"a": 1}]},
        {"enum": [0, False, 1, True, 1.5]},
        {"enum": [1.0, "ab", [], {}], "type": ["integer", "array", "string"]},
        {"enum": ["a", "ab", "abc"], "minLength": 2, "pattern": "c|^ab$"},
        {"enum": [1, 2, 3, 10], "minimum": 2, "not": {"const": 3}},
        {"const": {"a": [1], "b": {}}},
        {"const": [0, 1]},
        {"enum": [{"a": 1}, {"b": 2}], "required": ["a"]},
        {"enum": [[0, 1], [1, 2]], "items": {"minimum": 1}},
    ],
    "not constants": [
        {"not": {"const": 1}},
        {"not": {"const": "a"}},
        {"not": {"const": [0, 1]}},
        {"not": {"enum": [{"a": 1}, [], {}, "ab", 10, None]}},
        {"type": "string", "not": {"enum": ["", "a", "ab"]}},
        {"type": "integer", "not": {"enum": [0, 10]}},
        {**OBJ, "not": {"enum": [{"a": 1}, {"a": 2}, {"b": 1}]}},
        {**LIST, "not": {"enum": [[1], [2], [0, 1], [1, 0]]}},
        {**OBJ, "not": {"const": {"a": 1}, "properties": {"a": {"minimum": 1}}}},
    ],
    "numbers": [
        {"type": "integer", "minimum": 1},
        {"type": "integer", "maximum": 1},
        {"type": "integer", "minimum": -1, "exclusiveMaximum": 3},
        {"type": "integer", "exclusiveMinimum": 0.5, "maximum": 9.9},
        {"type": "number", "minimum": 0.5},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1.5},
        {"type": "number", "minimum": -2.25, "exclusiveMaximum": 1},
        {"type": "number", "minimum": 0},
        {"type": "number", "exclusiveMaximum": 0},
        {"minimum": 1, "maximum": 1},
        {"type": "integer", "multipleOf": 2},
        {"type": "integer", "multipleOf": 3, "minimum": 1},
        {"multipleOf": 0.5},
        {"multipleOf": 0.75, "not": {"type": "integer"}},
        {"type": "number", "not": {"multipleOf": 1}},
        {"type": "integer", "not": {"multipleOf": 5}},
        {"type": "number", "not": {"minimum": 1}},
        {"type": "number", "not": {"type": "integer"}},
    ],
    "strings": [
        {"type": "string", "minLength": 1, "maxLength": 2},
        {"type": "string", "pattern": "^a"},
        {"pattern": "b", "maxLength": 2},
        {"type": "string", "not": {"pattern": "b"}},
        {"not": {"maxLength": 1}},
        {"type": "string", "allOf": [{"pattern": "a"}, {"pattern": "b$"}]},
    ],
    "arrays": [
        {"items": {"type": "integer"}},
        {**LIST, "items": False},
        {**LIST, "items": {"type": ["integer", "string"]}, "minItems": 1},
        {**LIST, "minItems": 1, "maxItems": 2},
        {**LIST, "prefixItems": [{"const": 0}, {"type": "string"}]},
        {**LIST, "prefixItems": [{"const": 0}, False], "minItems": 1},
        {**LIST, "prefixItems": [{"type": "integer"}], "items": {"const": "a"}},
        {**LIST, "prefixItems": [{}, {}], "items": False, "minItems": 2},
        {**LIST, "not": {"items": {"type": "integer"}}},
        {**LIST, "not": {"minItems": 2}},
        {**LIST, "not": {"prefixItems": [{"const": 0}, {"const": 1}]}},
        {**LIST, "contains": {"const": 1}},
        {**LIST, "contains": {"type": "string"}, "minContains": 2},
        {**LIST, "contains": {"const": 1}, "maxContains": 1},
        {**LIST, "contains": {"const": 1}, "minContains": 0, "maxContains": 1},
        {**LIST, "contains": {"const": 1}, "minContains": 0, "maxContains": 0},
        {**LIST, "contains": {"const": 1}, "maxItems": 2},
        {**LIST, "allOf": [{"contains": {"const": 0}}, {"contains": {"const": 1}}]},
        {**LIST, "not": {"contains": {"const": 1}}},
        {**LIST, "contains": {"const": 1}, "prefixItems": [{"type": "string"}]},
        {**LIST, "items": {"enum": [0, 1, "a"]}, "uniqueItems": True},
        {**LIST, "items": {"type": "boolean"}, "uniqueItems": True, "minItems": 1},
        {**LIST, "uniqueItems": True, "maxItems": 1},
        {
            **LIST,
            "items": {"enum": [0, 1, 2]},
            "uniqueItems": True,
            "contains": {"const": 2},
        },
    ],
    "objects": [
        {**OBJ, **A_INT},
        {**OBJ, **A_INT, "required": ["a"]},
        {**OBJ, **A_INT, "additionalProperties": False},
        {**OBJ, **A_INT, "additionalProperties": {"type": "string"}},
        {**OBJ, "required": ["b", "a"], "properties": {"a": {}, "c": {"const": 1}}},
        {"properties": {"a": False}, "additionalProperties": {"const": 1}},
        {"required": ["c"], "additionalProperties": {"type": "integer"}},
        {"properties": {"a": {"required": ["a"]}}, "required": ["a"]},
        {"patternProperties": {"^x-": {"type": "integer"}}},
        {
            "patternProperties": {"^x-": {"type": "integer"}, "a": {"const": 1}},
            "additionalProperties": False,
            **OBJ,
        },
        {
            **OBJ,
            "properties": {"a": {"type": "integer"}, "b": {}},
            "patternProperties": {"[ac]": {"minimum": 1}},
        },
        {**OBJ, "propertyNames": {"maxLength": 1}},
        {**OBJ, "propertyNames": {"enum": ["a", "c"]}},
        {**OBJ, **A_INT, "propertyNames": {"pattern": "^[bc]$"}},
        {**OBJ, "propertyNames": False},
        {**OBJ, "minProperties": 1},
        {**OBJ, "maxProperties": 1},
        {**OBJ, "maxProperties": 0},
        {**OBJ, **A_INT, "minProperties": 1, "maxProperties": 2},
        {
            **OBJ,
            "properties": {"a": {}, "b": {}, "c": {"const": 1}},
            "minProperties": 2,
            "additionalProperties": False,
        },
        {
            **OBJ,
            "properties": {"a": {}, "b": {}, "c": {}},
            "minProperties": 2,
            "required": ["b"],
        },
        {**OBJ, "propertyNames": {"enum": ["a", "b", "c"]}, "minProperties": 2},
        {**OBJ, "not": {"required": ["a"]}},
        {**OBJ, "not": {"required": ["a", "b"]}},
        {**OBJ, "not": A_INT},
        {**OBJ, "not": {"additionalProperties": False, "properties": {"a": {}}}},
        {**OBJ, "not": {"additionalProperties": {"type": "integer"}}},
        {**OBJ, "not": {"propertyNames": {"maxLength": 1}}},
        {**OBJ, "not": {"patternProperties": {"^x": {"type": "string"}}}},
        {**OBJ, "not": {"maxProperties": 0}},
        {**OBJ, "dependentRequired": {"a": ["b"], "c": ["a"]}},
        {**OBJ, "dependentSchemas": {"a": B_STR, "b": {"maxProperties": 1}}},
    ],
    "combinations": [
        {"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 1}]},
        {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"anyOf": [A_INT, B_STR]},
        {**A_INT, "required": ["a"], "anyOf": [B_STR, {"required": ["c"]}]},
        {"allOf": [A_INT, B_STR, {"required": ["a"]}]},
        {
            "allOf": [
                {**A_INT, "additionalProperties": {"type": "integer"}},
                {"properties": {"b": {}}, "additionalProperties": {"minimum": 1}},
            ]
        },
        {"allOf": [{"items": {"type": "integer"}}, {"prefixItems": [{"const": 1}]}]},
        {"oneOf": [{"type": "integer"}, {"minimum": 2}]},
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], **OBJ},
        {"oneOf": [A_INT, B_STR]},
        {"oneOf": [{"type": "string"}, {"maxLength": 1}, {"const": "ab"}]},
        {"not": {"oneOf": [{"type": "string"}, {"maxLength": 1}]}},
        {"oneOf": [{"items": {"type": "integer"}}, {"minItems": 2}], **LIST},
        {
            "properties": {"a": {"enum": [0, 1]}},
            "required": ["a"],
            "oneOf": [
                {"properties": {"a": {"const": 0}, "b": {"type": "string"}}},
                {"properties": {"a": {"const": 1}, "b": {"type": "integer"}}},
            ],
        },
        {"if": {"type": "integer"}, "then": {"minimum": 1}, "else": {"minLength": 1}},
        {"if": A_INT, "then": {"required": ["b"]}, **OBJ},
        {"if": {"required": ["a"]}, "else": {"required": ["b"]}, **OBJ},
        {"if": {"minItems": 2}, "then": {"items": {"type": "integer"}}, **LIST},
        {"if": False, "then": False},
        {"then": False},
        {"not": {"anyOf": [{"type": "array"}, A_INT]}},
        {"not": {"allOf": [{"minimum": 0}, {"type": "integer"}]}},
        {"not": {"not": {"type": "integer"}}},
    ],
    "references": [
        {"$ref": "#/$defs/x", "$defs": {"x": {"type": "integer"}}},
        {"$ref": "#/$defs/x", "minimum": 1, "$defs": {"x": {"type": "integer"}}},
        {
            "$defs": {"x": {"properties": {"a": {"$ref": "#/$defs/x"}}}},
            "$ref": "#/$defs/x",
        },
        {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False},
        {"items": {"$ref": "#"}, "maxItems": 1},
        {"$ref": "#n", "$defs": {"x": {"$anchor": "n", "type": "integer"}}},
        {
            "$id": "http://example.com/root",
            "$ref": "inner",
            "$defs": {
                "x": {
                    "$id": "inner",
                    "$ref": "#/$defs/y",
                    "$defs": {"y": {"type": "string"}},
                }
            },
        },
        {
            "$id": "http://example.com/root",
            "$ref": "#n",
            "$defs": {"x": {"$anchor": "n", "type": "integer"}},
        },
        {
            "anyOf": [{"$ref": "numbers"}, {"$ref": "texts"}],
            "$defs": {
                "list": {
                    "$id": "list",
                    "type": "array",
                    "items": {"$dynamicRef": "#of"},
                    "$defs": {"any": {"$dynamicAnchor": "of"}},
                },
                "numbers": {
                    "$id": "numbers",
                    "$ref": "list",
                    "$defs": {"one": {"$dynamicAnchor": "of", "type": "integer"}},
                },
                "texts": {
                    "$id": "texts",
                    "$ref": "list",
                    "$defs": {"one": {"$dynamicAnchor": "of", "type": "string"}},
                },
            },
        },
    ],
    "unevaluated": [
        {**OBJ, **A_INT, "unevaluatedProperties": False},
        {"allOf": [A_INT], **B_STR, "unevaluatedProperties": False, **OBJ},
        {"anyOf": [A_INT, B_STR], "unevaluatedProperties": False, **OBJ},
        {"anyOf": [{**A_INT, "required": ["a"]}, True], "unevaluatedProperties": False},
        {"oneOf": [A_INT, B_STR], "unevaluatedProperties": False, **OBJ},
        {"if": A_INT, "then": B_STR, "unevaluatedProperties": False, **OBJ},
        {"dependentSchemas": {"a": B_STR}, "unevaluatedProperties": {"minimum": 1}},
        {"$ref": "#/$defs/x", "$defs": {"x": A_INT}, "unevaluatedProperties": False},
        {"prefixItems": [{"const": 0}], "unevaluatedItems": {"type": "string"}},
        {"anyOf": [{"prefixItems": [{"const": 0}]}, True], "unevaluatedItems": False},
        {"allOf": [{"items": True}], "unevaluatedItems": False},
        {**LIST, "contains": {"const": 1}, "unevaluatedItems": {"const": "a"}},
        {**LIST, "contains": {"type": "string"}, "unevaluatedItems": False},
        {
            **LIST,
            "allOf": [{"contains": {"minimum": 1}}, {"contains": {"maximum": 1}}],
            "unevaluatedItems": {"type": "string"},
        },
        {
            **LIST,
            "if": {"contains": {"const": 1}},
            "then": {"prefixItems": [True, True]},
            "unevaluatedItems": {"const": 0},
        },
        {
            **LIST,
            "prefixItems": [{"const": 0}],
            "contains": {"const": 1},
            "minContains": 0,
            "unevaluatedItems": {"const": "a"},
        },
        {
            **LIST,
            "dependentSchemas": {"a": {"prefixItems": [True]}},
            "unevaluatedItems": {"type": "integer"},
        },
        {
            **OBJ,
            "$dynamicRef": "#x",
            "$defs": {"x": {"$dynamicAnchor": "x", **A_INT}},
            "unevaluatedProperties": False,
        },
    ],
}

OLD: list[tuple[Any, Any]] = [
    (Draft4Validator, {"minimum": 1, "exclusiveMinimum": True}),
    (Draft4Validator, {"maximum": 1, "exclusiveMaximum": True, "type": "integer"}),
    (Draft7Validator, {"items": [{"const": 0}], "additionalItems": False}),
    (Draft7Validator, {"items": [{"const": 0}], "additionalItems": {"const": 1}}),
    (Draft7Validator, {"items": [{"const": 0}, {}], **LIST}),
    (Draft7Validator, {"dependencies": {"a": ["b"], "b": {"required": ["c"]}}, **OBJ}),
    (Draft7Validator, {"$ref": "#/definitions/x", "definitions": {"x": A_INT}}),
]


def check(schema: Any, validator: Any) -> None:
    rules = compile_schema(schema).rules
    matches = matcher(rules)
    oracle = validator(schema)
    for value, texts in TEXTS:
        want = oracle.is_valid(value)
        have = any(matches(text) for text in texts)
        assert have == want, (json.dumps(schema), value)


def is_satisfiable(schema: Any) -> bool:
    return any(Draft202012Validator(schema).is_valid(value) for value, _ in TEXTS)


CASES = [s for group in SCHEMAS.values() for s in group if is_satisfiable(s)]


@pytest.mark.parametrize("schema", CASES, ids=lambda schema: json.dumps(schema)[:60])
def test_table(schema: Any) -> None:
    check(schema, Draft202012Validator)


@pytest.mark.parametrize(("validator", "schema"), OLD)
def test_old_spellings(validator: Any, schema: Any) -> None:
    uri = {Draft4Validator: "draft-04", Draft7Validator: "draft-07"}[validator]
    check({"$schema": f"http://json-schema.org/{uri}/schema#", **schema}, validator)
    check(schema, validator)
