"""Schemas from bug reports against other engines, as data."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from stcon.errors import SchemaError
from stcon.syntax.json_schema import compile_schema
from tests.oracles.slow_rules import matches

CASES = [
    case
    for case in json.loads(
        (Path(__file__).parents[2] / "cases" / "field_cases.json").read_text("utf-8")
    )
    if case["kind"] == "json_schema"
]


def options(case: dict[str, Any]) -> dict[str, Any]:
    if case["id"] == "js_whitespace_runaway":
        return {"whitespace": "bounded"}
    return {}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_field_case(case: dict[str, Any]) -> None:
    if case.get("expect") == "compile_error":
        with pytest.raises(SchemaError):
            compile_schema(case["input"])
        return
    start = time.perf_counter()
    rules = compile_schema(case["input"], recursion=True, **options(case)).rules
    have_seconds = time.perf_counter() - start
    assert have_seconds < 5 * case.get("limits", {}).get("compile_s", 10)
    have = [text for text in case["accept"] if not matches(rules, text.encode())]
    assert have == []
    have = [text for text in case["reject"] if matches(rules, text.encode())]
    assert have == []


@pytest.mark.parametrize(
    "case", [c for c in CASES if "ws_accept" in c], ids=lambda case: case["id"]
)
@pytest.mark.parametrize("whitespace", ["bounded", "free"])
def test_blanks(case: dict[str, Any], whitespace: str) -> None:
    rules = compile_schema(case["input"], whitespace=whitespace).rules
    have = [text for text in case["ws_accept"] if not matches(rules, text.encode())]
    assert have == []


def test_bad_type_names_its_place() -> None:
    case = next(c for c in CASES if c["id"] == "js_bad_type")
    with pytest.raises(SchemaError) as caught:
        compile_schema(case["input"])
    assert caught.value.pointer == "#/properties/a/type"


def test_empty_enum_names_its_place() -> None:
    case = next(c for c in CASES if c["id"] == "js_enum_empty")
    with pytest.raises(SchemaError) as caught:
        compile_schema(case["input"])
    assert caught.value.pointer == "#/properties/x/enum"
