"""Counts: kept as numbers, unrolled, and by the slow matcher, all the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stcon.errors import LimitError
from stcon.machines.compile import calls_itself, compile_rules
from stcon.machines.dfa import DEAD
from stcon.machines.frames import UNBOUNDED
from stcon.machines.pushdown import compile_pushdown
from stcon.syntax import rules as r
from tests.machines.test_pushdown import have
from tests.oracles.slow_dfa import strings
from tests.oracles.slow_rules import matches

A, B, C = r.literal("a"), r.literal("b"), r.literal("c")
S, T = r.Call("s"), r.Call("t")
LETTER = r.concat(r.TICK, r.union(A, B))
"""A character: one byte."""
WIDE = r.concat(r.TICK, r.union(A, r.literal("bc")))
"""A character of one or two bytes."""
LETTERS = r.star(LETTER)
PAIRS = r.star(r.concat(LETTER, LETTER))
LIST = r.concat(r.TICK, T, r.star(r.concat(C, r.TICK, T)))

COUNTED = {
    "string": {"s": r.concat(C, r.counted(LETTERS, 2, 3, C))},
    "wide": {"s": r.concat(C, r.counted(r.star(WIDE), 1, 2, C))},
    "open end": {"s": r.counted(LETTERS, 2, 4)},
    "no end": {"s": r.concat(C, r.counted(LETTERS, 3, None, C))},
    "exactly": {"s": r.concat(C, r.counted(LETTERS, 2, 2, C))},
    "none": {"s": r.concat(C, r.counted(LETTERS, 0, 0, C))},
    "pairs": {"s": r.concat(C, r.counted(PAIRS, 1, 3, C))},
    "pairs that cannot be": {"s": r.union(B, r.concat(C, r.counted(PAIRS, 3, 3, C)))},
    "one kind": {
        "s": r.concat(
            C, r.counted(r.intersect(LETTERS, r.star(r.concat(r.TICK, A))), 1, 3, C)
        )
    },
    "all but": {
        "s": r.concat(
            C,
            r.counted(
                r.intersect(LETTERS, r.complement(r.concat(LETTER, LETTER))), 1, 3, C
            ),
        )
    },
    "list": {
        "s": r.concat(A, r.counted(LIST, 2, 3), B),
        "t": r.union(B, r.concat(A, r.counted(LETTERS, 0, 1, C))),
    },
    "lists of lists": {"s": r.union(B, r.concat(A, r.counted(LIST, 1, 2), B)), "t": S},
    "two windows": {
        "s": r.union(
            r.concat(C, r.counted(LETTERS, 1, 1, C)),
            r.concat(C, r.counted(LETTERS, 3, 4, B)),
        )
    },
}


@pytest.mark.parametrize("name", COUNTED)
def test_small_rules(name: str) -> None:
    rules = r.Rules(COUNTED[name], "s")
    want = {text for text in strings(b"abc", 7) if matches(rules, text)}
    assert want and have(compile_pushdown(rules), 7) == want
    if not calls_itself(rules):
        dfa = compile_rules(rules)
        assert {text for text in strings(b"abc", 7) if dfa.matches(text)} == want


@pytest.mark.parametrize("name", COUNTED)
def test_every_prefix_can_be_finished(name: str) -> None:
    machine = compile_pushdown(r.Rules(COUNTED[name], "s"))
    for text in strings(b"abc", 6):
        config = machine.run(machine.start, text)
        if config:
            whole = machine.run(config, machine.shortest(config))
            assert machine.is_complete(whole), (text, machine.shortest(config))


def test_which_counts_are_numbers() -> None:
    want = {"string": (2, 3), "one kind": (1, 3), "pairs": (0, 3), "open end": (2, 4)}
    for name, window in want.items():
        frames = compile_pushdown(r.Rules(COUNTED[name], "s")).frames
        assert [x.window for x in frames.letters if x.window] == [window], name


def test_huge_windows_cost_nothing() -> None:
    rules = {"s": r.concat(C, r.counted(LETTERS, 2**31, 2**64, C))}
    machine = compile_pushdown(r.Rules(rules, "s"))
    assert machine.states < 20
    (letter,) = [x for x in machine.frames.letters if x.window]
    assert letter.window == (2**31, 2**64)
    config = machine.run(machine.start, b"c" + b"ab" * 500)
    assert machine.live(config) == (97, 98)
    with pytest.raises(LimitError, match="too long"):
        machine.shortest(config)


def test_a_window_without_end() -> None:
    machine = compile_pushdown(r.Rules(COUNTED["no end"], "s"))
    (letter,) = [x for x in machine.frames.letters if x.window]
    assert letter.window == (3, UNBOUNDED)
    assert machine.is_complete(machine.run(machine.start, b"c" + b"a" * 999 + b"c"))


def items() -> st.SearchStrategy[r.Expr]:
    """Expressions over ticked characters."""
    one = r.concat(r.TICK, A)
    return st.recursive(
        st.sampled_from([LETTER, WIDE, one, LETTERS]),
        lambda e: st.one_of(
            st.tuples(e, e).map(lambda x: r.concat(*x)),
            st.tuples(e, e).map(lambda x: r.union(*x)),
            e.map(r.optional),
            e.map(r.star),
            st.tuples(e, e).map(lambda x: r.intersect(*x)),
        ),
        max_leaves=4,
    )


@settings(max_examples=150, deadline=None)
@given(items(), st.integers(0, 3), st.none() | st.integers(0, 3))
def test_random_items(item: r.Expr, least: int, more: int | None) -> None:
    most = None if more is None else least + more
    rules = r.Rules({"s": r.concat(C, r.counted(item, least, most, C))}, "s")
    want = {text for text in strings(b"abc", 6) if matches(rules, text)}
    machine = compile_pushdown(rules)
    assert have(machine, 6) == want
    dfa = compile_rules(rules)
    assert {text for text in strings(b"abc", 6) if dfa.matches(text)} == want
    assert (machine.start_state == DEAD) is (dfa.start == DEAD)
    for text in strings(b"abc", 4) if dfa.start else ():
        if config := machine.run(machine.start, text):
            assert dfa.run(text), (text, "the pushdown goes where nothing ends")
            assert machine.is_complete(machine.run(config, machine.shortest(config)))


def test_the_shortest_text_keeps_to_the_window_of_a_call() -> None:
    wide = r.union(r.concat(*[r.TICK, A] * 3), r.concat(r.TICK, r.literal("bbbbbb")))
    rules = {"s": r.union(C, r.concat(A, S, T)), "t": r.counted(wide, 0, 2, C)}
    machine = compile_pushdown(r.Rules(rules, "s"))
    assert machine.shortest(machine.run(machine.start, b"ac")) == b"bbbbbbc"
    assert machine.shortest(machine.run(machine.start, b"aa")) == b"c" + b"bbbbbbc" * 2


def test_a_long_text_beside_a_short_one() -> None:
    lists = (r.counted(LIST, least, 2**40, B) for least in (1, 2**39))
    rules = {"s": r.union(*(r.concat(A, x) for x in lists)), "t": B}
    machine = compile_pushdown(r.Rules(rules, "s"))
    assert machine.shortest(machine.run(machine.start, b"ab")) == b"b"
    with pytest.raises(LimitError, match="too long"):
        rules = {"s": r.concat(A, r.counted(LIST, 2**39, None, B)), "t": B}
        far = compile_pushdown(r.Rules(rules, "s"))
        far.shortest(far.start)


def test_a_text_that_doubles_with_each_rule_is_not_written() -> None:
    rules: dict[str, r.Expr] = {
        f"r{n}": r.concat(A, r.Call(f"r{n + 1}"), r.Call(f"r{n + 1}"))
        for n in range(60)
    }
    machine = compile_pushdown(r.Rules({**rules, "r60": B}, "r0"))
    with pytest.raises(LimitError, match="too long"):
        machine.shortest(machine.start)
