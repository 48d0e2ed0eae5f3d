"""Patterns that are plainly apart have no string in common."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from stcon.errors import SchemaError
from stcon.syntax.json_schema import compile_schema
from stcon.syntax.json_schema.patterns import are_apart, prefix_of, words_of
from stcon.syntax.regex import parse_regex
from tests.syntax.json_schema.world import TEXTS as TEXTS_OF_WORLD
from tests.syntax.json_schema.world import matcher

TEXTS = ["".join(t) for n in range(5) for t in itertools.product("ab1-", repeat=n)]
APART = [
    ("^a", "^b"),
    ("^[ab]", "^[0-9]"),
    ("^a[ab]", "^[ab]1"),
    ("^a+$", "^1"),
    ("^[ab]{2,3}$", "^[ab]-"),
    ("^ab$", "^a$"),
    ("^a{2}$", "^a$"),
    ("^a1$", "^aa$"),
    ("^a{2}$", "^aaa+"),
]
TOGETHER = [("a", "b"), ("^a", "^[ab]"), ("^a*$", "^1*"), ("^a", "a$"), ("^a$", "^a+$")]


@pytest.mark.parametrize(("one", "other"), APART)
def test_apart(one: str, other: str) -> None:
    assert not any(re.search(one, t) and re.search(other, t) for t in TEXTS)
    assert _apart(one, other) and _apart(other, one)


@pytest.mark.parametrize(("one", "other"), TOGETHER)
def test_together(one: str, other: str) -> None:
    assert any(re.search(one, t) and re.search(other, t) for t in TEXTS)
    assert not _apart(one, other) and not _apart(other, one)


def _apart(one: str, other: str) -> bool:
    first, second = (prefix_of(parse_regex(p, mode="search")) for p in (one, other))
    return are_apart(first, second)


def test_alternatives_with_keys_that_are_apart() -> None:
    """No object is in both, so that neither denies the other."""
    alternatives = [
        {"patternProperties": {key: {}}, "additionalProperties": False}
        for key in ("^[0-9]+x$", "^[a-z][a-z]$")
    ]
    some = {"type": "object", "minProperties": 1}
    assert compile_schema({**some, "oneOf": alternatives}).report["enforced"]
    with pytest.raises(SchemaError, match="no value"):
        compile_schema({**some, "allOf": alternatives})


WORDS = ["^[ab]$", "^(a|b1)$", "^a?b{1,2}$", "^(a|b)(1|-)$", "^$", "^a{3}$", "^(a|a)$"]


@pytest.mark.parametrize("pattern", WORDS)
def test_words(pattern: str) -> None:
    words = words_of(parse_regex(pattern, mode="search"))
    assert words is not None and len(words) == len(set(words))
    assert set(words) == {t for t in TEXTS if re.search(pattern, t)}


@pytest.mark.parametrize("pattern", ["^a", "^a*$", "^.$", "^[a-z]{2}$", "^(a|b)*$"])
def test_too_many_words(pattern: str) -> None:
    assert words_of(parse_regex(pattern, mode="search")) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"patternProperties": {"^[abcd]$": {"type": "integer"}}, "minProperties": 2},
        {"patternProperties": {"^[abcd]$": {"type": "integer"}}, "minProperties": 3,
         "maxProperties": 3, "properties": {"a": {"minimum": 1}}},
        {"patternProperties": {"^[ab]$": {"type": "integer"}, "^(b|c|d)$":
         {"minimum": 1}}, "minProperties": 2, "required": ["b"]},
    ],
)  # fmt: skip
def test_keys_of_few_words_are_counted(schema: dict[str, Any]) -> None:
    closed = {"type": "object", "additionalProperties": False, **schema}
    matches = matcher(compile_schema(closed).rules)
    oracle = Draft202012Validator(closed)
    for value, texts in TEXTS_OF_WORLD:
        assert any(map(matches, texts)) == oracle.is_valid(value), value
    with pytest.raises(SchemaError, match="would not be named"):
        compile_schema({**closed, "additionalProperties": {}, "minProperties": 3})
