"""Texts of the least measure, and the bytes that they leave open."""

from __future__ import annotations

import random

import pytest

from stcon.machines.edges import Measure
from stcon.machines.pushdown import compile_pushdown
from stcon.machines.shortest import Shortest
from stcon.syntax import rules as r
from tests.machines.test_counted import COUNTED
from tests.machines.test_pushdown import GRAMMARS

FORMATS = {**GRAMMARS, **COUNTED}


@pytest.mark.parametrize("name", FORMATS)
def test_every_choice_is_a_text(name: str) -> None:
    machine = compile_pushdown(r.Rules(FORMATS[name], "s"), depth=1000)
    texts = Shortest(machine.state)
    start = machine.start_state
    choices = texts.choices(start, None)
    assert len(choices) == texts.measured(start, None) == len(texts.text(start, None))
    rng = random.Random(0)
    for _ in range(20):
        text = bytes(rng.choice(options) for options in choices)
        assert machine.is_complete(machine.run(machine.start, text))


def test_open_bytes() -> None:
    digit = r.byte_range(48, 57)
    body = r.concat(r.literal("n="), digit, digit, r.optional(digit))
    machine = compile_pushdown(r.Rules({"s": body}, "s"))
    choices = Shortest(machine.state).choices(machine.start_state, None)
    assert choices == (b"n", b"=", b"0123456789", b"0123456789")


def test_another_measure_and_other_bytes() -> None:
    """A long literal may count less than a short one, and bytes may be missing."""
    body = r.union(r.literal("long text"), r.literal("xy"))
    machine = compile_pushdown(r.Rules({"s": body}, "s"))
    start = machine.start_state
    assert Shortest(machine.state).text(start, None) == b"xy"
    odd = Measure(lambda data: 1 if data == b"long text" else 2)
    assert Shortest(machine.state, measure=odd).text(start, None) == b"long text"
    letters = r.union(r.byte_range(97, 98), r.concat(r.literal("cc"), r.literal("c")))
    machine = compile_pushdown(r.Rules({"s": letters}, "s"))
    only_b = Measure(len, 1 << ord("b"))
    texts = Shortest(machine.state, measure=only_b)
    assert texts.text(machine.start_state, None) == b"b"
    assert texts.choices(machine.start_state, None) == (b"ab",)
    none = Shortest(machine.state, measure=Measure(len, 0))
    assert none.text(machine.start_state, None) == b"ccc"
