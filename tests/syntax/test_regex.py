"""Patterns against Python's re and interegular, and the dialect as a table."""

from __future__ import annotations

import itertools
import re

import interegular
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stcon.errors import RegexError
from stcon.machines.compile import compile_expr
from stcon.machines.dfa import Dfa
from stcon.syntax.encode import encode, utf8
from stcon.syntax.regex import parse_regex
from tests.oracles.small_patterns import AROUND, LOOKS, patterns

MODES = ("full", "search")


def compiled(pattern: str, mode: str = "full") -> Dfa:
    return compile_expr(encode(parse_regex(pattern, mode=mode), utf8))


def texts(alphabet: str, longest: int) -> list[str]:
    """Every text over ``alphabet`` up to length ``longest``."""
    lengths = range(longest + 1)
    all_of = (itertools.product(alphabet, repeat=length) for length in lengths)
    return ["".join(letters) for group in all_of for letters in group]


def in_python(pattern: str, mode: str, among: list[str]) -> list[str]:
    """Which texts Python's re matches; its $ also means "before a last line end"."""
    python = re.compile(pattern.replace("$", r"\Z"))
    match = python.fullmatch if mode == "full" else python.search
    return [text for text in among if match(text)]


def refused(pattern: str, mode: str) -> bool:
    """Whether the pattern is refused, for the one thing that small ones can be."""
    try:
        parse_regex(pattern, mode=mode)
    except RegexError as error:
        assert "inside a repetition" in error.message
        return True
    return False


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("size", "atoms", "around", "every"),
    [
        (1, ["a", "b", "^", "$", ""], AROUND, 1),
        (2, ["a", "b", "^", "$", ""], AROUND, 1),
        (3, ["a", "b", "^", "$", ""], AROUND, 1),
        (4, ["a", "b", "^", "$"], AROUND, 7),
        (5, ["a", "^", "$"], AROUND[:3], 23),
        (6, ["a", "^", "$"], AROUND[:3], 499),
        (2, ["a", "-", "^", "$", r"\b", r"\B"], LOOKS, 1),
        (3, ["a", "-", "^", "$", r"\b", r"\B"], LOOKS, 1),
        (4, ["a", "-", "^", "$", r"\b", r"\B"], LOOKS, 7),
        (4, ["a", "^", "$", r"\b"], AROUND[:2] + LOOKS, 7),
        (5, ["a", "^", "$", r"\b"], AROUND[:2] + LOOKS, 97),
    ],
)
def test_small_patterns_match_as_in_python(
    size: int, atoms: list[str], around: list[str], every: int, mode: str
) -> None:
    checked = 0
    for pattern in patterns(size, atoms, around)[::every]:
        if refused(pattern, mode):
            continue
        # Python says there is no \B in an empty text; ECMA-262 says there is
        among = texts("-a" if "-" in atoms else "ab", 4)[r"\B" in pattern :]
        dfa = compiled(pattern, mode)
        have = [text for text in among if dfa.matches(text.encode())]
        assert have == in_python(pattern, mode, among), pattern
        checked += 1
    assert checked > len(atoms) - 1


def random_patterns(atoms: list[str]) -> st.SearchStrategy[str]:
    return st.recursive(
        st.sampled_from(atoms),
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=4).map("".join),
            st.lists(inner, min_size=2, max_size=3).map(lambda x: f"({'|'.join(x)})"),
            st.tuples(inner, st.sampled_from("*+?")).map(lambda x: f"(?:{x[0]}){x[1]}"),
            st.tuples(inner, st.integers(0, 2), st.integers(0, 2)).map(
                lambda x: f"(?:{x[0]}){{{x[1]},{x[1] + x[2]}}}"
            ),
        ),
        max_leaves=10,
    )


@settings(max_examples=120, deadline=None)
@given(random_patterns(["a", "b", "^", "$", ".", "[ab]", "[^a]", "ab", "a?"]))
def test_random_patterns_match_as_in_python(pattern: str) -> None:
    among = texts("ab\n", 4)
    for mode in MODES:
        dfa = compiled(pattern, mode)
        have = [text for text in among if dfa.matches(text.encode())]
        assert have == in_python(pattern, mode, among)


