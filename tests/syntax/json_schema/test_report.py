"""The report: a keyword is enforced when it is so somewhere."""

from __future__ import annotations

from typing import Any

import pytest

from stcon.syntax.json_schema import compile_schema


@pytest.mark.parametrize(
    ("schema", "allowed", "want"),
    [
        ({"type": "string", "format": "colour"}, (), "type"),
        ({"type": "string", "format": "uuid"}, (), "format type"),
        (
            {"prefixItems": [{"format": "colour"}, {"format": "uuid"}]},
            (),
            "format prefixItems",
        ),
        ({"type": "array", "uniqueItems": True}, {"uniqueItems"}, "type"),
        (
            {"enum": [[1], [1, 1]], "uniqueItems": True},
            {"uniqueItems"},
            "enum uniqueItems",
        ),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}},
            (),
            "$ref type",
        ),
        ({"minContains": 1, "maxContains": 2, "type": "array"}, (), "type"),
        ({"type": "array", "not": {"const": [1]}}, (), "const not type"),
        (
            {"minContains": 1, "maxContains": 2, "contains": {"const": 1}},
            (),
            "const contains maxContains minContains",
        ),
        (
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "minContains": 2,
                "contains": {"const": 1},
            },
            (),
            "const contains",
        ),
        ({"then": False, "else": False, "type": "null"}, (), "type"),
        ({"if": {"const": 1}, "then": False}, (), "const if then"),
        ({"additionalItems": False, "items": {"const": 1}}, (), "const items"),
        (
            {"additionalItems": False, "items": [{"const": 1}]},
            (),
            "additionalItems const items",
        ),
    ],
)
def test_enforced(schema: dict[str, Any], allowed: set[str], want: str) -> None:
    have = compile_schema(schema, allow_unenforced=allowed).report["enforced"]
    assert have == want.split()


def test_subschemas_that_repeat_others_are_reported() -> None:
    """Annotations and what is left out, at every place where it stands."""
    item = {
        "type": "object",
        "title": "One",
        "properties": {"x": {"type": "array", "uniqueItems": True, "foo": 1}},
    }
    other = {**item, "title": "Two", "default": None}
    schema = {"properties": {"a": item, "b": {"properties": {"c": other}}, "d": other}}
    report = compile_schema(schema, allow_unenforced={"uniqueItems"}).report
    places = ["#/properties/a", "#/properties/b/properties/c", "#/properties/d"]
    inside = "/properties/x"
    assert report["unenforced"] == [f"{p}{inside}/uniqueItems" for p in places]
    want = [f"{p}/title" for p in places] + [f"{p}{inside}/foo" for p in places]
    want += [f"{p}/default" for p in places[1:]]
    assert report["ignored"] == sorted(want)


def test_every_keyword_says_how_it_is_enforced() -> None:
    from stcon.syntax.json_schema.keywords import _TABLE
    from stcon.syntax.json_schema.keywords.ways import WAYS

    assert WAYS.keys() == _TABLE.keys()
    assert all(way and way == way.strip() for way in WAYS.values())
    how = compile_schema({"type": "string", "maxLength": 9, "title": "x"}).report["how"]
    assert how["maxLength"] == "a counter beside the state"
    assert how.keys() == {"type", "maxLength"}
