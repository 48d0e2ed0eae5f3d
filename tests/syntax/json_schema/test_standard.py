"""The rules all schemas share, by the ``json`` module."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stcon.machines.pushdown import compile_pushdown, standard_pushdown
from stcon.syntax.json_schema import compile_schema
from stcon.syntax.json_schema.standard import standard_rules
from stcon.syntax.rules import Call, Rules, counted

VALUES: list[Any] = [None, True, 0, -1.5e-7, "", 'é\n"\\', [], {}, [1, [{}]], {"": [0]}]
STRANGE = [
    "",
    "01",
    "1.",
    "+1",
    "nul",
    '"\\x"',
    '"\n"',
    "[1,]",
    "{,}",
    '{"a"}',
    "[",
    "]",
]


def accepts(rules: Rules, text: str) -> bool:
    machine = compile_pushdown(rules)
    config = machine.run(machine.start, text.encode())
    return bool(config) and machine.is_complete(config)


@pytest.mark.parametrize("escapes", ["usual", "any", "canonical"])
@pytest.mark.parametrize("whitespace", ["compact", "spaced", "bounded", "free"])
def test_any_value(whitespace: str, escapes: str) -> None:
    standard = standard_rules(whitespace, escapes, 16, True)
    rules = Rules(standard.rules, "value", standard)
    for value in VALUES:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        spaced = json.dumps(value, ensure_ascii=False)
        assert accepts(rules, text) is (whitespace != "spaced" or spaced == text), text
        assert accepts(rules, spaced) is (whitespace != "compact" or spaced == text)
    assert not any(accepts(rules, text) for text in STRANGE)


def test_it_is_one_object_and_one_machine() -> None:
    one, two = (compile_schema(schema).rules.standard for schema in ({}, {"x-a": 1}))
    assert one is two is not None
    assert standard_pushdown(one) is standard_pushdown(one)
    other = compile_schema({}, escapes="any").rules.standard
    assert other is not None and other is not one


def test_the_rest_of_a_string_may_begin_with_an_odd_character() -> None:
    standard = standard_rules("compact", "usual", 16, True)
    rest = Rules(standard.rules, "rest of a string", standard)
    odd = Rules(standard.rules, "rest from an odd character", standard)
    for text, is_odd in (('"', False), ('ab"', False), ('é"', True), ('\\n"', True)):
        assert accepts(rest, text) and accepts(odd, text) is is_odd


def test_characters_are_counted_whatever_their_spelling() -> None:
    standard = standard_rules("compact", "usual", 16, True)
    start = counted(Call("characters"), 2, 3)
    rules = Rules({"start": start, **standard.rules}, "start", standard)
    for text, count in (('a"', 1), ('ab"', 2), ('é\\n"', 2), ('\\ud83d\\ude00ab"', 3)):
        assert accepts(rules, text) is (count >= 2)
    assert not accepts(rules, 'abcd"') and not accepts(rules, "ab")
