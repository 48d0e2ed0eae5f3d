"""Characters to bytes: every spelling, no other bytes; and the walk over nodes."""

from __future__ import annotations

import json
import unicodedata
from functools import partial
from itertools import chain, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stcon.errors import StconError
from stcon.machines.compile import compile_expr
from stcon.machines.dfa import DEAD, Dfa
from stcon.syntax import rules as r
from stcon.syntax.charset import ANY, MAX_CODE_POINT, CharSet
from stcon.syntax.encode import encode, json_string, json_text, utf8
from tests.oracles.expr_matcher import matches

canonical = partial(json_string, escapes="canonical")

_BOUNDS = [0, 0x20, 0x22, 0x2F, 0x5C, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xD7FF]
_BOUNDS += [0xE000, 0xFFFF, 0x10000, 0x3FFFF, 0x40000, 0xFFFFF, 0x100000, 0x10FFFF]
EDGES = sorted(
    {
        edge + step
        for edge, step in product(_BOUNDS, (-1, 0, 1))
        if 0 <= edge + step <= MAX_CODE_POINT and not 0xD800 <= edge + step < 0xE000
    }
)
LETTERS = CharSet.of(
    *(c for c in range(0x3000) if unicodedata.category(chr(c)).startswith("L"))
)
SETS = {
    "any": ANY,
    "none": CharSet(()),
    "a-z": CharSet.of((0x61, 0x7A)),
    "not a quote": ANY - CharSet.of('"'),
    "dot": ANY - CharSet.of("\n\r\u2028\u2029"),
    "controls": CharSet.of((0, 0x1F), 0x7F),
    "edges": CharSet.of(*EDGES),
    "not edges": ~CharSet.of(*EDGES),
    "letters": LETTERS,
    "not letters": ~LETTERS,
    "astral": CharSet.of((0x10000, MAX_CODE_POINT)),
    "odd": CharSet.of(*range(1, 0x900, 2), *range(0x1F601, 0x1F700, 2)),
}
ALL_POINTS = np.array([*range(0xD800), *range(0xE000, MAX_CODE_POINT + 1)])


def accepted(dfa: Dfa, rows: np.ndarray) -> np.ndarray:
    """Which rows of bytes the automaton accepts."""
    states = np.full(len(rows), dfa.start)
    for column in rows.T:
        states = dfa.next[states, dfa.byte_class[column]]
    return dfa.accepts[states]


def members(charset: CharSet, points: np.ndarray) -> np.ndarray:
    """Which code points are in the set."""
    have = np.zeros(MAX_CODE_POINT + 1, bool)
    for first, last in charset.ranges:
        have[first : last + 1] = True
    return have[points]


@pytest.mark.parametrize("name", SETS)
def test_utf8_of_every_code_point(name: str) -> None:
    dfa = compile_expr(utf8(SETS[name]))
    for length, last in ((1, 0x7F), (2, 0x7FF), (3, 0xFFFF), (4, MAX_CODE_POINT)):
        first = {1: 0, 2: 0x80, 3: 0x800, 4: 0x10000}[length]
        points = ALL_POINTS[(first <= ALL_POINTS) & (last >= ALL_POINTS)]
        text = "".join(map(chr, points)).encode()
        rows = np.frombuffer(text, np.uint8).reshape(-1, length)
        assert np.array_equal(accepted(dfa, rows), members(SETS[name], points))


def count_texts(dfa: Dfa, longest: int) -> int:
    """How many byte strings up to a length the automaton accepts."""
    paths = {dfa.start: 1}
    total = 0
    for _ in range(longest + 1):
        total += sum(n for state, n in paths.items() if dfa.accepts[state])
        after: dict[int, int] = {}
        for state, n in paths.items():
            for to in dfa.next[state, dfa.byte_class].tolist():
                if to != DEAD:
                    after[to] = after.get(to, 0) + n
        paths = after
    return total


@pytest.mark.parametrize("name", SETS)
def test_utf8_of_nothing_else(name: str) -> None:
    """As many byte strings as members, so no overlong form, no surrogate."""
    assert count_texts(compile_expr(utf8(SETS[name])), 6) == len(SETS[name])


