"""Where another compressor of tokens is known to lose something, with the right value.

CFGzip as published drops the empty text of terminals that have one, drops ``{m,n}``
outside groups, misreads a class of all but backslash and quote, and puts ids that are
no text into the class of the end; all without a word.  Here on the bytes of texts, on
classes, and on the masks that representatives give.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from stcon import constrain
from stcon.constraints.constraint import State
from stcon.constraints.grammar import GrammarConstraint
from stcon.decode.processor import bind
from stcon.engines import Representatives, compressed_xgrammar
from stcon.machines.dfa import DEAD
from stcon.machines.grammar import compile_grammar
from stcon.syntax.grammar_text import parse_grammar
from stcon.tokens.vocabulary import Vocabulary
from tests.engines import fake_xgrammar

WORDS = [b"aa", b"ab", b"abb", b"bb", b"12", b"123", b"1234", b"''", b"\\'", b"n'"]
ENDS, SPECIAL, HOLE = [0, 1], 2, 3
TOKENS = [None, b"ignored", None, None, *(bytes([byte]) for byte in range(128)), *WORDS]
VOCABULARY = Vocabulary.from_bytes(TOKENS, ENDS)

# What is lost, the grammar in both notations, texts and what else is no text.
FAULTS = {
    "nullable terminal": (
        ('root ::= a "b"\na ::= [a]*', 'start: A "b"\nA: /a*/'),
        [b"b", b"ab", b"aab"],
        [b"", b"a", b"bb", b"abb"],
    ),
    "nullable alternative": (
        ('root ::= sign "1"\nsign ::= ("a" | "b")?', 'start: A "1"\nA: /a|b|/'),
        [b"1", b"a1", b"b1"],
        [b"ab1", b"", b"a"],
    ),
    "count of a class": (
        ("root ::= [0-9]{2,3}", "start: A\nA: /[0-9]{2,3}/"),
        [b"12", b"123", b"012"],
        [b"", b"1", b"1234"],
    ),
    "count of a letter": (
        ('root ::= "a" "b"{2}', "start: A\nA: /ab{2}/"),
        [b"abb"],
        [b"a", b"ab", b"abbb", b"abab", b"ab{2}"],
    ),
    "count without an upper end": (
        ('root ::= "a"{2,} "b"', 'start: A "b"\nA: /a{2,}/'),
        [b"aab", b"aaaaab"],
        [b"ab", b"b", b"aa"],
    ),
    "neither backslash nor quote": (
        ('root ::= "\'" [^\\\\\']* "\'"', "start: A\nA: /'[^\\\\']*'/"),
        [b"''", b"'n'", b"'a^b'", b"'\"'", b"'[]'"],
        [b"'\\'", b"'''", b"'\\n'", b"'a", b"'\\''"],
    ),
}
CASES = [
    pytest.param(text, good, bad, id=f"{name}, {notation}")
    for name, (texts, good, bad) in FAULTS.items()
    for notation, text in zip(("gbnf", "lark"), texts, strict=True)
]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STCON_CACHE_DIR", str(tmp_path))


def made(text: str) -> GrammarConstraint:
    """The constraint of a grammar, built, though it may suit a finite automaton."""
    machine = compile_grammar(parse_grammar(text).rules)
    constraint = GrammarConstraint(machine, VOCABULARY, bind("host"))
    constraint.build()
    return constraint


def of_representatives(
    constraint: GrammarConstraint, speaks: Representatives, at: State
) -> NDArray[np.bool_]:
    """The mask of all tokens from what the representatives do."""
    is_open = [constraint.read(at, text) != DEAD for text in speaks.texts[:-1]]
    packed = np.packbits([*is_open, constraint.is_complete(at)], bitorder="little")
    return speaks.expanded(packed.tobytes(), VOCABULARY.size)


@pytest.mark.parametrize(("text", "good", "bad"), CASES)
def test_texts(text: str, good: list[bytes], bad: list[bytes]) -> None:
    for constraint in (made(text), constrain(VOCABULARY, grammar=text)):
        assert [t for t in good if not constraint.matches(t)] == []
        assert [t for t in bad if constraint.matches(t)] == []


@pytest.mark.parametrize(("text", "good", "bad"), CASES)
def test_masks(text: str, good: list[bytes], bad: list[bytes]) -> None:
    """Of all tokens: by what each does to the text, and from one of each class."""
    constraint = made(text)
    classes = constraint.displacement_classes()
    speaks = Representatives(classes, VOCABULARY)
    assert speaks.end < VOCABULARY.size / 3
    for sample in good:
        for length in range(len(sample) + 1):
            at = constraint.read(constraint.start, sample[:length])
            want = [
                token is not None and constraint.read(at, token) != DEAD
                for token in TOKENS
            ]
            for end in ENDS:
                want[end] = constraint.is_complete(at)
            assert constraint.allowed(at).tolist() == want
            assert of_representatives(constraint, speaks, at).tolist() == want


@pytest.mark.parametrize(("text", "good", "bad"), CASES)
def test_ids_that_are_no_text_are_not_the_end(
    text: str, good: list[bytes], bad: list[bytes]
) -> None:
    constraint = made(text)
    speaks = Representatives(constraint.displacement_classes(), VOCABULARY)
    assert speaks.kind_of[ENDS].tolist() == [speaks.end] * 2
    assert speaks.kind_of[[SPECIAL, HOLE]].min() > speaks.end
    complete = constraint.read(constraint.start, good[0])
    rows = (
        constraint.allowed(complete),
        of_representatives(constraint, speaks, complete),
    )
    for row in rows:
        assert row[ENDS].all() and not row[[SPECIAL, HOLE]].any()


def test_what_an_engine_is_told_is_not_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "xgrammar", fake_xgrammar)
    engine = compressed_xgrammar(VOCABULARY, 'root ::= "1" root | "1"')
    history = [9]
    row = np.array(engine.row(history, VOCABULARY.size))[0]
    assert not row[[*ENDS, SPECIAL, HOLE]].any()
    history.append(TOKENS.index(b"1"))
    row = np.array(engine.row(history, VOCABULARY.size))[0]
    assert row[ENDS].all() and not row[[SPECIAL, HOLE]].any()


def kinds(text: str, *tokens: bytes) -> list[int]:
    """The classes of tokens under a grammar."""
    class_of = made(text).displacement_classes().class_of
    return [int(class_of[TOKENS.index(token)]) for token in tokens]


def test_counts_tell_tokens_apart() -> None:
    one, two, three, four, nine, never = kinds(
        "root ::= [0-9]{2,3}", b"1", b"12", b"123", b"1234", b"9", b"x"
    )
    assert len({one, two, three, never}) == 4
    assert nine == one and four == never


def test_backslashes_and_quotes_are_apart() -> None:
    quote, backslash, letter, other, both = kinds(
        'root ::= "\'" [^\\\\\']* "\'"', b"'", b"\\", b"n", b'"', b"\\'"
    )
    assert letter == other and backslash == both
    assert len({quote, backslash, letter}) == 3


def test_equal_classes_mean_equal_fate() -> None:
    """All pairs of tokens after each other, where an empty text matters."""
    constraint = made('root ::= a "b" root | "1"\na ::= [a]*')
    speaks = Representatives(constraint.displacement_classes(), VOCABULARY)
    text = [t for t in range(VOCABULARY.size) if VOCABULARY.is_text(t)]
    for first, second in product(text, repeat=2):
        tokens = VOCABULARY.decode([first, second])
        stand_ins = [speaks.texts[speaks.kind_of[t]] for t in (first, second)]
        want = constraint.read(constraint.start, tokens)
        assert constraint.read(constraint.start, b"".join(stand_ins)) == want
