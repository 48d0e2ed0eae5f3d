"""Where references lead, and what an error about one says."""

from __future__ import annotations

from typing import Any

import pytest

from stcon import SchemaError
from stcon.syntax.json_schema import compile_schema
from tests.syntax.json_schema.world import matcher

DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}
NUMBER, TEXT, NULL = {"type": "number"}, {"type": "string"}, {"type": "null"}

# A schema, a text it accepts and one it does not.
CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "one in an item that is not there": (
        {"type": "array", "prefixItems": [True, {"$ref": "#"}], "maxItems": 1},
        "[5]",
        "[5,[]]",
    ),
    "one in items of which none is there": (
        {"type": "array", "prefixItems": [{"$ref": "#"}], "maxItems": 0},
        "[]",
        "[[]]",
    ),
    "an $id beside a $ref says nothing up to draft 7": (
        {
            **DRAFT_7,
            "$id": "http://example.com/root",
            "properties": {"a": {"$id": "http://example.com/x/", "$ref": "item"}},
            "definitions": {
                "far": {"$id": "http://example.com/x/item", **NUMBER},
                "near": {"$id": "http://example.com/item", **TEXT},
            },
        },
        '{"a":"b"}',
        '{"a":1}',
    ),
    "but it does since": (
        {
            "$id": "http://example.com/root",
            "properties": {"a": {"$id": "http://example.com/x/", "$ref": "item"}},
            "$defs": {
                "far": {"$id": "http://example.com/x/item", **NUMBER},
                "near": {"$id": "http://example.com/item", **TEXT},
            },
        },
        '{"a":1}',
        '{"a":"b"}',
    ),
    "an $id in an unknown keyword comes last": (
        {
            "$defs": {"b": {"$id": "x", **TEXT}},
            "unheard of": [{"$id": "x", **NUMBER}],
            "$ref": "x",
        },
        '"a"',
        "1",
    ),
    "but it is found": (
        {"unheard of": {"b": [{"$id": "x", **NUMBER}]}, "$ref": "x"},
        "1",
        '"a"',
    ),
    "properties may be called like keywords": (
        {
            "properties": {
                "default": {"$anchor": "n", **NUMBER},
                "$ref": {"$ref": "#n"},
            }
        },
        '{"$ref":1}',
        '{"$ref":"a"}',
    ),
    "constants have no anchors": (
        {
            "properties": {"a": {"const": {"$anchor": "n"}}, "b": {"$ref": "#n"}},
            "$defs": {"n": {"$anchor": "n", **NUMBER}},
        },
        '{"b":1}',
        '{"b":"a"}',
    ),
    "an anchor below an $id": (
        {
            "$id": "http://example.com/root",
            "$ref": "#n",
            "$defs": {"n": {"$anchor": "n", **NUMBER}},
        },
        "1",
        '"a"',
    ),
    "an anchor of a URN": (
        {
            **DRAFT_7,
            "$id": "urn:example:root",
            "properties": {"a": {"$ref": "urn:example:root#n"}},
            "definitions": {"n": {"$id": "#n", **NUMBER}},
        },
        '{"a":1}',
        '{"a":"b"}',
    ),
    "a dynamic reference leads to the outermost resource": (
        {
            "$id": "http://example.com/outer",
            "properties": {"a": {"$ref": "inner"}},
            "$defs": {
                "n": {"$dynamicAnchor": "n", **TEXT},
                "inner": {
                    "$id": "inner",
                    "items": {"$dynamicRef": "#n"},
                    "$defs": {"n": {"$dynamicAnchor": "n", **NUMBER}},
                },
            },
        },
        '{"a":["b"]}',
        '{"a":[1]}',
    ),
    "unless it leads, plainly, to no dynamic anchor": (
        {
            "$id": "http://example.com/outer",
            "properties": {"a": {"$ref": "inner"}},
            "$defs": {
                "n": {"$dynamicAnchor": "n", **TEXT},
                "inner": {
                    "$id": "inner",
                    "items": {"$dynamicRef": "#n"},
                    "$defs": {"n": {"$anchor": "n", **NUMBER}},
                },
            },
        },
        '{"a":[1]}',
        '{"a":["b"]}',
    ),
    "one subschema, reached from two resources, is two": (
        {
            "properties": {"a": {"$ref": "numbers"}, "b": {"$ref": "nulls"}},
            "$defs": {
                "list": {
                    "$id": "list",
                    "type": "array",
                    "items": {"items": {"$dynamicRef": "#n"}},
                    "$defs": {"n": {"$dynamicAnchor": "n"}},
                },
                "numbers": {
                    "$id": "numbers",
                    "$ref": "list",
                    "$defs": {"n": {"$dynamicAnchor": "n", **NUMBER}},
                },
                "nulls": {
                    "$id": "nulls",
                    "$ref": "list",
                    "$defs": {"n": {"$dynamicAnchor": "n", **NULL}},
                },
            },
        },
        '{"a":[[1]],"b":[[null]]}',
        '{"a":[[1]],"b":[[1]]}',
    ),
    "$recursiveAnchor: the outermost root that has it": (
        {
            "$schema": "https://json-schema.org/draft/2019-09/schema",
            "$id": "http://example.com/outer",
            "$recursiveAnchor": True,
            "$ref": "inner",
            "maxProperties": 1,
            "additionalProperties": True,
            "$defs": {
                "inner": {
                    "$id": "inner",
                    "$recursiveAnchor": True,
                    "properties": {"a": {"$recursiveRef": "#"}},
                }
            },
        },
        '{"a":{"a":{"a":1}}}',
        '{"a":{"a":{"a":1,"b":1}}}',
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_references(name: str) -> None:
    schema, good, bad = CASES[name]
    matches = matcher(compile_schema(schema).rules)
    assert matches(good.encode())
    assert not matches(bad.encode())


@pytest.mark.parametrize(
    ("keyword", "reference", "reason"),
    [
        ("$ref", "http://example.com/other", "not inside this document"),
        ("$ref", "#nowhere", "no such anchor"),
        ("$ref", "#/$defs/b", "nothing at this pointer"),
        ("$dynamicRef", "#nowhere", "no such anchor"),
    ],
)
def test_errors(keyword: str, reference: str, reason: str) -> None:
    with pytest.raises(SchemaError, match=reason) as caught:
        compile_schema({"items": {keyword: reference}, "$defs": {"a": {}}})
    assert caught.value.keyword == keyword
    assert caught.value.pointer == f"#/items/{keyword}"


def test_what_a_reference_silences_is_reported() -> None:
    schema = {"$ref": "#/definitions/a", "minimum": 1, "title": "A", "definitions": {}}
    schema["definitions"] = {"a": {"type": "integer"}}
    old = compile_schema({**DRAFT_7, **schema})
    assert old.report["ignored"] == ["#/$schema", "#/minimum", "#/title"]
    assert matcher(old.rules)(b"0")
    new = compile_schema(schema)
    assert new.report["ignored"] == ["#/title"]
    assert not matcher(new.rules)(b"0")
