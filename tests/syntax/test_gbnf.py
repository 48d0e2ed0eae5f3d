"""GBNF: what each construct means, and what is said of a broken grammar."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from stcon import GrammarError, constrain
from stcon.syntax.gbnf import parse_gbnf
from tests.test_api import BYTES

MEANINGS = [
    # grammar, texts that match, texts that do not
    ('root ::= "a" "b"', ["ab"], ["", "a", "abb"]),
    ('root ::= "a" | "b" |', ["a", "b", ""], ["ab"]),
    ('root ::= ("a" | "b") "c"', ["ac", "bc"], ["a", "c"]),
    ('root ::= "a"*', ["", "a", "aaa"], ["b"]),
    ('root ::= "a"+ "b"?', ["a", "aab"], ["", "b", "abb"]),
    ('root ::= "a"{2}', ["aa"], ["a", "aaa"]),
    ('root ::= "a"{ 2 , 3 }', ["aa", "aaa"], ["a", "aaaa"]),
    ('root ::= "a"{2,}', ["aa", "aaaaa"], ["a"]),
    ('root ::= "a"{0}', [""], ["a"]),
    ('root ::= ("a" "b"){2,3}', ["abab"], ["ab", "aabb"]),
    ('root ::= "ab"*', ["", "abab"], ["abb", "aab"]),
    ('root ::= "a"?{2,3}', ["", "aaa"], ["aaaa"]),
    ("root ::= [a-c]", ["a", "c"], ["d", "-", ""]),
    ("root ::= [^a-c]", ["d", "é", "\n", "😀"], ["a", ""]),
    ("root ::= [-a]", ["-", "a"], ["b"]),
    ("root ::= [a-]", ["-", "a"], ["b"]),
    (r"root ::= [a\-c]", ["-", "a", "c"], ["b"]),
    (r"root ::= [\]\[\\^]", ["]", "[", "\\", "^"], ["a"]),
    (r"root ::= [\x41-\x43é-ë]", ["A", "C", "ê"], ["D", "e"]),
    (r"root ::= [\u3041-\U0001F600]", ["ぁ", "😀"], ["a", "😁"]),
    ("root ::= [^]", ["a", "\n"], ["", "ab"]),
    ('root ::= "a" | [] "b"', ["a"], ["b", ""]),
    ("root ::= .", ["a", "\n", "é", "😀"], ["", "ab"]),
    (r'root ::= "\x41\u00e9\U0001F600\n\t\r\\\"\0"', ['Aé😀\n\t\r\\"\0'], ["A"]),
    (r'root ::= "\'\?\/\[\]\-\^"', ["'?/[]-^"], ["'"]),
    ('root ::= ""', [""], ["a"]),
    ('# head\nroot ::= # why\n  "#" # not\n  | "b"', ["#", "b"], ["a"]),
    ('root ::= a-1 b_2\na-1 ::= "x"\nb_2 ::= "y"', ["xy"], ["x"]),
    ('root ::= x.y x\nx.y ::= "1"\nx ::= "2"', ["12"], ["1"]),
    ('root ::= x.x\nx ::= "2"', ["2a2", "2\n2"], ["22"]),
    ('root ::= "a"\n | "b"\n\n  "c"\nx ::= root', ["a", "bc"], ["b"]),
    ("root ::=\r\n  x\r\nx ::= [0-9]\r\n", ["7"], ["\r"]),
    ('root::=x\nx::="a"|"b"', ["a", "b"], [""]),
    ('root ::= x | y\nx ::= x\ny ::= "a"', ["a"], [""]),
]


@pytest.mark.parametrize(("text", "good", "bad"), MEANINGS)
def test_meaning(text: str, good: list[str], bad: list[str]) -> None:
    made = constrain(BYTES, grammar=text)
    assert [t for t in good if not made.matches(t)] == []
    assert [t for t in bad if made.matches(t)] == []


BROKEN = [
    # grammar, line, column, rule, words
    ("", 1, 1, "", "no rule root"),
    ('x ::= "a"', 1, 1, "", "no rule root"),
    ("x.gbnf", 1, 1, "", "not the name of a file"),
    ('root ::= "a";', 1, 13, "root", "ends with its line"),
    ("root ::= %json {}", 1, 10, "root", "Lark's notation"),
    ('root ::= "a" y', 1, 14, "root", "no rule y"),
    ('root ::= item\nitems ::= "a"', 1, 10, "root", "did you mean items"),
    ('root ::= "a', 1, 10, "root", "not closed"),
    ('root ::= "a\n"', 1, 10, "root", "not closed"),
    ("root ::= [a", 1, 10, "root", "not closed"),
    ("root ::= [a-", 1, 11, "root", "not closed"),
    ("root ::= [z-a]", 1, 11, "root", "range is empty"),
    ('root ::= ("a"', 1, 10, "root", "not closed"),
    ('root ::= "a")', 1, 13, "root", "closes nothing"),
    ('root ::= "a"\nx ::= "b")', 2, 10, "x", "closes nothing"),
    ("root ::= *", 1, 10, "root", "'*' is not known here"),
    ('root ::= "a"{', 1, 13, "root", "a count is"),
    ('root ::= "a"{,3}', 1, 13, "root", "a count is"),
    ('root ::= "a"{3,2}', 1, 13, "root", "from 3 to 2"),
    ('root ::= "a"{99999999999999999999999}', 1, 13, "root", "a count is"),
    ('root ::= "a"{9999999999999999999}', 1, 13, "root", "too high"),
    (r'root ::= "\q"', 1, 11, "root", "is not known"),
    (r'root ::= "\x4"', 1, 11, "root", "2 hexadecimal digits"),
    (r'root ::= "\ud800"', 1, 11, "root", "no character"),
    (r'root ::= "\UFFFFFFFF"', 1, 11, "root", "no character"),
    ('root ::= "a"\nroot ::= "b"', 2, 1, "root", "already"),
    ('"a"', 1, 1, "", "a rule was expected"),
    ("root", 1, 1, "", "a rule was expected"),
    ("root ::= <think>", 1, 10, "root", "a token by its name"),
    ("root ::= !<[7]>", 1, 10, "root", "must not come"),
    ("root ::= 'a'", 1, 10, "root", "double quotes"),
    ("root ::= /a/", 1, 10, "root", "a regex is not part"),
    ('root ::= "a" (= "b")', 1, 15, "root", "lookahead"),
    ('root ::= TagDispatch(("<a>", x))', 1, 10, "root", "macro"),
    ("root ::= " + "(" * 300, 1, 110, "root", "parentheses"),
    ("root ::= x\nx ::= x", 1, 1, "root", "no text matches"),
    ("root ::= []", 1, 1, "root", "no text matches"),
]


@pytest.mark.parametrize(("text", "line", "column", "rule", "words"), BROKEN)
def test_broken(text: str, line: int, column: int, rule: str, words: str) -> None:
    with pytest.raises(GrammarError, match=r"(?s)line \d+, column \d+") as found:
        constrain(BYTES, grammar=text)
    error = found.value
    assert words in str(error)
    assert (error.line, error.column, error.rule) == (line, column, rule)
    lines = str(error).splitlines()
    assert lines[2].strip() == "^"
    assert lines[2].index("^") - 4 <= 40


def test_the_caret_is_below_the_place() -> None:
    with pytest.raises(GrammarError) as found:
        parse_gbnf('root ::= x\nx ::= "\t" "\\q"')
    _, shown, caret, *_ = str(found.value).splitlines()
    assert shown[caret.index("^") :].startswith("\\q")


def test_hostile_texts_end_soon() -> None:
    began = time.monotonic()
    for text in (
        "root ::= " + '"a" | ' * 20_000,
        "root ::= " + '("a"? ' * 90 + ")*" * 90,
        "#" * 200_000,
        "root ::= " + '"a"' + "{0,9999}" * 30,
        "root ::= " + "[" + "a-z" * 50_000 + "]",
        "root ::= x{9223372036854775808}" + '\nx ::= root "a" | "b"',
        "\n".join(f"r{i} ::= r{i}" for i in range(5_000)),
    ):
        with suppress(GrammarError):
            constrain(BYTES, grammar=text)
    assert time.monotonic() - began < 20  # 1 s here


def test_unused_rules_are_reported() -> None:
    made = constrain(BYTES, grammar='root ::= "a"\nb ::= c{300}\nc ::= "x"')
    assert made.report()["unused_rules"] == ["b", "c"]
