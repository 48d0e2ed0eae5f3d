"""Rules to minimal automata, against sets of strings."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stcon.errors import LimitError
from stcon.machines.compile import compile_expr, compile_rules
from stcon.machines.dfa import DEAD, Dfa
from stcon.machines.limits import Limits
from stcon.syntax import rules as r
from tests.oracles.slow_dfa import count_residuals, language, strings

AB = b"ab"
A, B = r.literal("a"), r.literal("b")
LONGEST = 4


def have(dfa: Dfa, longest: int = LONGEST) -> frozenset[bytes]:
    return frozenset(s for s in strings(AB, longest) if dfa.matches(s))


def exprs(size: int) -> list[r.Expr]:
    """Every expression of exactly ``size`` nodes over a and b."""
    if size == 1:
        return [A, B, r.EPSILON, r.byte_set(1 << 97 | 1 << 98)]
    out: list[r.Expr] = []
    for inner in exprs(size - 1):
        out += [r.star(inner), r.optional(inner), r.repeat(inner, 2, 3)]
        out += [r.complement(inner)]
    for left in range(1, size - 1):
        pairs = itertools.product(exprs(left), exprs(size - 1 - left))
        for one, two in pairs:
            out += [r.concat(one, two), r.union(one, two), r.intersect(one, two)]
    return out


def without_not_inside_sequence(expr: r.Expr) -> bool:
    """Whether the oracle, which knows strings to a length, is exact on it: a
    complement inside a sequence or repetition needs longer strings."""
    match expr:
        case r.Not():
            return without_not_inside_sequence(expr.item)
        case r.And(items) | r.Union(items):
            return all(map(without_not_inside_sequence, items))
        case r.Concat(items):
            return not any(map(has_not, items))
        case r.Repeat(item):
            return not has_not(item)
    return True


def has_not(expr: r.Expr) -> bool:
    match expr:
        case r.Not():
            return True
        case r.And(items) | r.Union(items) | r.Concat(items):
            return any(map(has_not, items))
        case r.Repeat(item):
            return has_not(item)
    return False


def test_every_small_expression() -> None:
    checked = 0
    for size in (1, 2, 3, 4):
        for expr in exprs(size):
            if without_not_inside_sequence(expr):
                checked += 1
                assert have(compile_expr(expr)) == language(expr, AB, LONGEST), expr
    assert checked > 500


def random_expr() -> st.SearchStrategy[r.Expr]:
    leaves = st.sampled_from([A, B, r.literal("ab"), r.literal("ba"), r.EPSILON])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=4).map(lambda x: r.concat(*x)),
            st.lists(inner, min_size=2, max_size=4).map(lambda x: r.union(*x)),
            st.lists(inner, min_size=2, max_size=3).map(lambda x: r.intersect(*x)),
            inner.map(r.star),
            st.tuples(inner, st.integers(0, 2), st.integers(0, 2)).map(
                lambda x: r.repeat(x[0], x[1], x[1] + x[2])
            ),
        ),
        max_leaves=12,
    )


@settings(max_examples=150, deadline=None)
@given(random_expr())
def test_random_expressions(expr: r.Expr) -> None:
    dfa = compile_expr(expr)
    assert have(dfa, 6) == language(expr, AB, 6)
    assert dfa.states == count_residuals(dfa)
    assert not dfa.next[DEAD].any() and not dfa.accepts[DEAD]


@settings(max_examples=60, deadline=None)
@given(random_expr(), random_expr())
def test_equal_languages_have_equal_arrays(one: r.Expr, two: r.Expr) -> None:
    left = compile_expr(r.union(one, two, r.concat(one, r.star(two))))
    right = compile_expr(r.union(r.concat(one, r.star(two)), two, two))
    assert (left.next.tobytes(), left.byte_class.tobytes()) == (
        right.next.tobytes(),
        right.byte_class.tobytes(),
    )
    assert (left.accepts == right.accepts).all()


@settings(max_examples=60, deadline=None)
@given(random_expr())
def test_complement_of_an_inner_complement(expr: r.Expr) -> None:
    inside = r.concat(r.literal("a"), r.complement(expr))
    got = compile_expr(inside)
    plain = compile_expr(expr)
    for text in strings(AB, 5):
        want = text[:1] == b"a" and not plain.matches(text[1:])
        assert got.matches(text) == want


def test_loops_that_do_the_same_are_one() -> None:
    twice = r.union(
        r.concat(A, r.star(r.union(A, r.concat(B, A)))),
        r.concat(B, r.star(r.union(A, r.concat(B, A)))),
    )
    dfa = compile_expr(twice)
    assert dfa.states == count_residuals(dfa) == 4


def test_a_step_before_a_loop_joins_it() -> None:
    dfa = compile_expr(r.concat(A, r.star(A)))
    assert dfa.states == 3


def test_a_loop_that_leads_into_its_equal_joins_it() -> None:
    either = r.star(r.union(A, B))
    assert compile_expr(r.concat(r.star(A), either)).states == 2
    twice = r.concat(r.star(A), r.union(r.concat(B, either), r.concat(B, r.star(B))))
    dfa = compile_expr(twice)
    assert dfa.states == count_residuals(dfa) == 3


def test_a_loop_without_exit_is_dead() -> None:
    expr = r.union(B, r.concat(r.star(A), r.intersect(A, B)))
    dfa = compile_expr(expr)
    assert have(dfa) == {b"b"}
    assert dfa.states == 3


def test_shared_tails_are_linear() -> None:
    rest: r.Expr = r.EPSILON
    for i in reversed(range(400)):
        rest = r.concat(r.optional(r.literal(f",{i:03}")), rest)
    dfa = compile_expr(rest, Limits(states=120_000, seconds=60))
    assert dfa.matches(b",000,399") and not dfa.matches(b",399,000")


def test_calls_are_inlined_and_recursion_refused() -> None:
    rules = r.Rules({"s": r.concat(r.Call("t"), r.Call("t")), "t": A}, "s")
    assert have(compile_rules(rules)) == {b"aa"}
    with pytest.raises(ValueError, match="calls itself"):
        compile_rules(r.Rules({"s": r.concat(A, r.Call("t")), "t": r.Call("s")}, "s"))


@pytest.mark.parametrize(
    ("expr", "what"),
    [
        (r.repeat(r.repeat(A, 1000, 1000), 1000, 1000), ("states", "seconds")),
        (r.repeat(A, 0, 10**18), ("states",)),
        (r.repeat(A, 10**18, None), ("states",)),
        (
            r.concat(r.star(r.union(A, B)), A, r.repeat(r.union(A, B), 60, 60)),
            ("states", "seconds"),
        ),
    ],
)
def test_limits(expr: r.Expr, what: tuple[str, ...]) -> None:
    begin = time.monotonic()
    with pytest.raises(LimitError) as error:
        compile_expr(expr)
    assert error.value.what in what
    assert time.monotonic() - begin < 20


def test_deep_nesting_does_not_recurse() -> None:
    expr: r.Expr = A
    for _ in range(2_000):
        expr = r.union(r.concat(expr, B), A)
    assert compile_expr(expr, Limits(seconds=60)).matches(b"abbb")


def test_forced_and_shortest() -> None:
    dfa = compile_expr(r.concat(r.literal("abc"), r.optional(B), A))
    assert dfa.forced(dfa.start) == b"abc"
    assert dfa.forced(dfa.run(b"abc")) == b""
    assert dfa.forced(dfa.run(b"abcb")) == b"a"
    assert dfa.shortest(dfa.start) == b"abca"
    assert dfa.live(dfa.run(b"abc")) == (97, 98)


def test_empty_and_epsilon() -> None:
    nothing = compile_expr(r.EMPTY)
    assert nothing.start == DEAD and not nothing.matches(b"")
    empty = compile_expr(r.EPSILON)
    assert empty.matches(b"") and not empty.matches(b"a")
    contradiction = compile_expr(r.intersect(A, B))
    assert contradiction.start == DEAD
    assert np.array_equal(contradiction.next, nothing.next)


@pytest.mark.parametrize(
    "expr",
    [
        r.literal(b"a" * 10**7),
        r.concat(*[r.optional(A)] * 3000),
        r.union(*(r.literal(f"{i}" * 300) for i in range(3000))),
    ],
    ids=["literal", "optionals", "choices"],
)
def test_hostile_sizes_end_in_a_limit(expr: r.Expr) -> None:
    with pytest.raises(LimitError):
        compile_expr(expr, Limits(seconds=1, states=50_000))
