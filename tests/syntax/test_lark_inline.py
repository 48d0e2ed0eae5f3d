"""Schemas and runs of texts inside Lark grammars."""

from __future__ import annotations

import json
import random
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from stcon import GrammarError, SchemaError, StconError, constrain
from stcon.bench.machine import installed
from stcon.constraints.constraint import Constraint
from stcon.syntax.renamed import renamed
from stcon.syntax.rules import EPSILON, Call, Expr, concat, literal, parts, union
from tests.laws import laws
from tests.laws.instances import near, texts
from tests.laws.schema_strategies import documents
from tests.test_api import BYTES
from tests.worlds import vocabulary

SCHEMAS: list[Any] = [
    True,
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}},
    {"type": "array", "items": {"$ref": "#"}, "maxItems": 3},
    {"type": "string", "minLength": 2, "maxLength": 40},
    {"enum": [1, "x", None, {"k": [2.5]}]},
    {"type": "string", "pattern": "^[a-c]+$"},
    {
        "$defs": {"tree": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/pair"}]},
                  "pair": {"type": "array", "prefixItems": [{"$ref": "#/$defs/tree"}],
                           "minItems": 1, "items": False}},
        "$ref": "#/$defs/pair",
    },
    {"type": "object", "properties": {"value": {"type": "string"}},
     "required": ["value"], "additionalProperties": {"type": "boolean"}},
    {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2, 3]}},
]  # fmt: skip
INSTANCES = [
    *(None, True, 1, -2.5, "", "x", "abc", "ab", [], [1], [1, 1], [2, 1], {}, {"k": 1}),
    *(
        [[]],
        [[], [], []],
        [[], [], [], []],
        [None],
        [[None]],
        [[[None]]],
        {"value": "s"},
    ),
    *({"a": 1}, {"b": {"c": []}}, {"a": "1"}, {"value": "s", "z": True}, {"k": [2.5]}),
    *("a" * 40, "a" * 41),
]


def inside(schema: Any) -> Constraint:
    return constrain(BYTES, grammar=f'start: "<" %json {json.dumps(schema)} ">"')


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_a_schema_in_a_grammar_is_the_schema(schema: Any) -> None:
    made, alone = inside(schema), constrain(BYTES, schema)
    given = [json.dumps(value, separators=(",", ":")) for value in INSTANCES]
    found = [text for text in given if alone.matches(text)]
    assert found, schema
    assert [text for text in given if made.matches(f"<{text}>")] == found
    assert not any(map(made.matches, given))


@settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(documents(), st.integers(0, 99))
def test_random_schemas(schema: Any, seed: int) -> None:
    """The machine of grammars agrees with that of schemas."""
    try:
        alone = constrain(BYTES, schema)
        made = inside(schema)
    except StconError:
        assume(False)
    rng = random.Random(seed)
    found = [text for _ in range(4) for text in texts(near(schema, schema, rng))]
    for text in found:
        assert made.matches(b"<" + text + b">") == alone.matches(text), text
    state = made.read(made.start, b"<")
    shortest = made.shortest(state)
    assert shortest[-1:] == b">" and alone.matches(shortest[:-1])


CALLS = """
start: text | call+
call: "<tool>" (weather | add) "</tool>"
weather: %json {
  "type": "object",
  "properties": {"city": {"type": "string"}},
  "required": ["city"]
}
add: "add" %json {"type": "array", "items": {"type": "number"}} value
value: "!"            // a name that schemas have too
text: /[a-z ]+/
"""


def test_several_schemas() -> None:
    made = constrain(BYTES, grammar=CALLS)
    good = [
        "hello",
        '<tool>{"city":"Oslo"}</tool>',
        '<tool>add[1,2.5]!</tool><tool>{"city":"x"}</tool>',
    ]
    bad = ['<tool>{"city":1}</tool>', "<tool>add[1]</tool>", '{"city":"Oslo"}', ""]
    assert [text for text in good if not made.matches(text)] == []
    assert [text for text in bad if made.matches(text)] == []
    reports = made.report()["schemas"]
    assert [set(one["enforced"]) for one in reports] == [
        {"properties", "required", "type"},
        {"items", "type"},
    ]
    assert made.report()["unused_rules"] == []


def test_the_same_schema_twice_is_there_once() -> None:
    one = 'start: %json {"type": "array"}'
    twice = f'{one} "," %json {{"type": "array"}}'
    made = constrain(BYTES, grammar=twice)
    assert made.matches("[1],[{}]") and not made.matches("[1]")
    assert len(made.report()["schemas"]) == 1