@settings(max_examples=60, deadline=None)
@given(random_patterns(["a", "b", "[ab]", "[^b]", "ab", r"\d", r"\w"]))
def test_random_patterns_match_as_in_interegular(pattern: str) -> None:
    among = texts("ab1", 4)
    oracle = interegular.parse_pattern(pattern).to_fsm()
    dfa = compiled(pattern)
    have = [text for text in among if dfa.matches(text.encode())]
    assert have == [text for text in among if oracle.accepts(text)]


BLANKS = (
    " \t\n\v\f\r\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"
    "\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
)
FULL = [
    # pattern, texts it matches, texts it does not
    ("", [""], "a"),
    ("a|", ["", "a"], ["b", "aa"]),
    (".", "a\t\0é😀\v\x85", "\n\r\u2028\u2029"),
    ("(?s).", "a\n\r\u2028\u2029😀", ["", "aa"]),
    ("(?s:.).", ["\na"], ["\n\n"]),
    (r"\d", "09", "٣a"),
    (r"\D", "a٣\n😀", "5"),
    (r"\w", "azAZ09_", "éß- "),
    (r"\W", "é- \n😀", "a_"),
    (r"\s", BLANKS, "a\x1c\x85\u200b\u180e"),
    (r"\S", "a\x85\u200b😀", " \u3000"),
    (r"\n\r\t\f\v\0", ["\n\r\t\f\v\0"], []),
    (r"\x41\u0042\u{43}\u{1F600}", ["ABC😀"], []),
    (r"\uD83D\uDE00", "😀", []),
    (r"[\uD83D\uDE00-\u{1F602}]", "😀😁😂", "😃"),
    (r"\cA\cz", ["\x01\x1a"], []),
    (r"\^\$\\\.\*\+\?\(\)\[\]\{\}\|\/\-\ \@\_\é", ["^$\\.*+?()[]{}|/- @_é"], []),
    ("[abc]", "abc", "d^"),
    ("[^abc]", "d\n😀", "abc"),
    ("[a-cx-z]", "abcxyz", "dw-"),
    ("[-a]", "-a", "b"),
    ("[a-]", "-a", "b"),
    ("[^-a]", "b", "-a"),
    ("[a^]", "a^", "b"),
    (r"[\w-.]", "a_-.", "/ "),
    (r"[a-c-e]", "abc-e", "d"),
    (r"[.-\d]", ".-7", "/a"),
    (r"[\d\s]", "5 ", "a"),
    (r"[^\d\s]", "a", "5 "),
    (r"[\b]", "\b", "b"),
    (r"[\]\\\-\^]", "]\\-^", "a"),
    (r"[.*+?(){}|$/]", ".*+?(){}|$/", "a"),
    ("[[]", "[", "a"),
    ("[a&&b+--]", "a&b+,-", "."),
    (r"[\x41-\u0043]", "ABC", "D"),
    ("a{2}", ["aa"], ["a", "aaa"]),
    ("a{2,}", ["aa", "aaaa"], ["a"]),
    ("a{1,2}", ["a", "aa"], ["", "aaa"]),
    ("a{0}", [""], ["a"]),
    ("a{02}", ["aa"], ["a"]),
    ("a*?b+?c??d{1,2}?", ["b", "aabbcdd"][1:], ["b"]),
    ("{model}", ["{model}"], ["model"]),
    ("a{", ["a{"], ["a"]),
    ("a{,}", ["a{,}"], ["a"]),
    ("a{1", ["a{1"], ["a"]),
    ("a{1,b}", ["a{1,b}"], ["a"]),
    ("]}", ["]}"], []),
    ("(a)(?:b)(?P<n>c)(?<m_1>d)", ["abcd"], []),
    ("()", [""], ["a"]),
    ("(|a)b", ["b", "ab"], ["a"]),
    ("a(?#any text (here)b", ["ab"], []),
    ("a(?#x)*", ["", "aa"], []),
    ("(?i)aé", ["aé", "AÉ", "Aé"], []),
    ("(?i)[a-c]", "abcABC", "dD"),
    ("(?i)[^a-c]", "dD", "abcABC"),
    ("(?i)k", "kK\u212a", "c"),
    ("(?i)ß", "ß\u1e9e", ["ss", "s"]),
    ("(?i)λ", "λΛ", "l"),
    (r"(?i)\u03c3", "\u03c3\u03c2\u03a3", "s"),
    ("(?i)i", "iI", "\u0131\u0130"),
    (r"(?i)\w", "aK", "\u212a\u017f"),
    (r"(?i)\u0041", "aA", []),
    (r"(?i)\p{Lu}", "aA", "1"),
    (r"(?i)\P{Lu}", "1-", "aA"),
    ("a(?i:b)c", ["abc", "aBc"], ["Abc", "abC"]),
    ("(?i)a(?-i:b)c", ["abc", "AbC"], ["aBc"]),
    ("(?i)(?s).a", ["\nA"], []),
    ("(?is).a", ["\nA"], []),
    ("(?is-i:.a)", ["\na"], ["\nA"]),
    ("((?i:a)b)", ["Ab"], ["AB"]),
    ("^a$", ["a"], ["a\n", "\na"]),
    (r"\Aa\Z", ["a"], ["a\n"]),
    (r"\Aa\z", ["a"], ["a\n"]),
    ("a^b", [], ["ab", "a^b"]),
    ("a$b", [], ["ab"]),
    ("^^a$$", ["a"], []),
    ("(?=.*\\d)(?=.*[a-z]).{3}", ["a1b", "1aa"], ["abc", "123", "a1"]),
    ("(?!.*b)[ab]{2}", ["aa"], ["ab", "ba"]),
    ("a(?=b)(b|c)", ["ab"], ["ac"]),
    ("(?:a(?!b)|c)(b|d)", ["ad", "cb", "cd"], ["ab"]),
    ("(?!(?=a)..)[ab]*", ["", "a", "ba"], ["ab", "aa"]),
    ("(?:(?=a)a){1}", ["a"], []),
    ("(?:(?=a)a)?b", ["b", "ab"], ["a"]),
    ("(?:(?=a)a){0}b", ["b"], ["ab"]),
    ("(?!)", [], ["", "a"]),
    ("(?=)a", ["a"], []),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), FULL)
