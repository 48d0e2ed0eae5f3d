"""Lark's notation: what each construct means, against Lark itself, and errors."""

from __future__ import annotations

import itertools

import pytest

from stcon import GrammarError, Limits, constrain
from stcon.machines.limits import Meter
from stcon.syntax.grammar_text import parse_grammar
from stcon.syntax.lark import parse_lark
from stcon.syntax.rules import Literal
from tests.cases.test_field_cases import CASES
from tests.grammars.mutants import mutants
from tests.test_api import BYTES

MEANINGS = [
    # grammar, texts that match, texts that do not
    ('start: "a" B\nB: "b"', ["ab"], ["a", "b", "a b"]),
    ('start: "a" | "b" |', ["a", "b", ""], ["ab"]),
    ('start: "a"\n  | "b"\n  | x\nx: "c"', ["a", "b", "c"], ["d"]),
    ('start: ["a"] "b"? ("c" | "d")', ["c", "abd", "bc"], ["ab"]),
    ('start: "a"* "b"+', ["b", "aabb"], ["a"]),
    ('start: "a"~3', ["aaa"], ["aa", "aaaa"]),
    ('start: ("a" "b")~1..2', ["ab", "abab"], ["", "ababab"]),
    ('start: "Ab"i', ["ab", "AB", "aB"], ["b"]),
    ('start: "a".."c" D\nD: "0".."9"', ["b7"], ["d7", "b"]),
    (r'start: "\x41\u00e9\n\"\\"', ['Aé\n"\\'], ["A"]),
    ("start: /[a-c]+\\/x/ /y/i", ["ab/xY", "c/xy"], ["/xy"]),
    ("start: /a.b/s", ["a\nb", "acb"], ["ab"]),
    ("start: /a.b/", ["acb"], ["a\nb"]),
    ('?start: x -> y\n!x.2: "a" -> z\n  | "b"', ["a", "b"], ["ab"]),
    ('A.5: "a"\nstart: A // a\n# b\n', ["a"], ["b"]),
    ('start: _list{"a", ","}\n_list{x, y}: x (y x)*', ["a", "a,a"], ["a,", ""]),
    ("start: p{q}\nq: A\nA: /b/\np{x}: x x", ["bb"], ["b"]),
    ('start: r{"a"}\nr{x}: x r{x} | x', ["a", "aaa"], [""]),
    ('%ignore " "\nstart: "a" "b"', ["ab", " a  b "], ["a\tb", ""]),
    ("%ignore /#[^\\n]*\\n/\n%ignore /\\s/\nstart: A+\nA: /a/ /b/",
     ["abab", "ab #x\n ab\n"], ["a b", "ab #x"]),
    ("%import common.NUMBER\nstart: NUMBER", ["1", "2.5", "3e-7", ".5"], ["", "x"]),
    ("%import common.INT -> N\nstart: N", ["12"], ["1.2"]),
    ("%import common (CNAME, WS)\n%ignore WS\nstart: CNAME+", ["a b1", "_x"], ["1"]),
    ("%import common.ESCAPED_STRING\nstart: ESCAPED_STRING",
     ['"a"', '"\\""', '""'], ['"', '"a"b"', '"\n"']),
    ("%import common.C_COMMENT\nstart: C_COMMENT", ["/**/", "/* * */"], ["/*/"]),
    ("%import common.SIGNED_NUMBER\nstart: SIGNED_NUMBER", ["-1.5e3", "+2"], ["--1"]),
    ("start: a???\na: /x/ -> y | (/z/ -> w)+", ["", "x", "zz"], ["xx"]),
    ("start: a+?\na: /x/", ["", "x", "xx"], ["y"]),
    ('start: start "a" | start start | "b"', ["b", "ba", "bbaa"], ["a"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "good", "bad"), MEANINGS)
def test_meaning(text: str, good: list[str], bad: list[str]) -> None:
    made = constrain(BYTES, grammar=text)
    assert [t for t in good if not made.matches(t)] == []
    assert [t for t in bad if made.matches(t)] == []


BROKEN = [
    # grammar, line, column, words
    ('start: / "a"\n', 1, 8, "regex is not closed"),
    ('start: "a', 1, 8, "text is not closed"),
    ("start: x", 1, 8, "no rule x"),
    ('x: "a"', 1, 1, "no rule start"),
    ('start: ("a"', 1, 8, "not closed"),
    ('start: ["a")', 1, 8, "not closed"),
    ('start: "a" )', 1, 12, "not expected"),
    ("start: A\nA: x\nx: /a/", 2, 4, "made of terminals"),
    ('start: A\nA: "a" A | "b"', 2, 1, "calls itself"),
    ('start: "a"\nstart: "b"', 2, 1, "already"),
    ('start: "b".."a"', 1, 8, "a range goes"),
    ('start: "a"~3..2', 1, 12, "from 3 to 2"),
    ('start: "a" -> "b"', 1, 15, "name of an alias"),
    ('start: "a" ->', 1, 14, "name of an alias"),
    ('start: "a" -> | "b"', 1, 15, "name of an alias"),
    ('start: ("a" -> ) "b"', 1, 16, "name of an alias"),
    ('start: "a" -> x "b"', 1, 17, "ends with its alias"),
    ('start: "\ud800"', 1, 9, "U+D800 is no character"),
    ('start: "\ud800"i', 1, 9, "U+D800 is no character"),
    ('%ignore\nstart: "a"', 2, 1, "what is ignored"),
    ("start: " + "p{" * 250 + '"a"' + "}" * 250 + "\np{x}: x", 1, 211, "groups"),
    ('start: "a"~x', 1, 12, "a count was expected"),
    ("start: /a/m", 1, 8, "flags"),
    ("start: /(a/", 1, 9, "in this regex"),
    ("start: /x(?<=a)b/", 1, 10, "look-behind"),
    (r"start: /\/x(?<=a)b/i", 1, 12, "look-behind"),
    ("start: 'a'", 1, 8, 'write "..."'),
    ("start: [0-9]", 1, 9, "/[0-9]/"),
    ("start: A & B\nA: /a/\nB: /b/", 1, 10, "look-ahead"),
    ("start: /a/x", 1, 8, "leave the blanks"),
    (r'start: "\q"', 1, 8, "not known in a text"),
    (r'start: "\ud800"', 1, 8, "no character"),
    ("start: <|end|>", 1, 8, "special token"),
    ("start: p\np{x}: x", 1, 8, "a template"),
    ('start: p{"a", "b"}\np{x}: x', 1, 8, "takes 1"),
    ('start: p{"a"}\np{x}: p{x x}', 2, 7, "ever new arguments"),
    ("%declare A\nstart: A", 1, 1, "without a text"),
    ("%import python.NAME\nstart: NAME", 1, 1, "only common"),
    ("%import common.NO\nstart: NO", 1, 16, "common has no NO"),
    ("%x\nstart: /a/", 1, 1, "%x is not known"),
    ("start: " + "(" * 300, 1, 108, "groups"),
    ("start: start", 1, 1, "no text matches"),
    ('A: "a"\nstart.x: "a"', 2, 7, "priority"),
    ("%import common\n1", 1, 1, "only common"),
]


AROUND = [
    # regex, the offset of what asks about its surroundings, or None
    (r"if\b", 2),
    (r"^a", 0),
    (r"^a$", 2),
    (r"a$", 1),
    (r"a|b$", 3),
    (r"\Aa", 0),
    (r"a\Z", 1),
    (r"\ba", 0),
    (r"a\B", 1),
    (r"[a-z]+(?!\()", 6),
    (r"a(?=b)", 1),
    (r"a(?=b)c?", 1),
    (r"(?:a(?!b)|c)d*", 4),
    (r"(?!^a)b", 3),
    (r"a(?!b)c(?=d)", 7),
    (r"a\bb?", 1),
    (r"a\b-", None),
    (r"a(?=bc)b.", None),
    (r"(?!(?:if|else)\b)[a-z]+", None),
    (r'"(?!"").*"', None),
    (r"(?:a(?!b)|c)d", None),
    (r"a(?:\b-|b)", None),
]


@pytest.mark.parametrize(("regex", "at"), AROUND)
def test_a_terminal_does_not_know_what_stands_around_it(
    regex: str, at: int | None
) -> None:
    text = f'start: "x" A "y"\nA: /{regex}/'
    if at is None:
        constrain(BYTES, grammar=text)
        return
    with pytest.raises(GrammarError, match="what stands around") as found:
        constrain(BYTES, grammar=text)
    assert (found.value.line, found.value.column) == (2, 5 + at)
    assert "a part of the rule" in str(found.value)


def test_a_look_ahead_sees_the_terminal() -> None:
    text = (
        r'start: NAME "(" | "if" " " NAME' + "\n" + r"NAME: /(?!(?:if|else)\b)[a-z]+/"
    )
    made = constrain(BYTES, grammar=text)
    good, bad = ["iff(", "f(", "if f", "if elsewhere"], ["if(", "if else", "else("]
    assert [t for t in good if not made.matches(t)] == []
    assert [t for t in bad if made.matches(t)] == []


@pytest.mark.parametrize(("text", "line", "column", "words"), BROKEN)
def test_broken(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(GrammarError) as found:
        constrain(BYTES, grammar=text)
    assert words in str(found.value)
    assert (found.value.line, found.value.column) == (line, column)


def test_a_report_of_the_field() -> None:
    case = CASES["g_malformed"]
    with pytest.raises(GrammarError, match="line 1"):
        constrain(BYTES, grammar=case["input"]["text"])
    for name in ("g_left_recursion", "g_nullable_loop"):
        case = CASES[name]
        made = constrain(BYTES, grammar=case["lark"])
        assert [t for t in case["accept"] if not made.matches(t)] == []
        assert [t for t in case["reject"] if made.matches(t)] == []


AGAINST_LARK = {
    "json": r"""
        ?start: value
        ?value: object | array | ESCAPED_STRING | SIGNED_NUMBER
              | "true" | "false" | "null"
        array: "[" [value ("," value)*] "]"
        object: "{" [pair ("," pair)*] "}"
        pair: ESCAPED_STRING ":" value
        %import common.ESCAPED_STRING
        %import common.SIGNED_NUMBER
        %import common.WS
        %ignore WS
    """,
    "sums": r"""
        start: sum
        ?sum: sum "+" product | sum "-" product | product
        ?product: product "*" atom | atom
        ?atom: NUMBER | NAME | "-" atom | "(" sum ")" | call{atom}
        call{x}: NAME "(" [x ("," x)*] ")"
        NAME: /[a-z]\w*/i
        %import common.NUMBER
        %ignore " "
    """,
}
SAMPLES = {
    "json": ['{"a": [1, 2.5, -3e4], "b": {"c": "x\\"y"}, "d": null}', "[ true ,false]"],
    "sums": ["a + b*(3 - -c1) - f(2,x)", "((1)) * g()"],
}


@pytest.mark.parametrize("name", AGAINST_LARK)
def test_as_lark_itself(name: str) -> None:
    lark = pytest.importorskip("lark")
    text = AGAINST_LARK[name]
    theirs = lark.Lark(text, parser="earley", lexer="dynamic_complete")
    ours = constrain(BYTES, grammar=text)
    wanted = []
    for seed, sample in enumerate(SAMPLES[name]):
        for found in itertools.chain([sample], mutants(sample, 60, seed)):
            try:
                theirs.parse(found)
                wanted.append(True)
            except lark.exceptions.LarkError:
                wanted.append(False)
            assert ours.matches(found) == wanted[-1], found
    assert sum(wanted) + len(SAMPLES[name]) > 20 and not all(wanted)


@pytest.mark.parametrize("sign", "?+*")
def test_many_signs_are_one(sign: str) -> None:
    """Read one by one, each would look at all before it."""
    text = f"start: a{sign * 20_000} b\na: /x/ a | /y/\nb: /z/"
    made = constrain(BYTES, grammar=text, limits=Limits(seconds=2))
    assert made.matches("xyz") and made.matches("z") == (sign != "+")


@pytest.mark.parametrize("head", ["root ::= ", "start: "])
def test_reading_is_metered(head: str) -> None:
    class Enough(Exception):
        pass

    left = 1000

    def work(amount: int) -> None:
        nonlocal left
        left -= amount
        if left < 0:
            raise Enough

    parse_grammar(head + '"a"' * 400, work=work)
    with pytest.raises(Enough):
        parse_grammar(head + '"a"' * 2000, work=work)


def test_a_long_text_is_joined_at_once() -> None:
    """Joined one by one, 500,000 letters are moved 250,000 times."""
    found = parse_grammar("root ::= " + '"a"' * 500_000, work=Meter(None).work)
    root = found.rules.rules["root"]
    assert isinstance(root, Literal) and root.data == b"a" * 500_000


def test_unused_rules_are_reported() -> None:
    text = '%import common.WS\nstart: "a"\nx: "b"'
    assert parse_lark(text).unused == ("WS", "x")
