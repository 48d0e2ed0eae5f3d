"""Vocabularies that lack bytes: nobody gets stuck, and few are refused."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stcon import LimitError, Vocabulary, VocabularyError, constrain
from stcon.constraints.pushdown import PushdownConstraint
from stcon.decode.processor import bind
from stcon.machines.dfa import DEAD
from stcon.machines.pushdown import compile_pushdown
from stcon.syntax import rules as r
from tests import worlds
from tests.machines.test_counted import COUNTED
from tests.machines.test_pushdown import GRAMMARS, bodies

TOKENS = [b"a", b"b", b"c", b"ab", b"bc", b"ca", b"abb", b"cab", b"aacb", b"bb"]


def check(rules: r.Rules, tokens: list[bytes]) -> None:
    """Random runs never come to a state without an allowed token."""
    machine = compile_pushdown(rules, depth=1000)
    assume(machine.start_state != DEAD)
    vocabulary = Vocabulary.from_bytes([None, *tokens], [0])
    try:
        constraint = PushdownConstraint(machine, vocabulary, bind("host"))
    except VocabularyError:
        return
    rng = random.Random(1)
    for _ in range(5):
        state: Any = constraint.start
        for _ in range(12):
            allowed = np.flatnonzero(constraint.allowed(state)).tolist()
            assert allowed
            token = rng.choice(allowed)
            if token == 0:
                break
            state = constraint.advance(state, token)


@settings(max_examples=150, deadline=None)
@given(bodies(), bodies(), st.sets(st.sampled_from(TOKENS), min_size=1))
def test_random_rules(s: r.Expr, t: r.Expr, tokens: set[bytes]) -> None:
    try:
        check(r.Rules({"s": s, "t": t}, "s"), sorted(tokens))
    except LimitError as error:
        assert "ways" in str(error)


@pytest.mark.parametrize("name", {**GRAMMARS, **COUNTED})
@settings(max_examples=25, deadline=None)
@given(tokens=st.sets(st.sampled_from(TOKENS), min_size=1))
def test_known_rules(name: str, tokens: set[bytes]) -> None:
    check(r.Rules({**GRAMMARS, **COUNTED}[name], "s"), sorted(tokens))


def test_what_is_never_begun_is_not_missed() -> None:
    schema = {"type": "object", "maxProperties": 3}
    made = constrain(worlds.vocabulary(), schema)
    assert made.kind == "pushdown" and made.matches('{"a":[null]}')
    missing = [bytes([b]) for b in range(128) if b != ord("]")]
    with pytest.raises(VocabularyError, match="just the byte ']'"):
        constrain(Vocabulary.from_bytes([None, *missing], [0]), schema)
