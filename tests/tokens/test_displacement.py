"""Displacement classes lose nothing: tokens of a class lead to the same place."""

from __future__ import annotations

import random
from itertools import groupby, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings

from stcon import constrain
from stcon.constraints.constraint import State
from stcon.constraints.dfa import DfaConstraint
from stcon.constraints.grammar import GrammarConstraint
from stcon.machines.dfa import DEAD
from stcon.tokens.displacement import DisplacementClasses
from tests.laws import laws
from tests.laws.grammar_strategies import LETTERS, productions
from tests.laws.test_grammar_laws import TEXTS, WORDS, made, of_random
from tests.oracles.earley import Productions
from tests.oracles.greibach import (
    Displacement,
    adjacency,
    displacement,
    normal_form,
    texts_agree,
)
from tests.worlds import vocabulary

VOCABULARY = vocabulary(b"12", b"bc", b"3a")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STCON_CACHE_DIR", str(tmp_path))


def groups(classes: DisplacementClasses) -> list[list[int]]:
    order = np.argsort(classes.class_of, kind="stable").tolist()
    found = [list(g) for _, g in groupby(order, key=lambda t: classes.class_of[t])]
    return [group for group in found if len(group) > 1]


def check(
    constraint: GrammarConstraint, classes: DisplacementClasses, at: State
) -> None:
    """Of each class all tokens lead from a state to one and the same."""
    for group in groups(classes):
        text = [t for t in group if t not in constraint.vocabulary.eos_ids]
        after = {constraint.advance(at, token) for token in text}
        assert len(after) <= 1, group


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_of_a_class_lead_to_the_same_place(text: str) -> None:
    constraint = made(text)
    classes = constraint.displacement_classes()
    kept = []
    for seed in range(4):
        for state in laws.walk(constraint, random.Random(seed), 30):
            kept.append(state)
            check(constraint, classes, state)
    assert kept


@settings(max_examples=25, deadline=None)
@given(productions())
def test_random_grammars(grammar: Productions) -> None:
    constraint, _ = of_random(grammar)
    classes = constraint.displacement_classes()
    for state in laws.walk(constraint, random.Random(0), 6):
        check(constraint, classes, state)


@pytest.mark.parametrize("text", TEXTS)
def test_masks_from_one_token_of_each_class(text: str) -> None:
    """What another engine would be asked about, bit for bit."""
    constraint = made(text)
    classes = constraint.displacement_classes()
    assert classes.count < constraint.vocabulary.size / 3
    for state in laws.walk(constraint, random.Random(1), 30):
        row = constraint.allowed(state)
        asked = [constraint.advance(state, t) != DEAD for t in classes.first.tolist()]
        assert np.array_equal(classes.expanded(np.array(asked)), row)
        assert np.array_equal(classes.expanded(row[classes.first]), row)


def test_they_are_finer_than_mask_classes() -> None:
    constraint = made(TEXTS[2])
    fine, coarse = constraint.displacement_classes(), constraint.mask_classes()
    assert fine.count >= coarse.count
    for group in groups(fine):
        assert len(set(coarse.class_of[group].tolist())) == 1


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_read_from_disk_is_what_was_made(text: str, tmp_path: Path) -> None:
    one, two, three = made(text), made(text), made(text)
    laws.check_mask_is_accept(one, 1, runs=1)  # some hops are known before
    fresh = one.displacement_classes()
    never = pytest.fail  # nothing is worked out: the hops are on disk too
    again = two.displacement_classes(lambda done, known: never("walked"))
    assert np.array_equal(again.class_of, fresh.class_of)
    assert np.array_equal(again.first, fresh.first)
    three.build(lambda done, known: never("walked"))
    assert set(map(len, (one.transducer.hops, three.transducer.hops))) == {
        len(made_whole(text).transducer.hops)
    }


def made_whole(text: str) -> GrammarConstraint:
    constraint = made(text)
    constraint.build()
    return constraint


def test_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    want = made(TEXTS[0]).displacement_classes().class_of
    (file,) = tmp_path.glob("displacement-*/*.stcon")
    file.write_bytes(file.read_bytes()[:-9] + b"x" * 9)
    seen: list[int] = []
    have = made(TEXTS[0]).displacement_classes(lambda done, known: seen.append(done))
    assert seen and np.array_equal(have.class_of, want)


def test_a_grammar_that_is_a_finite_automaton_has_classes_too() -> None:
    constraint = constrain(VOCABULARY, grammar='root ::= [0-9]{1,3} ("a" | "b" "c")')
    assert isinstance(constraint, DfaConstraint)
    seen: list[tuple[int, int]] = []
    states = constraint.build(lambda done, known: seen.append((done, known)))
    assert seen == [(states, states)] and states > 5
    classes = constraint.displacement_classes()
    for state in range(states):
        for group in groups(classes):
            assert len({constraint.advance(state, token) for token in group}) == 1
    digits = classes.class_of[[2 + byte for byte in b"0123456789"]]
    assert len(set(digits.tolist())) == 1 < classes.count


def test_digits_are_one_class() -> None:
    constraint = made(TEXTS[2])
    class_of = constraint.displacement_classes().class_of
    digits = class_of[[2 + byte for byte in b"0123456789"]]
    assert len(set(digits.tolist())) == 1


@settings(max_examples=30, deadline=None)
@given(productions())
def test_against_greibach_normal_form(grammar: Productions) -> None:
    """Tokens with the same displacement in the paper's sense are in the same masks."""
    constraint, _ = of_random(grammar)
    normal = normal_form(grammar)
    assume(sum(map(len, normal.values())) < 80)  # it explodes: that is why
    texts = [b"".join(t) for n in range(1, 3) for t in product(LETTERS, repeat=n)]
    assert texts_agree(grammar, normal, texts)
    constraint.build()
    class_of = constraint.mask_classes().class_of
    adjacent = adjacency(normal)
    found: dict[Displacement, set[int]] = {}
    tokens = [*(2 + byte for byte in b"abc"), *range(130, 130 + len(WORDS))]
    for token in tokens:
        data = constraint.vocabulary.token_bytes(token)
        moved = displacement(normal, adjacent, data)
        found.setdefault(moved, set()).add(int(class_of[token]))
    assert all(len(classes) == 1 for classes in found.values())