def test_what_is_ignored_comes_after_a_schema_not_inside() -> None:
    text = '%ignore " "\nstart: %json {"enum": [[1, 2]]} "."'
    made = constrain(BYTES, grammar=text)
    assert made.matches("[1,2]  .") and not made.matches("[1, 2].")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "text",
    [
        'start: ("a" start | %json {"type": "array", "items": {"$ref": "#"}})~1..2',
        'start: (%json {"type": "string", "maxLength": 3} ",")+ "b" | "c" start',
        'start: "b" %regex {"substring_chunks": ["ab", "c", "a"]} start | "."',
    ],
)
def test_laws(text: str, seed: int) -> None:
    words = vocabulary(b'"a', b"[[", b"]]", b'",', b"ab", b"abc", b'","', b"[]a", b"b[")
    made = constrain(words, grammar=text)
    assert made.kind == "grammar"
    laws.check_mask_is_accept(made, seed)
    laws.check_outputs_are_valid(made, seed)
    laws.check_forced(made, seed)


def test_options_go_to_the_schemas() -> None:
    text = 'start: "<" %json {"enum": [["a", 1]]} ">"'
    made = constrain(BYTES, grammar=text, whitespace="pretty")
    assert made.matches('<[\n  "a",\n  1\n]>') and not made.matches('<["a",1]>')
    any_order = 'start: %json {"properties": {"a": {"const": 1}, "b": {"const": 2}},\
        "type": "object", "required": ["a", "b"], "additionalProperties": false}'
    assert not constrain(BYTES, grammar=any_order).matches('{"b":2,"a":1}')
    assert constrain(BYTES, grammar=any_order, key_order="any").matches('{"b":2,"a":1}')
    refused = 'start: %json {"type": "array", "uniqueItems": true}'
    with pytest.raises(GrammarError, match="uniqueItems"):
        constrain(BYTES, grammar=refused)
    constrain(BYTES, grammar=refused, allow_unenforced={"uniqueItems"})


@pytest.mark.parametrize(
    "option",
    [
        {"whitespace": "free"},
        {"escapes": "any"},
        {"key_order": "any"},
        {"allow_unenforced": {"uniqueItems"}},
    ],
)
def test_options_without_a_schema(option: dict[str, Any]) -> None:
    for grammar in ('start: "a"', 'root ::= "a"'):
        with pytest.raises(TypeError, match="is about JSON"):
            constrain(BYTES, grammar=grammar, **option)


BROKEN = [
    ('start: "a" %json', 1, 17, "not closed"),
    ('start: %json {"a":\n  1\n', 1, 14, "this JSON is not closed"),
    ('start: %json {"a": 01}', 1, 21, "no JSON"),
    ("start: %json [1]", 1, 8, "in this schema"),
    ('start: "x"\n  | %json {"type": "strin"}', 2, 5, "in this schema: #/type"),
    ('start: %json {"type": "string", "const": 1}', 1, 8, "in this schema"),
    ('start: A\nA: %json {"type": "string"}', 2, 4, "not in a terminal"),
    ('%json {}\nstart: "a"', 1, 1, "write name: %json"),
    ('%regex {}\nstart: "a"', 1, 1, "write NAME: %regex"),
    ("start: %json " + "[" * 100_000, 1, 14, "no JSON|too deep"),
    ('start: %regex {"substring": "a"}', 1, 8, "substring_chunks, substring_words"),
    ('start: %regex "a"', 1, 8, "takes one of"),
    ("start: %regex {}", 1, 8, "takes one of"),
    ('start: %regex {"substring_chars": "a", "x": 1}', 1, 8, "takes one of"),
    ('start: %regex {"substring_chars": ["a"]}', 1, 8, "is a text"),
    ('start: %regex {"substring_chunks": "a"}', 1, 8, "is a list of texts"),
    ('start: %regex {"substring_chunks": ["a", 1]}', 1, 8, "is a list of texts"),
    (r'start: %regex {"substring_chars": "\ud800"}', 1, 8, "surrogate"),
    ('start: %regex {"substring_chars": "a", "substring_chars": "b"}', 1, 8, "twice"),
    (
        f'start: %regex {{"substring_chars": "{"ab" * 50_001}"}}',
        *(1, 8, "100,002 parts are more"),
    ),
    ('start: "a"{2', 1, 11, "not closed"),
    ('start: "a"{,}', 1, 13, "a count was expected"),
    ('start: "a"{3,2}', 1, 12, "from 3 to 2"),
    ('start: %lark {start: "a"}', 1, 8, "write its rules"),
]


