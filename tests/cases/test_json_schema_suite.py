"""The official JSON-Schema-Test-Suite: no group goes wrong, and its table is new."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases.json_schema_suite import (
    DRAFTS,
    REFUSED,
    RIGHT,
    SKIPPED,
    WRONG,
    Outcome,
    files,
    outcome,
    outcomes,
    texts,
)
from tests.cases.json_schema_suite_table import page

TABLE = Path(__file__).parents[2] / "docs" / "json-schema-test-suite.md"
FILES = [
    pytest.param(draft, file, id=f"{draft}/{file}")
    for draft in DRAFTS
    for file in files(draft)
]


@pytest.mark.parametrize(("draft", "file"), FILES)
def test_no_group_goes_wrong(draft: str, file: str) -> None:
    pairs = zip(files(draft)[file], outcomes(draft, file), strict=True)
    wrong = {g["description"]: o.notes for g, o in pairs if o.verdict == WRONG}
    assert wrong == {}


@pytest.mark.parametrize(("draft", "file"), FILES)
def test_no_group_goes_wrong_in_any_key_order(draft: str, file: str) -> None:
    for group, found in zip(files(draft)[file], outcomes(draft, file), strict=True):
        other = outcome(draft, file, group, "any")
        assert other == found, group["description"]


@pytest.mark.parametrize(("draft", "file"), FILES)
def test_refusals_name_their_keyword(draft: str, file: str) -> None:
    for group, found in zip(files(draft)[file], outcomes(draft, file), strict=True):
        if found.verdict == REFUSED and not found.notes[0].startswith("limit"):
            assert found.notes[0] in names(group["schema"]), group["description"]


def names(value: Any) -> set[str]:
    """All keys in a value."""
    if isinstance(value, list):
        return set().union(*map(names, value))
    return (
        set(value).union(*map(names, value.values())) if type(value) is dict else set()
    )


def test_the_table_is_up_to_date() -> None:
    assert TABLE.read_text("utf-8") == "\n".join(page()) + "\n"


def test_all_of_the_suite_is_there() -> None:
    tests = {
        d: sum(len(g["tests"]) for f in files(d).values() for g in f) for d in DRAFTS
    }
    assert tests == {
        "draft4": 863,
        "draft6": 1149,
        "draft7": 1465,
        "draft2019-09": 1864,
        "draft2020-12": 1906,
    }


def run(schema: Any, data: Any, valid: bool, file: str = "x") -> Outcome:
    """What becomes of one test."""
    test = {"description": "d", "data": data, "valid": valid}
    return outcome("draft2020-12", file, {"schema": schema, "tests": [test]})


def test_outcomes() -> None:
    integer = {"type": "integer"}
    assert run(integer, 1, True) == run(integer, "1", False) == Outcome(RIGHT)
    assert run(integer, 1, False) == Outcome(WRONG, ("d: 1",))
    assert run(integer, "1", True) == Outcome(WRONG, ("d: '1'",))
    assert run(False, 1, False) == Outcome(RIGHT)
    assert run(False, 1, True) == Outcome(WRONG, ("d: 1",))
    assert run({"$ref": "x"}, 1, True) == Outcome(REFUSED, ("$ref",))
    deep = {"type": "string", "maxLength": 10**6}
    assert run(deep, "", True).notes in ((), ("limit on states",))


def test_excuses_are_narrow() -> None:
    time = {"type": "string", "format": "time"}
    file = "optional/format/time"
    assert run(time, "00:59:60+01:00", True, file).verdict == SKIPPED
    for text, valid in (
        ("00:59:61+01:00", True),
        ("00:59:00", True),
        ("23:59:60Z", False),
        ("00:59:59+01:00", False),
    ):
        assert run(time, text, valid, file).verdict == WRONG
    assert run(time, "00:59:60+01:00", True, "time").verdict == WRONG


def test_spellings() -> None:
    one = files("draft4")["optional/zeroTerminatedFloats"][0]["tests"][0]["data"]
    assert list(texts(one, False)) == ["1.0"]
    assert list(texts({"a": one, "b": [True]}, True)) == [
        '{"a":1.0,"b":[true]}',
        '{"a":1,"b":[true]}',
        '{"b":[true],"a":1.0}',
        '{"b":[true],"a":1}',
    ]