def test_construct(pattern: str, yes: str | list[str], no: str | list[str]) -> None:
    dfa = compiled(pattern)
    have = [text for text in [*yes, *no] if dfa.matches(text.encode())]
    assert have == list(yes)


SEARCH = [
    ("a", ["a", "xay", "\na\n", "😀a"], ["", "b"]),
    ("^a", ["a", "ab"], ["ba", "\na"]),
    ("a$", ["a", "ba"], ["ab", "a\n"]),
    ("^a|b$", ["ax", "xb"], ["xa", "bx"]),
    ("^(a|b$)", ["ax", "b"], ["bx", "xb"]),
    ("^([^,]|$)", ["", "a,"], [",", ",a"]),
    ("(^|,)a", ["a", "x,a"], ["xa"]),
    ("^$", [""], ["a", "\n"]),
    ("", ["", "a"], []),
    (r"\bfoo\b", ["foo", "a foo b", "é foo", "-foo-", "éfooé"], ["xfoo", "foo1"]),
    (r"\Boo", ["foo", "xoox"], ["oo", " oo"]),
    (r"a\b\B", [], ["a", "a-"]),
    (r"^\B$", [""], ["a"]),
    (r"\b\d+\b(?!\.)", ["a 12 b", "1,"], ["1.", "a1"]),
    ("^(?!org\\.)[a-z.]+$", ["com.a", "organ"], ["org.a"]),
    ("a(?=$)", ["ba"], ["ab"]),
    ("(?!^)a", ["ba", "aa"], ["a", "ab"]),
    ("(?=^a).b", ["ab"], ["cab", "bb"]),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), SEARCH)
def test_search(pattern: str, yes: list[str], no: list[str]) -> None:
    dfa = compiled(pattern, "search")
    assert [text for text in yes + no if dfa.matches(text.encode())] == yes


def test_counts_are_not_expanded() -> None:
    have = parse_regex("((a{1000}){1000}){1000}", mode="full")
    assert (have.least, have.item.least, have.item.item.least) == (1000, 1000, 1000)


def test_an_ordinary_pattern_stays_small() -> None:
    assert compiled(r"^[a-z][a-z0-9-]{0,9}\.(com|org)$").states == 18


def test_equal_characters_are_one_node() -> None:
    assert len(set(parse_regex("abab", mode="full").items)) == 2


@pytest.mark.parametrize("mode", ["match", "", None])
def test_mode_is_checked(mode: str) -> None:
    with pytest.raises(ValueError, match="mode is"):
        parse_regex("a", mode=mode)


def test_a_compiled_pattern_is_no_pattern() -> None:
    with pytest.raises(TypeError, match="a pattern is text"):
        parse_regex(re.compile("a"), mode="full")
