"""The spellings of formats that clients send."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stcon.server.constraints import check
from stcon.server.formats import Format, wanted

FILE = Path(__file__).parents[1] / "cases" / "field_cases.json"
CASE = next(
    case
    for case in json.loads(FILE.read_text("utf-8"))
    if case["id"] == "srv_response_format_shapes"
)
SCHEMA = {"type": "object", "properties": {"b": {}, "a": {}}, "required": ["b"]}


@pytest.mark.parametrize("shape", CASE["input"]["variants"], ids=json.dumps)
def test_response_format_shapes(shape: Any) -> None:
    format = wanted({"messages": [], "response_format": shape})
    if shape["type"] == "text":
        assert format is None
        return
    assert format is not None and format.kind == "schema"
    schema = format.options["schema"]
    if shape == {"type": "json_object"}:
        assert schema == {"type": "object"}
    else:
        assert schema["required"] == ["animal"]
    check(format)


BODIES: list[tuple[dict[str, Any], str, Any]] = [
    # What is sent, the keyword, its value.
    ({"json_schema": SCHEMA}, "schema", SCHEMA),
    ({"json_schema": {"name": "x", "schema": SCHEMA}}, "schema", SCHEMA),
    ({"structured_outputs": {"json": SCHEMA}}, "schema", SCHEMA),
    ({"structured_outputs": {"regex": r"\d+"}}, "regex", r"\d+"),
    ({"structured_outputs": {"choice": ["a", "b"]}}, "choices", ["a", "b"]),
    ({"structured_outputs": {"json": None, "regex": "a"}}, "regex", "a"),
    ({"guided_json": json.dumps(SCHEMA)}, "schema", SCHEMA),
    ({"guided_json": SCHEMA}, "schema", SCHEMA),
    ({"guided_regex": "a|b"}, "regex", "a|b"),
    ({"guided_choice": ["a"]}, "choices", ["a"]),
    ({"guided_grammar": 'root ::= "a"'}, "grammar", 'root ::= "a"'),
    ({"grammar": 'root ::= "a"'}, "grammar", 'root ::= "a"'),
    ({"response_format": {"type": "regex", "pattern": "a"}}, "regex", "a"),
    (
        {"text": {"format": {"type": "json_schema", "name": "x", "schema": SCHEMA}}},
        "schema",
        SCHEMA,
    ),
]


@pytest.mark.parametrize(("body", "kind", "value"), BODIES, ids=str)
def test_other_spellings(body: dict[str, Any], kind: str, value: Any) -> None:
    format = wanted(body)
    assert format is not None and format.options == {kind: value}
    if kind == "schema":  # keys are written in the order they are declared
        assert list(format.options[kind]["properties"]) == ["b", "a"]


def test_grammars_are_compiled() -> None:
    format = wanted({"guided_grammar": 'root ::= "a" root | "b"'})
    assert format is not None
    check(format)


@pytest.mark.parametrize("body", [{}, {"text": "x"}, {"response_format": None}])
def test_free_text(body: dict[str, Any]) -> None:
    assert wanted(body) is None


BAD: list[tuple[dict[str, Any], str]] = [
    ({"response_format": "json"}, "an object with a type"),
    ({"response_format": {"type": "xml"}}, "response_format.type is 'xml'"),
    ({"response_format": {"type": "json_schema"}}, "no json_schema.schema"),
    ({"response_format": {"type": "regex"}}, "must be a string"),
    (
        {"response_format": {"type": "json_object", "schema": {"type": "array"}}},
        "must be an object's",
    ),
    ({"guided_json": "{"}, "guided_json is not JSON"),
    ({"guided_json": [1]}, "must be a JSON Schema"),
    ({"guided_choice": "a"}, "list of strings"),
    ({"structured_outputs": {"structural_tag": {}}}, "structural_tag is not supported"),
    ({"structured_outputs": []}, "must be an object"),
    ({"guided_regex": "a", "guided_choice": ["b"]}, "send one"),
    (
        {"response_format": {"type": "json_object"}, "guided_regex": "a"},
        "response_format and guided_regex",
    ),
]


@pytest.mark.parametrize(("body", "words"), BAD, ids=str)
def test_what_says_nothing_we_know_is_refused(body: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        wanted(body)


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("schema", {"type": "array", "uniqueItems": True}, "#/uniqueItems"),
        ("regex", "(a", "guided"),
        ("regex", r"(a)\1", "backreference"),
        ("choices", [], "guided"),
        ("grammar", "root ::= item", "there is no rule item"),
    ],
)
def test_what_cannot_be_enforced_is_told(kind: str, value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check(Format.of(kind, value, "guided"))
