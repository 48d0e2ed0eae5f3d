"""The machine of a grammar against Earley's parser, and on grammars that are hard."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, settings

from stcon.machines.grammar import GrammarMachine, compile_grammar
from stcon.machines.limits import Limits
from stcon.machines.stacks import Stacks
from stcon.syntax.gbnf import parse_gbnf
from tests.laws.grammar_strategies import LETTERS, as_gbnf, productions
from tests.oracles.earley import Earley, Productions


def machine_of(text: str) -> GrammarMachine:
    return compile_grammar(parse_gbnf(text).rules, Limits(seconds=15))


def is_dead(stacks: Stacks) -> bool:
    return not stacks.cells and not stacks.has_empty


def accepts(machine: GrammarMachine, text: bytes) -> bool:
    return machine.is_complete(machine.run(machine.start, text))


def check(grammar: Productions, longest: int) -> None:
    """Machine and oracle agree on every text, and on what may begin one."""
    machine, oracle = machine_of(as_gbnf(grammar)), Earley(grammar, "root")
    for size in range(longest + 1):
        for letters in itertools.product(LETTERS, repeat=size):
            text = b"".join(letters)
            after = machine.run(machine.start, text)
            want = oracle.begins(text)
            assert is_dead(after) != want, text
            assert machine.is_complete(after) == (want and oracle.accepts(text)), text


@settings(max_examples=150, deadline=None)
@given(productions())
def test_machine_reads_what_the_oracle_reads(grammar: Productions) -> None:
    check(grammar, 4)


HARD: list[Productions] = [
    # direct, indirect and hidden left recursion
    {"root": [("root", b"a"), (b"b",)]},
    {"root": [("x", b"a"), (b"b",)], "x": [("root", b"c"), (b"c",)]},
    {"root": [("x", "root", b"a"), (b"b",)], "x": [(), (b"c",)]},
    {
        "root": [("x", b"a")],
        "x": [("y", b"b"), ()],
        "y": [("z", "x")],
        "z": [(), (b"c",)],
    },
    # unit cycles, with and without a way out
    {"root": [("x",), (b"a",)], "x": [("root",), (b"b",)]},
    {"root": [("root",)]},
    {"root": [("root",), ("root", "root"), ()]},
    # ambiguity
    {"root": [(b"a", "root", "root"), (b"a",)]},
    {"root": [("root", "root"), ("root", "root", "root"), (b"a",), (b"b",)]},
    # rules without text, and ones that nothing calls
    {"root": [(b"a", "x"), (b"b",)], "x": [(b"c", "x")]},
    {"root": [(b"a",)], "x": [("x", "x")]},
    # palindromes are not deterministic
    {"root": [(b"a", "root", b"a"), (b"b", "root", b"b"), (), (b"a",), (b"b",)]},
]


@pytest.mark.parametrize("grammar", HARD, ids=as_gbnf)
def test_hard_grammars(grammar: Productions) -> None:
    check(grammar, 6)


@pytest.mark.parametrize(
    "text",
    [
        'root ::= s\ns ::= "a" s s | "a"',
        'root ::= s\ns ::= s s | s s s | "a" | ""',
        'root ::= "a"* "a"* "a"* root | ""',
        'root ::= ("a" | "aa" | "aaa"){2,3000}',
    ],
)
def test_ambiguity_neither_explodes_nor_hangs(text: str) -> None:
    machine = machine_of(text)
    began = time.monotonic()
    after = machine.run(machine.start, b"a" * 601)
    assert machine.is_complete(after)
    assert len(after.cells) < 2000
    assert time.monotonic() - began < 20  # 0.02 to 1.2 s here


def test_a_loop_is_not_pushed_on_itself() -> None:
    machine = machine_of('root ::= "a" root* | "b"')
    after = machine.run(machine.start, b"a" * 500)
    assert len(machine.graph.opened(after)[0]) < 5


def test_counts_are_not_written_out() -> None:
    machine = machine_of("root ::= [a-z]{3,100000} [0-9]{1000000}")
    assert machine.states < 5_000
    after = machine.run(machine.start, b"abc")
    assert machine.live(after) == (*b"0123456789", *range(ord("a"), ord("z") + 1))
    assert not is_dead(machine.run(after, b"x" * 500 + b"7" * 500))


@pytest.mark.parametrize(
    ("least", "most"), [(0, 300), (3, 301), (300, 300), (299, None)]
)
def test_counts_are_exact(least: int, most: int | None) -> None:
    bound = f"{{{least}}}" if least == most else f"{{{least},{most or ''}}}"
    machine = machine_of(f'root ::= x{bound}\nx ::= "a" | "b" root? "c"')
    for size in (least - 1, least, least + 1, 300, 301, 302):
        if size >= 0:
            want = least <= size and (most is None or size <= most)
            assert accepts(machine, b"a" * size) == want, size


def test_many_rules() -> None:
    chain = "\n".join(f'r{i} ::= "a" (r{i + 1} | "")' for i in range(39_999))
    machine = machine_of(f'root ::= r0\n{chain}\nr39999 ::= "a"')
    assert accepts(machine, b"a" * 300) and not accepts(machine, b"")


def test_a_long_chain_from_the_left() -> None:
    chain = "\n".join(f'r{i} ::= r{i + 1} "a"' for i in range(5_000))
    machine = machine_of(f'root ::= r0\n{chain}\nr5000 ::= "b"')
    assert accepts(machine, b"b" + b"a" * 5_000)
    assert not accepts(machine, b"b" + b"a" * 4_999)


def test_equal_sets_are_one_object() -> None:
    machine = machine_of('root ::= "(" root ")" | "x"')
    one = machine.run(machine.start, b"((")
    assert machine.run(machine.run(machine.start, b"("), b"(") is one
    assert machine.run(one, b"x)") is machine.run(machine.start, b"(x")


def test_what_is_over_is_forgotten() -> None:
    machine = machine_of('root ::= "(" root ")" root | ""')
    after = machine.run(machine.start, b"()" * 300)
    kept = len(machine.graph._known)
    machine.run(after, b"()" * 300)
    assert len(machine.graph._known) <= kept + 2
