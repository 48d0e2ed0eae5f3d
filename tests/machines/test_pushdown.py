"""Rules that call themselves, against a plain search over derivations."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stcon.errors import LimitError
from stcon.machines.compile import calls_itself, compile_rules
from stcon.machines.dfa import DEAD
from stcon.machines.pushdown import Pushdown, compile_pushdown
from stcon.machines.stored import packed
from stcon.syntax import rules as r
from tests.oracles.derive import derive
from tests.oracles.slow_dfa import strings

A, B, C = r.literal("a"), r.literal("b"), r.literal("c")
S, T = r.Call("s"), r.Call("t")

GRAMMARS = {
    "nested": {"s": r.concat(A, r.optional(S), B)},
    "list": {"s": r.union(C, r.concat(A, r.star(r.concat(S, r.optional(C))), B))},
    "right": {"s": r.union(r.concat(A, S), B)},
    "two": {"s": r.union(r.concat(A, T), C), "t": r.union(r.concat(S, B), r.EPSILON)},
    "nullable": {"s": r.concat(A, T, T, B), "t": r.optional(r.concat(C, S))},
    "palindromes": {"s": r.union(A, B, r.concat(A, S, A), r.concat(B, S, B))},
    "shared start": {
        "s": r.union(r.concat(T, A), r.concat(r.Call("u"), B)),
        "t": r.optional(r.concat(C, T, C)),
        "u": r.optional(r.concat(C, r.Call("u"), A)),
    },
    "hopeless branch": {"s": r.union(C, T), "t": r.concat(A, T)},
}


def have(machine: Pushdown, longest: int) -> set[bytes]:
    found = set()
    for text in strings(b"abc", longest):
        config = machine.run(machine.start, text)
        if config and machine.is_complete(config):
            found.add(text)
    return found


@pytest.mark.parametrize("name", GRAMMARS)
def test_small_grammars(name: str) -> None:
    rules = r.Rules(GRAMMARS[name], "s")
    machine = compile_pushdown(rules)
    want = {t for t in strings(b"abc", 7) if derive(rules, t)}
    assert have(machine, 7) == want and want


@pytest.mark.parametrize("name", GRAMMARS)
def test_live_bytes_are_those_that_can_be_read(name: str) -> None:
    machine = compile_pushdown(r.Rules(GRAMMARS[name], "s"))
    for text in strings(b"abc", 5):
        config = machine.run(machine.start, text)
        if config:
            want = tuple(b for b in range(256) if machine.step(config, b))
            assert machine.live(config) == want


def bodies() -> st.SearchStrategy[r.Expr]:
    """Rule bodies that read before they call."""
    inner = st.recursive(
        st.sampled_from([A, B, S, T, r.EPSILON]),
        lambda e: st.one_of(
            st.tuples(e, e).map(lambda x: r.concat(*x)),
            st.tuples(e, e).map(lambda x: r.union(*x)),
            e.map(r.optional),
            e.map(r.star),
        ),
        max_leaves=5,
    )
    guarded = st.tuples(st.sampled_from([A, B]), inner)
    return st.lists(guarded, min_size=1, max_size=3).map(
        lambda parts: r.union(*(r.concat(*p) for p in parts), C)
    )


@settings(max_examples=120, deadline=None)
@given(bodies(), bodies())
def test_random_grammars(s: r.Expr, t: r.Expr) -> None:
    rules = r.Rules({"s": s, "t": t}, "s")
    machine = compile_pushdown(rules)
    want = {text for text in strings(b"abc", 4) if derive(rules, text)}
    assert have(machine, 4) == want
    if not calls_itself(rules):
        dfa = compile_rules(rules)
        assert {x for x in strings(b"abc", 4) if dfa.matches(x)} == want


def test_a_rule_without_any_text() -> None:
    machine = compile_pushdown(r.Rules({"s": r.concat(A, S)}, "s"))
    assert machine.start_state == DEAD


def test_a_rule_that_calls_itself_before_it_reads() -> None:
    machine = compile_pushdown(r.Rules({"s": r.union(r.concat(S, A), B)}, "s"))
    with pytest.raises(ValueError, match="before it reads"):
        machine.run(machine.start, b"b")


def test_depth_is_a_limit_with_an_error() -> None:
    rules = r.Rules({"s": r.concat(A, r.optional(S), B)}, "s")
    machine = compile_pushdown(rules, depth=10)
    assert machine.run(machine.start, b"a" * 9)
    with pytest.raises(LimitError, match="deeper than 10"):
        machine.run(machine.start, b"a" * 12)


def test_right_recursion_needs_no_stack() -> None:
    machine = compile_pushdown(r.Rules(GRAMMARS["right"], "s"), depth=2)
    config = machine.run(machine.start, b"a" * 10_000 + b"b")
    assert machine.is_complete(config)


def test_same_rules_same_bytes() -> None:
    one, two = (compile_pushdown(r.Rules(GRAMMARS["two"], "s")) for _ in range(2))
    (arrays, facts), (same, also) = packed(one), packed(two)
    assert facts == also and arrays.keys() == same.keys()
    assert all(arrays[name].tobytes() == same[name].tobytes() for name in arrays)


def test_states_made_while_reading_are_not_kept() -> None:
    read, fresh = (compile_pushdown(r.Rules(GRAMMARS["two"], "s")) for _ in range(2))
    read.run(read.start, b"aacbb")
    arrays, same = packed(read)[0], packed(fresh)[0]
    assert all(arrays[name].tobytes() == same[name].tobytes() for name in arrays)


def test_a_state_that_calls_several_rules_finishes_by_any() -> None:
    rules = {
        "s": r.union(r.concat(A, T), C),
        "t": r.union(r.concat(A, r.star(r.concat(r.star(T), S))), C),
    }
    machine = compile_pushdown(r.Rules(rules, "s"))
    for text in strings(b"abc", 4):
        config = machine.run(machine.start, text)
        if config:
            whole = machine.run(config, machine.shortest(config))
            assert machine.is_complete(whole)


def test_many_levels_of_rules_are_linear() -> None:
    chain: dict[str, r.Expr] = {
        f"r{i}": r.concat(A, r.Call(f"r{i + 1}"), r.Call(f"r{i + 1}"), B)
        for i in range(300)
    }
    machine = compile_pushdown(r.Rules({**chain, "r300": C}, "r0"))
    assert machine.live(machine.start) == (97,)
