"""The door: what it takes, and how it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import stcon
from stcon import (
    ConstraintFileError,
    Limits,
    StconError,
    Vocabulary,
    constrain,
    load,
)
from stcon.constraints.storage import write
from tests.api_page import page

BYTES = Vocabulary.from_bytes([None, *(bytes([b]) for b in range(256))], [0])
TREE = {"type": "array", "items": {"$ref": "#"}}
WIDE: dict[str, Any] = {"a": {}, "b": {}, "c": {}}
SLOW = [{"pattern": f"a{n}"} for n in range(150)]


def test_every_public_name_exists() -> None:
    assert len(stcon.__all__) == len(set(stcon.__all__)) <= 20
    for name in stcon.__all__:
        assert getattr(stcon, name).__name__ == name
    with pytest.raises(AttributeError):
        stcon.nonsense  # noqa: B018


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({}, TypeError, "one of schema, regex, choices and grammar; got none"),
        ({"regex": "a", "choices": ["b"]}, TypeError, "got regex and choices"),
        ({"schema": TREE, "depth": 0}, ValueError, "depth is a number from 1"),
        ({"schema": TREE, "depth": 10**6}, ValueError, "depth is a number from 1"),
        ({"schema": TREE, "depth": "x"}, ValueError, "depth is a number from 1"),
        ({"regex": "a", "path": "gpu"}, ValueError, "path is 'host' or 'traced'"),
        (
            {"grammar": 'root ::= "(" root ")" | "a"', "path": "traced"},
            *(ValueError, "a grammar has only the host path"),
        ),
        (
            {"schema": {"items": {"$ref": "#"}, "type": "array"}, "path": "walk"},
            *(ValueError, "a pushdown has only the host path"),
        ),
        ({"regex": "a", "limits": 5}, TypeError, "limits is a stcon.Limits"),
        ({"regex": "a^b"}, stcon.RegexError, "no text matches"),
        ({"schema": {"not": {}}}, stcon.SchemaError, "#"),
        ({"schema": {}, "key_order": "up"}, ValueError, '"declared" or "any"'),
        ({"schema": {}, "max_sets": 0}, ValueError, "max_sets is a number"),
        (
            {"schema": {"properties": WIDE}, "key_order": "any", "max_sets": 7},
            stcon.LimitError,
            "#/properties: .* more than 7 sets",
        ),
        (
            {"schema": {"oneOf": SLOW}, "limits": Limits(seconds=0.05)},
            stcon.LimitError,
            "longer than 0.05 seconds",
        ),
        ({"regex": "a" * 9, "limits": Limits(states=3)}, stcon.LimitError, "3 states"),
    ],
)
def test_refusals(options: dict[str, Any], error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        constrain(BYTES, **options)


def test_keys_in_any_order() -> None:
    schema = {"properties": WIDE, "required": ["a"], "additionalProperties": False}
    declared = constrain(BYTES, schema={**schema, "type": "object"})
    any_order = constrain(BYTES, schema={**schema, "type": "object"}, key_order="any")
    assert any_order.matches('{"c":1,"a":{}}') and not declared.matches(
        '{"c":1,"a":{}}'
    )
    assert not any_order.matches('{"c":1,"c":1,"a":{}}')
    assert any_order.report()["key_order"] == "any"
    assert "key_order" not in declared.report()


@pytest.mark.parametrize("text", [None, 5, {"a": 1}, ["a"], memoryview(b"a")])
def test_texts_are_str_or_bytes(text: Any) -> None:
    made = constrain(BYTES, regex="a")
    for ask in (made.matches, made.explain, made.forced_spans):
        with pytest.raises(TypeError, match="a text is str or bytes"):
            ask(text)


@pytest.mark.parametrize("ids", [[1.5], ["x"], [float("inf")], [None]])
def test_end_tokens_are_numbers(ids: Any) -> None:
    with pytest.raises(stcon.VocabularyError, match="whole numbers"):
        Vocabulary.from_bytes([None, b"a"], ids)


def test_a_file_of_an_unknown_kind(tmp_path: Path) -> None:
    write(tmp_path / "c", "tape", BYTES.fingerprint, {}, {})
    with pytest.raises(ConstraintFileError, match="unknown kind"):
        load(tmp_path / "c", BYTES)


def test_open_and_recursive_schemas_are_pushdowns() -> None:
    assert constrain(BYTES, TREE).kind == "pushdown"
    assert constrain(BYTES, {"type": "integer"}).kind == "dfa"


def test_on_a_gpu_large_formats_stay_finite_and_huge_ones_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def kind(most: int) -> str:
        return constrain(BYTES, {"type": "string", "maxLength": most}).kind

    assert [kind(most) for most in (5, 200, 2**31)] == ["dfa", "pushdown", "pushdown"]
    monkeypatch.setattr("stcon.api.on_gpu", lambda path: path is None)
    assert [kind(most) for most in (5, 200, 2**31)] == ["dfa", "dfa", "pushdown"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"regex": "a", "whitespace": "free"}, "whitespace= is about JSON"),
        ({"choices": ["a"], "escapes": "any"}, "escapes= is about JSON"),
        ({"regex": "a", "key_order": "any"}, "key_order= is about JSON"),
        ({"regex": "a", "allow_unenforced": {"not"}}, "allow_unenforced= is about"),
        ({"schema": {}, "allow_unenforced": "not"}, "a set of names"),
        ({"schema": {}, "allow_unenforced": True}, "a set of names"),
        ({"schema": {}, "after": 5}, "after is a text"),
        ({"schema": {}, "after": ""}, "after is a text"),
    ],
)
def test_options_that_would_do_nothing(options: dict[str, Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        constrain(BYTES, **options)


def test_a_mark_is_not_saved_but_loaded(tmp_path: Path) -> None:
    file = tmp_path / "c"
    plain = constrain(BYTES, {"enum": [1]})
    with pytest.raises(StconError, match="not saved"):
        constrain(BYTES, {"enum": [1]}, after="</t>").save(file)
    plain.save(file)
    behind = load(file, BYTES, after="</t>")
    assert behind.matches("x</t>\n1") and not behind.matches("1")
    with pytest.raises(FileNotFoundError, match="no folder"):
        plain.save(tmp_path / "none" / "c")


def test_a_limit_in_words() -> None:
    limited = constrain(BYTES, {"type": "string"}, max_tokens=5)
    assert limited.explain('"aaaaaaaa"').endswith("and the limit is 5.")
    assert limited.explain('"a"') == "The text is valid."


@pytest.mark.parametrize("first", [TREE, int, True])
def test_a_tokenizer_that_was_forgotten_is_told(first: Any) -> None:
    with pytest.raises(TypeError, match="the tokenizer comes first"):
        constrain(first)


def test_the_reference_is_up_to_date() -> None:
    have = (Path(__file__).parents[1] / "docs" / "api.md").read_text("utf-8")
    assert have == page(), "python -m tests.api_page > docs/api.md"