@pytest.mark.parametrize(
    "data",
    [
        *(b"\xc0\x80", b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xf0\x8f\xbf\xbf", b"\x80"),
        *(b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf4\x90\x80\x80", b"\xc3\xa9\xa9"),
        *(b"\xf5\x80\x80\x80", b"\xc3", b"\xe2\x82", b"\xff"),
    ],
)
def test_no_text_is_refused(data: bytes) -> None:
    assert not matches(utf8(ANY), data)
    for nothing in (r.EMPTY, r.EPSILON):
        assert not matches(encode(r.complement(nothing), utf8), data)


SHORT = dict(zip('"\\/\b\f\n\r\t', '"\\/bfnrt', strict=True))


def spellings(char: str) -> set[str]:
    """All ways to write ``char`` inside a JSON string."""
    out = {f"\\{SHORT[char]}"} if char in SHORT else set()
    if ord(char) >= 0x20 and char not in '"\\':
        out.add(char)
    units = char.encode("utf-16-be").hex()
    groups = [units[i : i + 4] for i in range(0, len(units), 4)]
    digits = [sorted({c, c.upper()}) for c in "".join(groups)]
    for cased in product(*digits):
        code = "".join(cased)
        out.add("".join("\\u" + code[i : i + 4] for i in range(0, len(code), 4)))
    return out


@pytest.mark.parametrize("name", SETS)
def test_json_spellings(name: str) -> None:
    charset = SETS[name]
    free, plain = compile_expr(json_string(charset)), compile_expr(canonical(charset))
    for char in map(chr, [*EDGES, *range(0x20), 0x1F600, 0xABCD, 0x10ABCD]):
        every = spellings(char)
        one = json.dumps(char, ensure_ascii=False)[1:-1]
        assert {json.loads(f'"{text}"') for text in every} == {char} and one in every
        want = ord(char) in charset
        assert {free.matches(text.encode()) for text in every} == {want}, hex(ord(char))
        have = [text for text in every if plain.matches(text.encode())]
        assert have == ([one] if want else [])


@pytest.mark.parametrize("name", ["any", "a-z", "controls", "edges", "odd"])
def test_json_has_no_other_spelling(name: str) -> None:
    charset = SETS[name]
    points = chain(*(range(first, last + 1) for first, last in charset.ranges))
    if name == "any":  # counted by the same arithmetic, not one by one
        hexadecimal = 0
        for unit in ALL_POINTS[ALL_POINTS < 0x10000].tolist():
            hexadecimal += 1 << sum(c.isalpha() for c in f"{unit:04x}")
        high = sum(
            1 << sum(c.isalpha() for c in f"{u:x}") for u in range(0xD800, 0xDC00)
        )
        low = sum(
            1 << sum(c.isalpha() for c in f"{u:x}") for u in range(0xDC00, 0xE000)
        )
        want = len(ANY) - 34 + len(SHORT) + hexadecimal + high * low
    else:
        want = sum(len(spellings(chr(point))) for point in points)
    assert count_texts(compile_expr(json_string(charset)), 12) == want
    assert count_texts(compile_expr(canonical(charset)), 12) == len(charset)


@pytest.mark.parametrize(
    "text",
    [
        *("\\u12", "\\U0041", "\\ud83d", "\\ude00", "\\ude00\\ud83d", "\\ud83dx"),
        *("\\ud83d\\u0041", "\\ud83d\\ud83d", "\\x41", "\\a", "\\'"),
        *('"', "\\", "\n", "\x00", "ab"),
    ],
)
def test_json_refuses(text: str) -> None:
    assert not matches(json_string(ANY), text.encode())
    assert not matches(canonical(ANY), text.encode())


def test_sizes() -> None:
    encoders = (utf8, json_string, canonical)
    assert [compile_expr(e(ANY)).states for e in encoders] == [10, 22, 16]
    assert isinstance(utf8(CharSet.of("a")), r.Literal)


def test_the_same_set_is_the_same_node() -> None:
    assert json_string(CharSet.of("ab")) is json_string(CharSet.of("a", "b"))


def test_unknown_escapes() -> None:
    with pytest.raises(ValueError, match="escapes is"):
        json_string(ANY, escapes="all")


@pytest.mark.parametrize("text", ["", "a", '"\\/', "\x00\x1f\x7f", "é😀\u2028", "\n\t"])
def test_json_text(text: str) -> None:
    have = json_text(text)
    assert have == json.dumps(text, ensure_ascii=False).encode()
    assert json.loads(have) == text


def test_json_text_of_half_a_character() -> None:
    with pytest.raises(StconError, match="lone surrogate"):
        json_text("\ud83d")


def char(text: str) -> r.Expr:
    return r.chars(CharSet.of(*text))


def expressions() -> st.SearchStrategy[r.Expr]:
    leaves = st.sampled_from([char("a"), char('"é'), char("\n😀"), r.EPSILON])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(lambda x: r.concat(*x)),
            st.lists(inner, min_size=2, max_size=3).map(lambda x: r.union(*x)),
            st.lists(inner, min_size=2, max_size=2).map(lambda x: r.intersect(*x)),
            inner.map(r.star),
            inner.map(r.complement),
            st.tuples(inner, st.integers(0, 2)).map(lambda x: r.repeat(*x, x[1] + 1)),
        ),
        max_leaves=6,
    )


