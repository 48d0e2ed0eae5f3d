"""Bug reports against other engines, as data: grammars."""

from __future__ import annotations

import time

import pytest

from stcon import Limits, constrain
from tests.cases.test_field_cases import CASES
from tests.test_api import BYTES


@pytest.mark.parametrize(
    "name", ["g_left_recursion", "g_nullable_loop", "g_many_literals"]
)
def test_grammar(name: str) -> None:
    case = CASES[name]
    made = constrain(BYTES, grammar=case["input"]["text"])
    assert [t for t in case["accept"] if not made.matches(t)] == []
    assert [t for t in case["reject"] if made.matches(t)] == []


def test_many_rules() -> None:
    case = CASES["g_many_rules"]
    rules = "\n".join(f'r{i} ::= "a" (r{i + 1} | "")' for i in range(39_999))
    began = time.monotonic()
    text = f'root ::= r0\n{rules}\nr39999 ::= "a"'
    made = constrain(BYTES, grammar=text, limits=Limits(seconds=15))
    assert [t for t in case["accept"] if not made.matches(t)] == []
    assert [t for t in case["reject"] if made.matches(t)] == []
    assert time.monotonic() - began < 20  # 3 s here
