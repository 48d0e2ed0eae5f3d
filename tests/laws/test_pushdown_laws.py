"""The laws for formats that contain themselves; both machines where both can."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from stcon import LimitError, VocabularyError, load
from stcon.constraints.dfa import DfaConstraint
from stcon.constraints.pushdown import PushdownConstraint
from stcon.decode.processor import HostProcessor, bind
from stcon.machines.compile import calls_itself, compile_rules
from stcon.machines.pushdown import compile_pushdown
from stcon.syntax import rules as r
from stcon.tokens.vocabulary import Vocabulary
from tests.laws import laws
from tests.machines.test_counted import COUNTED
from tests.machines.test_pushdown import GRAMMARS, bodies
from tests.worlds import vocabulary

FORMATS = {**GRAMMARS, **COUNTED}
WORDS = [b"ab", b"aab", b"abb", b"ca", b"bbb", b"aaca", b"bc", b"cabb"]


def made(rules: r.Rules, depth: int = 64) -> PushdownConstraint:
    machine = compile_pushdown(rules, depth=depth)
    return PushdownConstraint(machine, vocabulary(*WORDS), bind("host"))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("seed", range(3))
def test_laws(name: str, seed: int) -> None:
    constraint = made(r.Rules(FORMATS[name], "s"), depth=1000)
    laws.check_mask_is_accept(constraint, seed)
    laws.check_outputs_are_valid(constraint, seed)
    laws.check_forced(constraint, seed)


@settings(max_examples=30, deadline=None)
@given(bodies(), bodies())
def test_random_rules(s: r.Expr, t: r.Expr) -> None:
    rules = r.Rules({"s": s, "t": t}, "s")
    constraint = made(rules, depth=1000)
    try:
        laws.check_mask_is_accept(constraint, 0, runs=2, longest=8)
    except LimitError as error:
        assert "ways" in str(error)
    if not calls_itself(rules):
        dfa = DfaConstraint.of(compile_rules(rules), vocabulary(*WORDS), bind("host"))
        one, two = constraint.start, dfa.start
        for token in (2 + ord("a"), 130, 2 + ord("b"), 2 + ord("c"), 131):
            assert np.array_equal(constraint.allowed(one), dfa.allowed(two))
            if dfa.allowed(two)[token]:
                one, two = constraint.advance(one, token), dfa.advance(two, token)


@pytest.mark.parametrize("name", FORMATS)
def test_equal_row_keys_have_equal_rows(name: str) -> None:
    import random

    constraint = made(r.Rules(FORMATS[name], "s"), depth=1000)
    rows: dict[object, np.ndarray] = {}
    for seed in range(6):
        for state in laws.walk(constraint, random.Random(seed), 40):
            row = constraint.allowed(state)
            first = rows.setdefault(constraint.row_key(state), row)
            assert np.array_equal(first, row)


def test_save_and_load(tmp_path: Path) -> None:
    constraint = made(r.Rules(GRAMMARS["list"], "s"))
    constraint.save(tmp_path / "c")
    back = load(tmp_path / "c", constraint.vocabulary)
    assert back.kind == "pushdown" and back.report() == constraint.report()
    assert np.array_equal(back.allowed(back.start), constraint.allowed(back.start))
    assert back.matches(b"acb") and not back.matches(b"ac")


def test_texts_deeper_than_the_limit_are_refused() -> None:
    constraint = made(r.Rules(GRAMMARS["nested"], "s"), depth=5)
    assert constraint.matches("aaabbb") and not constraint.matches("a" * 9 + "b" * 9)
    assert "nests deeper than 5" in constraint.explain("a" * 9)


def test_in_the_processor() -> None:
    constraint = made(r.Rules(GRAMMARS["nested"], "s"))
    processor = HostProcessor(constraint, pins=False)
    output = [2 + ord(c) for c in "aabb"]
    for n in range(5):
        row = np.array(processor.row([7, *output[:n]], 150)[0])
        state = constraint.advance_all(output[:n])
        assert np.array_equal(row[: len(constraint.allowed(state))],
                              constraint.allowed(state))  # fmt: skip
    assert np.flatnonzero(row).tolist() == [0]
    assert constraint.explain("aab").startswith("The text stops too early")


def test_a_byte_without_a_token_of_its_own() -> None:
    machine = compile_pushdown(r.Rules(GRAMMARS["nested"], "s"))
    only = Vocabulary.from_bytes([None, b"a", b"ab"], [0])
    with pytest.raises(VocabularyError, match="just the byte 'b'"):
        PushdownConstraint(machine, only, bind("host"))
