"""A pattern that says a length is counted as ``maxLength`` is, and means the same."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from stcon.machines.pushdown import compile_pushdown
from stcon.syntax.json_schema import compile_schema

PATTERNS = {
    "^.{0,65535}$": True,
    "^[a-z]{17,20}$": True,
    r"^[\s\S]{3,4000}$": True,
    "^[a-z][a-z0-9]{0,62}$": True,
    "^x[ab]{20}y$": True,
    "^[ab]{20,}$": True,
    "^[a-z]{1,9}$": False,
    "^([ab]{0,30}|c)$": False,
    "^a{20}b{20}$": False,
    "[a-z]{20}": False,
}
TEXTS = [
    *("", "a", "aa", "aaa", "x1", "1x", "a" * 16, "a" * 17, "a" * 20, "a" * 21),
    *("a" + "1" * 62, "a" + "1" * 63, "a" * 64, "x" + "ab" * 10 + "y", "\n", "a\nb"),
    *("a" * 20 + "b" * 20, "é" * 30, "c", "😀" * 17, "ab" * 15, "ab" * 16),
]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("more", [{}, {"maxLength": 30}, {"minLength": 2}])
def test_lengths(pattern: str, more: dict[str, Any]) -> None:
    schema = {"type": "string", "pattern": pattern, **more}
    machine = compile_pushdown(compile_schema(schema).rules)
    for text in TEXTS:
        want = re.search(pattern.replace("$", r"\Z"), text) is not None
        want = want and more.get("minLength", 0) <= len(text)
        want = want and len(text) <= more.get("maxLength", 1 << 20)
        data = json.dumps(text, ensure_ascii=False).encode()
        config = machine.run(machine.start, data)
        assert (bool(config) and machine.is_complete(config)) is want, text


@pytest.mark.parametrize("pattern", PATTERNS)
def test_which_are_counted(pattern: str) -> None:
    rules = compile_schema({"type": "string", "pattern": pattern}).rules
    letters = compile_pushdown(rules).frames.letters
    assert any(letter.window for letter in letters) is PATTERNS[pattern]


def test_a_large_length_costs_nothing() -> None:
    rules = compile_schema({"type": "string", "pattern": r"^[^\n]{1,2000000}$"}).rules
    assert compile_pushdown(rules).states < 100
