"""Properties and case folding, against Python's own tables where they agree."""

from __future__ import annotations

import re
import sys
import unicodedata
from itertools import chain

import pytest

from stcon.syntax.charset import ANY, CharSet
from stcon.syntax.regex.sets import DIGIT, SPACE, WORD
from stcon.syntax.regex.unicode import (
    find_property,
    folded,
    similar_property,
    unicode_version,
)

POINTS = list(chain(range(0xD800), range(0xE000, sys.maxunicode + 1)))
TURKIC = "iI\u0130\u0131"


def members(charset: CharSet) -> set[int]:
    return {c for first, last in charset.ranges for c in range(first, last + 1)}


def property_of(name: str) -> CharSet:
    found = find_property(name)
    assert found is not None, name
    return found


LEAVES = re.findall(
    "..",
    "LuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCoCn",
)


def test_categories_are_those_of_python_for_what_it_knows() -> None:
    have = {c: leaf for leaf in LEAVES for c in members(property_of(leaf))}
    assert sorted(have) == POINTS  # the leaves part all characters among them
    known = [c for c in POINTS if unicodedata.category(chr(c)) != "Cn"]
    changed = [c for c in known if have[c] != unicodedata.category(chr(c))]
    assert len(changed) < 10  # few characters ever move: U+0295, U+1171E


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("L", "Lu Ll Lt Lm Lo"),
        ("LC", "Lu Ll Lt"),
        ("M", "Mn Mc Me"),
        ("N", "Nd Nl No"),
        ("P", "Pc Pd Ps Pe Pi Pf Po"),
        ("S", "Sm Sc Sk So"),
        ("Z", "Zs Zl Zp"),
        ("C", "Cc Cf Cs Co Cn"),
    ],
)
def test_groups_of_categories(name: str, parts: str) -> None:
    want = CharSet(())
    for part in parts.split():
        want |= property_of(part)
    assert property_of(name) == want


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lu", "Uppercase_Letter"),
        ("Lu", "gc=Lu"),
        ("Lu", "General_Category=Uppercase_Letter"),
        ("P", "punct"),
        ("M", "Combining_Mark"),
        ("Script=Greek", "sc=Grek"),
        ("Script_Extensions=Greek", "scx=Grek"),
        ("scx=Ahom", "sc=Ahom"),
        ("Alphabetic", "Alpha"),
        ("Assigned", "Any"),
    ],
)
def test_other_names(one: str, other: str) -> None:
    assert (property_of(one) == property_of(other)) == (one != "Assigned")


@pytest.mark.parametrize(
    ("name", "yes", "no"),
    [
        ("Script=Greek", "λΩ", "aж"),
        ("scx=Greek", "λ\u0342", "a"),
        ("Script=Han", "漢々", "かa"),
        ("Script=Latin", "aéﬁ", "λ1"),
        ("Emoji", "😀1#", "a"),
        ("Emoji_Presentation", "😀", "1"),
        ("Extended_Pictographic", "😀©", "1"),
        ("White_Space", " \x85\u2028", "a\ufeff"),
        ("ASCII", "\0\x7f", "\x80"),
        ("ASCII_Hex_Digit", "0aF", "g"),
        ("ID_Start", "aλ", "1_"),
        ("ID_Continue", "a1_", "-"),
        ("Uppercase", "AⒶ", "a"),
        ("Any", "a\U0010ffff", ""),
        ("Cs", "", "a"),
    ],
)
def test_members(name: str, yes: str, no: str) -> None:
    charset = property_of(name)
    assert [c for c in yes + no if ord(c) in charset] == list(yes)


def test_assigned_is_what_has_a_category() -> None:
    assert property_of("Assigned") == ~property_of("Cn")
    assert property_of("Any") == ANY


@pytest.mark.parametrize(
    "name", ["", "lu", "sc=", "=Lu", "gc=Greek", "Latin", "Lu=", "fold"]
)
def test_no_such_property(name: str) -> None:
    assert find_property(name) is None


def test_similar_names() -> None:
    assert similar_property("Latin") == "Script=Latin"
    assert similar_property("Alphabetical") == "Alphabetic"
    assert similar_property("gc=Leter") == "gc=Letter"
    assert similar_property("???") == ""


def test_version() -> None:
    assert re.fullmatch(r"\d+\.0\.0", unicode_version())


def test_folding_is_that_of_python_but_for_dots_of_i() -> None:
    cased = [c for c in map(chr, POINTS) if {c.lower(), c.upper(), c.casefold()} - {c}]
    text = "".join(c for c in cased if c not in TURKIC)
    for char in text[:600] + text[600::5]:
        have = {chr(c) for c in members(folded(CharSet.of(char)))}
        assert have & set(text) == set(re.findall(char, text, re.IGNORECASE)), char
    for char, want in (
        ("i", "iI"),
        ("I", "iI"),
        ("\u0130", "\u0130"),
        ("\u0131", "\u0131"),
    ):
        assert folded(CharSet.of(char)) == CharSet.of(want)


@pytest.mark.parametrize(
    ("first", "last"), [(0x61, 0x7A), (0x00, 0xFFF), (0x1000, 0x2FFF)]
)
def test_folding_of_a_range_is_that_of_its_members(first: int, last: int) -> None:
    single = [folded(CharSet.of(c)).ranges for c in range(first, last + 1)]
    assert folded(CharSet.of((first, last))) == CharSet.of(*chain(*single))


@pytest.mark.parametrize(
    ("charset", "letter"), [(DIGIT, "d"), (WORD, "w"), (SPACE, "s")]
)
def test_sets_are_those_of_python_in_ascii(charset: CharSet, letter: str) -> None:
    have = {c for c in members(charset) if c < 128}
    assert have == {c for c in range(128) if re.match(f"\\{letter}", chr(c), re.ASCII)}
