"""``Table``, an automaton as a node of an expression, against the slow matcher."""

from __future__ import annotations

import itertools

from stcon.machines.compile import compile_rules
from stcon.syntax import rules as r
from tests.oracles.slow_rules import matches


def test_table() -> None:
    """An automaton spelt out is the automaton: alone, in a sequence, in a product."""
    # the binary numbers that are multiples of 3, most significant digit first
    moves = tuple(
        ((1 << 0x30, 2 * s % 3), (1 << 0x31, (2 * s + 1) % 3)) for s in (0, 1, 2)
    )
    table = r.Table(moves, frozenset({0}))
    exprs = [
        table,
        r.concat(r.literal("0"), table, r.literal("1")),
        r.star(r.concat(table, r.literal("x"))),
        r.intersect(table, r.complement(r.literal("11"))),
    ]
    texts = ["".join(t) for n in range(6) for t in itertools.product("01x", repeat=n)]
    for expr in exprs:
        rules = r.Rules.single(expr)
        dfa = compile_rules(rules)
        for text in texts:
            data = text.encode()
            assert dfa.matches(data) == matches(rules, data), text
    assert compile_rules(r.Rules.single(table)).states == 4
