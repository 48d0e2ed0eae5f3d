"""The laws for grammars, against Earley's parser and on a real vocabulary."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stcon import LimitError, VocabularyError, constrain, load
from stcon.constraints.grammar import GrammarConstraint
from stcon.decode.processor import bind
from stcon.machines.dfa import DEAD
from stcon.machines.grammar import compile_grammar
from stcon.syntax.gbnf import parse_gbnf
from stcon.tokens.vocabulary import Vocabulary
from tests.laws import laws
from tests.laws.grammar_strategies import as_gbnf, productions
from tests.oracles.earley import Earley, Productions
from tests.worlds import vocabulary

WORDS = [b"ab", b"aab", b"abb", b"ca", b"bbb", b"aaca", b"bc", b"cabb", b"aaaaaa"]
TEXTS = [
    'root ::= s\ns ::= "a" s s | "a" | "b" s "c"',
    'root ::= root "a" | root root | "b" | ""',
    'root ::= e\ne ::= e "a" e | e "b" e | "c" e | "(" e ")" | [0-9]+',
    'root ::= ("a" | "aa" | "b" root){2,40} "c"',
    'root ::= x{100,200} "b"\nx ::= "a" | "c" root',
]


def made(text: str) -> GrammarConstraint:
    """The constraint of a grammar, though it may suit a finite automaton."""
    machine = compile_grammar(parse_gbnf(text).rules)
    return GrammarConstraint(machine, vocabulary(*WORDS), bind("host"))


def of_random(grammar: Productions) -> tuple[GrammarConstraint, Earley]:
    """The constraint and the oracle of a grammar with some text."""
    constraint = made(as_gbnf(grammar))
    assume(constraint.start.cells)
    return constraint, Earley(grammar, "root")


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("seed", range(3))
def test_laws(text: str, seed: int) -> None:
    constraint = made(text)
    laws.check_mask_is_accept(constraint, seed)
    laws.check_outputs_are_valid(constraint, seed)
    laws.check_forced(constraint, seed)


@settings(max_examples=60, deadline=None)
@given(productions(), st.integers(0, 9))
def test_masks_are_what_the_oracle_begins(grammar: Productions, seed: int) -> None:
    constraint, oracle = of_random(grammar)
    words = constraint.vocabulary
    letters = [2 + byte for byte in b"abc"]
    tokens = [*letters, *range(130, 130 + len(WORDS))]
    rng = random.Random(seed)
    state, text = constraint.start, b""
    for _ in range(6):
        allowed = constraint.allowed(state)
        assert allowed[0] == oracle.accepts(text)
        for token in tokens:
            want = oracle.begins(text + words.token_bytes(token))
            assert allowed[token] == want, (text, token)
        assert not np.delete(allowed, [0, *tokens]).any()
        ahead = [t for t in np.flatnonzero(allowed).tolist() if t]
        if not ahead:
            break
        token = rng.choice(ahead)
        text += words.token_bytes(token)
        state = constraint.advance(state, token)


@settings(max_examples=60, deadline=None)
@given(productions(), st.integers(0, 9))
def test_what_is_written_is_in_the_language(grammar: Productions, seed: int) -> None:
    constraint, oracle = of_random(grammar)
    rng = random.Random(seed)
    state, text = constraint.start, b""
    for _ in range(8):
        allowed = np.flatnonzero(constraint.allowed(state)).tolist()
        token = rng.choice(allowed)
        if token == 0:
            break
        text += constraint.vocabulary.token_bytes(token)
        state = constraint.advance(state, token)
    assert oracle.accepts(text + constraint.shortest(state))


@settings(max_examples=60, deadline=None)
@given(productions(), st.integers(0, 5), st.integers(0, 9))
def test_within_a_limit(grammar: Productions, extra: int, seed: int) -> None:
    check_limit(*of_random(grammar), extra, seed)


def check_limit(
    inner: GrammarConstraint, oracle: Earley, extra: int, seed: int
) -> None:
    """A token is allowed iff a step takes it, and what is written is valid."""
    limit = inner.costs.least(inner.start) + extra
    limited = inner.within(limit)
    place, text = limited.start, b""
    rng = random.Random(seed)
    for left in range(limit, -1, -1):
        row = limited.allowed(place)
        steps = [limited.advance(place, t) != DEAD for t in range(len(row))]
        assert row.tolist() == steps
        larger = inner.within(left + 5) if left + 5 > limit else None
        if larger is not None and not text:
            assert not (row & ~larger.allowed(larger.start)).any()
        token = rng.choice(np.flatnonzero(row).tolist())
        if token == 0:
            break
        text += inner.vocabulary.token_bytes(token)
        place = limited.advance(place, token)
    assert oracle.accepts(text)


def test_room_to_spare_forbids_nothing() -> None:
    inner = made(TEXTS[2])
    limited = inner.within(500)
    assert limited.row_key(limited.start) == inner.row_key(inner.start)
    state = inner.read(inner.start, b"((1a")
    least = inner.costs.least(state)
    assert least == 3 and inner.costs.text(state) == b"0))"


def test_a_limit_that_no_text_keeps() -> None:
    inner = made(TEXTS[4])
    least = inner.costs.least(inner.start)
    assert 17 <= least <= 101
    with pytest.raises(LimitError, match=f"the least is {least}"):
        inner.within(least - 1)


@pytest.mark.parametrize("text", TEXTS)
def test_equal_row_keys_have_equal_rows(text: str) -> None:
    constraint = made(text)
    rows: dict[object, np.ndarray] = {}
    for seed in range(6):
        for state in laws.walk(constraint, random.Random(seed), 40):
            row = constraint.allowed(state)
            first = rows.setdefault(constraint.row_key(state), row)
            assert np.array_equal(first, row)


def test_save_and_load(tmp_path: Path) -> None:
    constraint = made(TEXTS[2])
    constraint.save(tmp_path / "one")
    back = load(tmp_path / "one", constraint.vocabulary)
    assert back.kind == "grammar" and back.report() == constraint.report()
    assert np.array_equal(back.allowed(back.start), constraint.allowed(back.start))
    assert back.matches("(1a2)b3") and not back.matches("(1a2b3")
    made(TEXTS[2]).save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_byte_without_a_token_of_its_own() -> None:
    only = Vocabulary.from_bytes([None, b"a", b"ab"], [0])
    with pytest.raises(VocabularyError, match="just the byte 'b'"):
        constrain(only, grammar='root ::= "a" root "b" | ""')
    made = constrain(only, grammar='root ::= "a" root "a" | "a"')
    assert made.matches("aaa")


def test_the_door() -> None:
    words = vocabulary()
    made = constrain(words, grammar='root ::= "(" root ")" | "x"', max_tokens=9)
    assert made.matches("((x))") and not made.matches("(((((((x)))))))")
    assert constrain(words, grammar='root ::= "a"').kind == "dfa"
    with pytest.raises(TypeError, match="nests as deep as it likes"):
        constrain(words, grammar='root ::= "a"', depth=5)
    with pytest.raises(TypeError, match="about JSON"):
        constrain(words, grammar='root ::= "a"', whitespace="free")
    with pytest.raises(TypeError, match="got regex and grammar"):
        constrain(words, grammar='root ::= "a"', regex="a")
    with pytest.raises(TypeError, match="text of a grammar"):
        constrain(words, grammar=5)  # type: ignore[arg-type]


def test_nests_as_deep_as_a_text_is_long() -> None:
    made = constrain(vocabulary(), grammar='root ::= "(" root ")" | "x"')
    text = "(" * 20_000 + "x" + ")" * 20_000
    assert made.matches(text)
    assert made.shortest(made.read(made.start, b"(" * 20_000)) == text[20_000:].encode()
