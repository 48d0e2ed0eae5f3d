"""Bad patterns: what is said, and where; hostile ones end soon."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stcon.errors import LimitError, RegexError, StconError
from stcon.syntax.regex import parse_regex

NOTHING = "has nothing to repeat"
BAD = [
    # pattern, message, offset
    ("*", f"* {NOTHING}", 0),
    ("a|+", f"+ {NOTHING}", 2),
    ("(?)", "unknown kind of group", 0),
    ("(?:{2})", f"{{2}} {NOTHING}", 3),
    ("(?i)*", f"* {NOTHING}", 4),
    ("a**", "* repeats a repetition", 2),
    ("a*??", "? repeats a repetition", 3),
    ("a{2}{3}", "{3} repeats a repetition", 4),
    ("ab^*", "* repeats an assertion", 3),
    (r"\b?", "? repeats an assertion", 2),
    ("(?=a)*", "* repeats an assertion", 5),
    ("ab*+", "possessive quantifiers", 2),
    ("ab{1,2}+", "possessive quantifiers", 2),
    ("a{,5}", "a count without its least", 1),
    ("a{3,2}", "counts of a repetition are out of order", 1),
    ("(a", "a group without its closing parenthesis", 0),
    ("(a)(b(c)", "a group without its closing parenthesis", 3),
    ("a)", "a closing parenthesis without a group", 1),
    ("a[b", "a class without its closing bracket", 1),
    ("[", "a class without its closing bracket", 0),
    ("[^", "a class without its closing bracket", 0),
    ("[a-", "a class without its closing bracket", 0),
    ("a[]", "a class begins with ]", 1),
    ("[^]a]", "a class begins with ]", 0),
    ("[z-a]", "a range that runs backwards", 1),
    (r"[b\x42-A]", "a range that runs backwards", 2),
    (r"[\w-a-z]", "a range next to a set and a dash", 1),
    ("[[:alpha:]]", "POSIX classes such as [:alpha:]", 1),
    (r"[a\B]", r"\B is no character", 2),
    ("a\\", "nothing follows the backslash", 1),
    ("[a\\", "nothing follows the backslash", 2),
    (r"a\q", r"unknown escape \q", 1),
    (r"\a", "a bell in Python", 0),
    (r"\e", "an escape character", 0),
    (r"\N{DIGIT ONE}", "a character by name", 0),
    (r"\U0001F600", "a code point in Python only", 0),
    (r"\X", "a grapheme cluster", 0),
    (r"\R", "a line break", 0),
    (r"\h", "a blank", 0),
    (r"\H", "no blank", 0),
    (r"\K", "a reset of the match", 0),
    (r"\G", "the end of the last match", 0),
    (r"\Q.\E", "a quotation", 0),
    (r"(a)\1", r"\1 is a backreference", 3),
    (r"[\1]", r"\1 is a backreference", 1),
    (r"(?<n>a)\k<n>", "a backreference", 7),
    (r"(a)\g<1>", "a backreference", 3),
    ("(?P<n>a)(?P=n)", "a backreference is not regular", 8),
    (r"\01", "octal escapes", 0),
    (r"\x4", r"\x needs two hexadecimal digits", 0),
    (r"\u12", r"\u needs four hexadecimal digits", 0),
    (r"\u{}", r"\u needs four hexadecimal digits", 0),
    (r"\u{110000}", "no character beyond U+10FFFF", 0),
    (r"\c1", r"\c needs a letter", 0),
    (r"a\uD83D", "a lone surrogate", 1),
    (r"\uDE00\uD83D", "a lone surrogate", 0),
    (r"\u{D83D}\u{DE00}", "a lone surrogate", 0),
    ("ab\ud83d", "a lone surrogate", 2),
    ("[a\ud83d]", "a lone surrogate", 2),
    ("\\\ud83d", "a lone surrogate", 0),
    (r"\pL", "needs the name of a Unicode property", 0),
    (r"\p{^L}", "needs the name of a Unicode property", 0),
    (r"\p{Latin}", "no property 'Latin'", 0),
    (r"a\p{lu}", "no property 'lu'", 1),
    (r"[\P{Script=Greak}]", "no property 'Script=Greak'", 1),
    (r"\p{Block=Greek}", "no property 'Block=Greek'", 0),
    (r"\p{sc=}", "no property 'sc='", 0),
    ("(?<=a)b", "look-behind", 0),
    ("(?<!a)b", "look-behind", 0),
    ("(?>a)", "atomic groups", 0),
    ("(a)?(?(1)b|c)", "conditionals", 4),
    ("(?R)", "recursion is not regular", 0),
    ("(?&n)", "recursion is not regular", 0),
    ("(?P>n)", "recursion is not regular", 0),
    ("(?1)", "unknown kind of group", 0),
    ("(?|a)", "branch reset groups", 0),
    ("(?#a", "a comment without its closing parenthesis", 0),
    ("(?<1>a)", "a group needs a name", 0),
    ("(?P<>a)", "a group needs a name", 0),
    ("(?P<n", "a group needs a name", 0),
    ("(?Pa)", "the flag P is not supported", 0),
    ("a(?", "unknown kind of group", 1),
    ("(?m)^a", "the flag m is not supported", 0),
    ("(?ix)a", "the flag x is not supported", 0),
    ("(?u)a", "the flag u is not supported", 0),
    ("(?s-m:a)", "the flag m is not supported", 0),
    ("a(?i)b", "flags in the middle", 1),
    ("((?i)b)", "flags in the middle", 1),
    ("(?-i)b", "flags off for the rest", 0),
    ("x(?:(?=a)b)*", "a look-ahead or a word boundary inside a repetition", 11),
    (r"(?:\ba){2}", "a look-ahead or a word boundary inside a repetition", 7),
    ("(" * 251 + ")" * 251, "groups nested too deeply, more than 250", 250),
    ("(?=" * 51 + ")" * 51, "look-aheads nested too deeply", 0),
]


@pytest.mark.parametrize(("pattern", "message", "offset"), BAD)
def test_bad_pattern(pattern: str, message: str, offset: int) -> None:
    with pytest.raises(RegexError) as caught:
        parse_regex(pattern, mode="search")
    assert message in caught.value.message or message in str(caught.value)
    assert caught.value.offset == offset
    assert caught.value.pattern == pattern


HINTS = [
    (r"\p{Latin}", "Script=Latin"),
    (r"\p{uppercase_letter}", "Uppercase_Letter"),
    (r"\p{Script=Greak}", "Script=Grek"),
    (r"\p{scx=Grec}", "scx=Grek"),
    (r"\p{Block=Greek}", "docs/regex.md"),
    ("(?m)a", r"(?:^|[\s\S]*\n)"),
    ("(?<=a)b", "write the text before"),
]


@pytest.mark.parametrize(("pattern", "hint"), HINTS)
def test_the_way_out(pattern: str, hint: str) -> None:
    with pytest.raises(RegexError) as caught:
        parse_regex(pattern, mode="full")
    assert hint in caught.value.hint


def refused_in_the_manual() -> list[tuple[str, str]]:
    """The rows (refused, what to write) of the table in docs/regex.md."""
    page = (Path(__file__).parents[2] / "docs" / "regex.md").read_text("utf-8")
    table = page.partition("## What is refused")[2].partition("## Limits")[0]
    rows = [re.split(r"(?<!\\)\|", line) for line in table.splitlines()]
    return [(row[1], row[3]) for row in rows if len(row) > 3 and "`" in row[1]]


def quoted(cell: str) -> list[str]:
    return [code.replace("\\|", "|") for code in re.findall("`([^`]+)`", cell)]


def test_the_manual_is_right_about_what_is_refused() -> None:
    rows = refused_in_the_manual()
    assert len(rows) > 15
    for refused, instead in rows:
        for pattern in quoted(refused):
            with pytest.raises(RegexError):
                parse_regex(pattern, mode="full")
        for pattern in quoted(instead):
            parse_regex(pattern, mode="full")


LONG = 100_000
HOSTILE = {
    "too long": ("a" * (LONG + 1), "bytes"),
    "a billion rounds": ("a{1000000000000}", "states"),
    "digits": ("a{" + "9" * 50_000 + "}", "states"),
    "anchors": ("a?^" * 2001, "states"),
    "boundaries": (r"a?\b" * 501, "states"),
    "looks": ("(?=a)" * 201, "states"),
    "many big classes": (r"[\p{L}a]" * 900, "bytes"),
    "long groups in groups": ("(" * 250 + "a" * 90_000 + "b)" * 250, "seconds"),
    "guarded ones": ("(" * 250 + "^" + "a" * 40_000 + "b)" * 250, "seconds"),
    "wide groups in groups": ("(" * 250 + "ab|" * 9_000 + "|c)" * 250, "seconds"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_limits(name: str) -> None:
    pattern, what = HOSTILE[name]
    with pytest.raises(LimitError) as caught:
        parse_regex(pattern, mode="search")
    assert caught.value.what == what


FINE = {
    "characters": "a" * LONG,
    "alternatives": "|".join(f"{i:04x}" for i in range(19_000)),
    "characters apart": "|".join(chr(0x20000 + 3 * i) for i in range(20_000)),
    "unions of them": "|".join(f"(ab|{chr(0x20000 + 3 * i)})" for i in range(4_000)),
    "one big class": "[" + "".join(chr(0x20000 + 3 * i) for i in range(90_000)) + "]",
    "one big property": r"(?i:\P{L})" * 10_000,
    "deep": "(" * 250 + "a" + ")*" * 250,
    "deep counts": "(" * 250 + "a" + "){999999999}" * 250,
    "guarded": "(a|^)" * 1_000,
    "bounded": r"(a|\b)" * 200,
    "look-aheads": "(?:a|(?!b)|(?=c))" * 100,
    "zeros": r"\u{" + "0" * 90_000 + "41}",
}


@pytest.mark.parametrize("name", FINE)
def test_large_patterns_that_are_fine(name: str) -> None:
    parse_regex(FINE[name], mode="search")


@pytest.mark.parametrize(
    "text", ["[[:", "{", "(?#", "a{1", "\\(", "(?i)", "(?<", "[", "("]
)
def test_repeated_fragments_end_in_a_result_or_an_error(text: str) -> None:
    try:
        parse_regex(text * (LONG // len(text)), mode="full")
    except StconError as error:
        assert error.message
