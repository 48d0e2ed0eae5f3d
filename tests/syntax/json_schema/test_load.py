"""What is refused before anything is compiled, and what the errors say."""

from __future__ import annotations

import enum
from typing import Any

import pytest

from stcon.errors import SchemaError
from stcon.syntax.json_schema import compile_schema
from stcon.syntax.json_schema.load import load

HUGE = 10**5000


class _Huge(enum.IntEnum):
    ONE = HUGE


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"const": HUGE}, "#/const"),
        ({"enum": [10**4500, 1]}, "#/enum/0"),
        ({"enum": [1, -(10**1000)]}, "#/enum/1"),
        ({"type": HUGE}, "#/type"),
        ({"const": _Huge.ONE}, "#/const"),
        ({HUGE: 1}, "#"),
        (HUGE, "#"),
        ('{"const": ' + "9" * 5000 + "}", "#/const"),
        ('{"const": -' + "9" * 1001 + "}", "#/const"),
        ('{"const": 1e5000}', "#/const"),
        ('{"const": 0.' + "1" * 1001 + "}", "#/const"),
    ],
    ids=list("abcdefghijk"),
)
def test_huge_numbers(schema: Any, pointer: str) -> None:
    with pytest.raises(SchemaError, match="a number of more than 1,000 digits") as e:
        compile_schema(schema)
    assert e.value.pointer == pointer


@pytest.mark.parametrize(
    ("text", "want"),
    [("9" * 1000, 10**1000 - 1), ("1e999", 10**999), ("-7", -7)],
)
def test_large_numbers(text: str, want: int) -> None:
    assert load(f'{{"const": {text}}}') == {"const": want}


@pytest.mark.parametrize("step", ["9" * 6000, "9" * 10, "1", "00"])
def test_steps_that_are_no_index(step: str) -> None:
    with pytest.raises(SchemaError, match="there is nothing at this pointer") as e:
        compile_schema({"$ref": f"#/prefixItems/{step}", "prefixItems": [True]})
    assert e.value.pointer == "#/$ref"


@pytest.mark.parametrize("schema", [{"enum": []}, {"type": "string", "enum": []}])
def test_empty_enum(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="the list is empty") as e:
        compile_schema(schema)
    assert e.value.pointer == "#/enum"


@pytest.mark.parametrize("text", [r"\d+", "schema.json", "", "{"])
def test_text_that_is_not_json(text: str) -> None:
    with pytest.raises(SchemaError, match="not JSON") as e:
        compile_schema(text)
    assert "pass regex=" in e.value.hint and "pass its text" in e.value.hint