WORDS = [
    "".join(letters) for n in range(4) for letters in product('a"é\n😀b', repeat=n)
]


def in_language(expr: r.Expr, text: str) -> bool:
    """Membership by characters: each is given a byte of its own."""
    codes = dict(zip('a"é\n😀b', range(6), strict=True))

    def as_byte(charset: CharSet) -> r.Expr:
        return r.byte_set(sum(1 << n for c, n in codes.items() if ord(c) in charset))

    return matches(encode(expr, as_byte), bytes(codes[c] for c in text))


@settings(max_examples=60, deadline=None)
@given(expressions(), st.data())
def test_a_text_is_in_the_language_in_every_spelling(
    expr: r.Expr, data: st.DataObject
) -> None:
    raw, free = encode(expr, utf8), encode(expr, json_string)
    plain = encode(expr, canonical)
    for text in data.draw(st.lists(st.sampled_from(WORDS), min_size=8, max_size=8)):
        want = in_language(expr, text)
        assert matches(raw, text.encode()) == want
        assert matches(plain, json_text(text)[1:-1]) == want
        pieces = [data.draw(st.sampled_from(sorted(spellings(c)))) for c in text]
        assert matches(free, "".join(pieces).encode()) == want


@settings(max_examples=60, deadline=None)
@given(expressions(), st.binary(max_size=6))
def test_what_is_no_text_is_in_no_language(expr: r.Expr, data: bytes) -> None:
    if not data.isascii() and matches(encode(expr, utf8), data):
        data.decode()
    if matches(encode(expr, json_string), data):
        json.loads(b'"' + data + b'"')


@settings(max_examples=60, deadline=None)
@given(expressions(), st.sampled_from(WORDS))
def test_the_machine_agrees_with_the_matcher(expr: r.Expr, text: str) -> None:
    new = encode(expr, utf8)
    assert compile_expr(new).matches(text.encode()) == matches(new, text.encode())


def test_bytes_stay_as_they_are() -> None:
    parts = [r.literal("x"), r.byte_set(3), r.Call("rule"), r.EMPTY]
    for part in [*parts, r.complement(parts[0]), r.star(parts[1])]:
        assert encode(part, utf8) is part


def test_sharing_is_kept() -> None:
    shared = r.concat(char("ab"), r.star(char("c")))
    have = encode(r.Union((r.concat(char("é"), shared), r.star(shared))), utf8)
    assert isinstance(have, r.Union)
    first, second = have.items
    assert first.items[-1] is second.item  # type: ignore[attr-defined]


def test_a_ladder_of_shared_nodes_is_linear() -> None:
    expr = char("ab")
    for _ in range(200):
        expr = r.Union((expr, r.Concat((expr, expr))))
    assert isinstance(encode(expr, utf8), r.Union)


def test_deep_nesting_does_not_recurse() -> None:
    expr = char("ab")
    for _ in range(10_000):
        expr = r.repeat(r.concat(expr, char("c")), 1, 2)
    assert isinstance(encode(expr, json_string), r.Repeat)


@pytest.mark.parametrize("name", SETS)
def test_usual_spellings(name: str) -> None:
    """All spellings but numbers for printable ASCII."""
    charset = SETS[name]
    usual = compile_expr(json_string(charset, escapes="usual"))
    for char in map(chr, [*EDGES, *range(0x20), 0x2F, 0x41, 0x1F600]):
        want = spellings(char) if ord(char) in charset else set()
        if 0x20 <= ord(char) <= 0x7E:
            want = {text for text in want if not text.startswith("\\u")}
        assert {t for t in spellings(char) if usual.matches(t.encode())} == want