@pytest.mark.parametrize(("text", "line", "column", "words"), BROKEN)
def test_broken(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(GrammarError, match=words) as found:
        constrain(BYTES, grammar=text)
    assert (found.value.line, found.value.column) == (line, column)


@pytest.mark.parametrize(
    "option", [{"whitespace": "prety"}, {"allow_unenforced": {"uniqueItem"}}]
)
def test_wrong_options_are_no_fault_of_the_grammar(option: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"pre|uniqueItem") as found:
        constrain(BYTES, grammar="start: %json {}", **option)
    assert not isinstance(found.value, GrammarError)


def test_warnings_say_which_rule() -> None:
    text = 'start: a\na: "x" %json {"type": "string", "maxLenght": 3}'
    with pytest.warns(UserWarning, match="line 2 in rule a: #/maxLenght"):
        constrain(BYTES, grammar=text)
    with pytest.warns(UserWarning, match="^#/maxLenght"):
        constrain(BYTES, {"type": "string", "maxLenght": 3})


def test_the_hint_of_a_schema_is_kept() -> None:
    with pytest.raises(SchemaError) as alone:
        constrain(BYTES, {"typ": "string", "type": "strin"})
    with pytest.raises(GrammarError) as found:
        constrain(BYTES, grammar='start: %json {"typ": "string", "type": "strin"}')
    assert found.value.hint == alone.value.hint and found.value.rule == "start"


COUNTS = [
    ('start: "a"{2}', ["aa"], ["a", "aaa"]),
    ('start: "a"{2,}', ["aa", "aaaaa"], ["a"]),
    ('start: "a"{,2}', ["", "a", "aa"], ["aaa"]),
    ('start: ("a" B){1,2}\nB: /b/{2}', ["abb", "abbabb"], ["ab", ""]),
    ('start: x-1\n  x-1{2} y\nx-1: "a"\ny: "b" -> z-z', ["aaab"], ["aab"]),
    ('start: p{"a"}{2}\np{x}: x ","', ["a,a,"], ["a,"]),
]


@pytest.mark.parametrize(("text", "good", "bad"), COUNTS)
def test_counts_in_braces_and_hyphens(
    text: str, good: list[str], bad: list[str]
) -> None:
    made = constrain(BYTES, grammar=text)
    assert [t for t in good if not made.matches(t)] == []
    assert [t for t in bad if made.matches(t)] == []


RUNS: list[tuple[str, Any, list[str]]] = [
    ("chunks", ["abc", "de", "fg"], ["abc", "de", "fg"]),
    ("chunks", [], []),
    ("chunks", ["", "a", ""], ["", "a", ""]),
    ("chunks", ["a", "b", "a", "b"], ["a", "b", "a", "b"]),
    ("chars", "ab cé", ["a", "b", " ", "c", "é"]),
    ("words", "foo bar. baz", ["foo", " ", "bar", ".", " ", "baz"]),
]


@pytest.mark.parametrize(("kind", "value", "pieces"), RUNS)
def test_runs(kind: str, value: Any, pieces: list[str]) -> None:
    given = json.dumps({f"substring_{kind}": value})
    made = constrain(BYTES, grammar=f'start: A "."\nA: %regex {given}')
    wanted = {
        "".join(pieces[first:last])
        for first in range(len(pieces) + 1)
        for last in range(first, len(pieces) + 1)
    }
    others = {"".join(some) for n in range(4) for some in product(pieces, repeat=n)}
    others |= {text[:-1] for text in wanted} | {text[1:] for text in wanted}
    for text in wanted | others:
        assert made.matches(text + ".") == (text in wanted), text


@pytest.mark.skipif(not installed("llguidance"), reason="llguidance is not installed")
def test_runs_of_words_as_llguidance_has_them() -> None:
    from llguidance import LLMatcher, LLTokenizer

    text = "The (old) fox's 3.5 km, a-b_c  end!"
    grammar = f"start: %regex {json.dumps({'substring_words': text})}"
    made = constrain(BYTES, grammar=grammar)
    tokenizer = LLTokenizer("byte")

    def theirs(sample: str) -> bool:
        matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(grammar))
        read = matcher.consume_tokens(list(sample.encode()))
        return bool(read) and bool(matcher.is_accepting())

    rng = random.Random(0)
    found = []
    for _ in range(300):
        first, last = sorted(rng.sample(range(len(text) + 1), 2))
        found.append(made.matches(text[first:last]))
        assert found[-1] == theirs(text[first:last]), text[first:last]
    assert set(found) == {True, False}


def test_renamed_rules_share_what_was_shared() -> None:
    tail: Expr = EPSILON
    for _ in range(20_000):  # deeper than Python recurses
        tail = union(literal("b"), concat(Call("x"), tail))
    both = concat(Call("y"), tail)
    made = renamed({"x": literal("b"), "y": union(tail, both)}, str.upper)
    assert list(made) == ["X", "Y"]
    seen: set[int] = set()
    todo, found = list(made.values()), 0
    while todo:
        node = todo.pop()
        found += 1
        assert not isinstance(node, Call) or node.name in ("X", "Y")
        todo += [part for part in parts(node) if id(part) not in seen]
        seen.update(map(id, parts(node)))
    assert found < 90_000
