"""Hops of grammars ahead of time, on disk and by class."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from stcon import LimitError, Limits, constrain, grammars
from stcon.constraints.grammar import GrammarConstraint
from stcon.machines.follow import following
from stcon.machines.network import build_network
from stcon.syntax.gbnf import parse_gbnf
from stcon.tokens.hops import ROOT
from tests.laws import laws
from tests.laws.grammar_strategies import productions
from tests.laws.test_grammar_laws import TEXTS, made, of_random
from tests.oracles.earley import Productions
from tests.tiny import tokenizer as tiny


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STCON_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("text", TEXTS)
def test_after_a_build_nothing_is_worked_out(text: str, own_cache: Path) -> None:
    constraint = made(text)
    built = constraint.build()
    assert built == len(constraint.transducer.hops) > 0
    for seed in range(10):
        for state in laws.walk(constraint, random.Random(seed), 40):
            constraint.allowed(state)
    assert len(constraint.transducer.hops) == built


@settings(max_examples=40, deadline=None)
@given(productions())
def test_after_a_build_of_random_grammars(grammar: Productions) -> None:
    constraint, _ = of_random(grammar)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("STCON_CACHE_DIR", "/dev/null/none")
        built = constraint.build()
    rng = random.Random(0)
    for _ in range(5):
        state = constraint.start
        for _ in range(6):
            allowed = np.flatnonzero(constraint.allowed(state)).tolist()
            token = rng.choice(allowed)
            if token == 0:
                break
            state = constraint.advance(state, token)
    assert len(constraint.transducer.hops) == built


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_read_from_disk_is_what_was_made(text: str, own_cache: Path) -> None:
    one, two = made(text), made(text)
    laws.check_mask_is_accept(two, 1, runs=1)  # other numbers than the first one has
    seen: list[tuple[int, int]] = []
    one.build(lambda done, known: seen.append((done, known)))
    assert seen[-1] == (len(one.transducer.hops),) * 2
    assert list(own_cache.rglob("*.stcon"))
    two.build(lambda done, known: pytest.fail("nothing is worked out"))
    for seed in range(3):
        laws.check_mask_is_accept(two, seed)


def test_a_damaged_file_is_made_anew(own_cache: Path) -> None:
    made(TEXTS[0]).build()
    (file,) = own_cache.rglob("*.stcon")
    file.write_bytes(file.read_bytes()[:-9] + b"x" * 9)
    seen: list[int] = []
    made(TEXTS[0]).build(lambda done, known: seen.append(done))
    assert seen


def test_progress_comes_to_an_end(own_cache: Path) -> None:
    constraint = constrain(tiny(), grammar=grammars.JSON, eos_token_ids=[0])
    assert isinstance(constraint, GrammarConstraint)
    seen: list[tuple[int, int]] = []
    constraint.build(lambda done, known: seen.append((done, known)))
    assert all(done <= known for done, known in seen)
    assert seen[-1][0] == seen[-1][1] == len(constraint.transducer.hops)


@pytest.mark.parametrize("text", TEXTS)
def test_masks_by_class_are_the_masks(text: str, own_cache: Path) -> None:
    constraint = made(text)
    constraint.build()
    classes = constraint.mask_classes()
    assert classes.count < 30 and len(classes.class_of) == constraint.vocabulary.size
    for seed in range(5):
        for state in laws.walk(constraint, random.Random(seed), 40):
            digests, is_complete = constraint.row_key(state)  # type: ignore[misc]
            row = classes.mask(digests)
            row[0] = is_complete or constraint.allowed(state)[0]
            assert np.array_equal(row, constraint.allowed(state))


def test_tokens_of_a_class_are_never_told_apart(own_cache: Path) -> None:
    constraint = made(TEXTS[2])
    constraint.build()
    class_of = constraint.mask_classes().class_of
    for state in laws.walk(constraint, random.Random(3), 40):
        row = constraint.allowed(state)
        row[0] = False  # the end is in no hop
        for number in range(class_of.max() + 1):
            assert len(set(row[class_of == number].tolist())) == 1


def test_what_may_follow() -> None:
    text = (
        'root ::= x "a" | y\nx ::= "(" root ")" | x "c"\ny ::= "y" z\nz ::= z "e" | ""'
    )
    network = build_network(parse_gbnf(text).rules)
    bits = {mask: mask for moves in network.moves for mask, _ in moves}
    follow = following(network, bits)
    names = {
        "".join(chr(b) for b in range(256) if follow[entry] >> b & 1)
        for entry in network.entries
        if entry >= 0
    }
    assert ")" in names  # root
    assert any("a" in name and ")" not in name for name in names)  # x
    assert follow[network.start] == 0


def test_places_in_names_before_letters_are_not_kept() -> None:
    constraint = constrain(tiny(), grammar=grammars.ARITHMETIC, eos_token_ids=[0])
    assert isinstance(constraint, GrammarConstraint)
    transducer = constraint.transducer
    state = constraint.read(constraint.start, b"na")
    hop = transducer.delta(ROOT, state.cells[0][0])
    trie = transducer.trie
    for node in hop.popped.tolist():
        first, count = trie.first_child[node], trie.child_count[node]
        follows = bytes(trie.byte[first : first + count])
        assert set(follows) & set(b" \t(+-*/%,)"), follows


WILD = ('root ::= [ab]* "a" [ab]{20}', 'root ::= [ab]* "a" [ab]{20} root?')


@pytest.mark.parametrize("text", WILD)
def test_a_table_that_would_be_too_large(text: str, own_cache: Path) -> None:
    constraint = constrain(tiny(), grammar=text, eos_token_ids=[0])
    assert isinstance(constraint, GrammarConstraint)
    assert constraint.matches("ba" * 30 + "a" * 20)
    limits = Limits(states=5_000, seconds=20)
    with pytest.raises(LimitError, match=r"states|seconds"):
        constraint.build(limits=limits)
    with pytest.raises(LimitError, match="MiB"):
        made(TEXTS[2]).build(limits=Limits(bytes=1000))
