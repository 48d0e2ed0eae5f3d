"""Patterns that are plainly apart have no string in common."""

from __future__ import annotations

import itertools
import re

import pytest

from stcon.errors import SchemaError
from stcon.syntax.json_schema import compile_schema
from stcon.syntax.json_schema.patterns import are_apart, prefix_of
from stcon.syntax.regex import parse_regex

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
