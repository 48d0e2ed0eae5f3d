"""Masks read off the stack are those of byte stepping, at every step of a run."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stcon import LimitError, Vocabulary
from stcon.constraints.constraint import Constraint, State
from stcon.constraints.pushdown import PushdownConstraint
from stcon.decode.processor import bind
from stcon.machines.dfa import DEAD
from stcon.machines.pushdown import compile_pushdown
from stcon.syntax import rules as r
from stcon.syntax.json_schema import compile_schema
from tests import assets, worlds
from tests.oracles.slow_masks import slow_mask

A, B, C = r.literal("a"), r.literal("b"), r.literal("c")
S, T = r.Call("s"), r.Call("t")
TOY = worlds.vocabulary(
    b"ab", b"aab", b"abc", b"cc", b"bcb", b"aacb", b"ccab", b"acacac"
)

NODE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 3},
        "names": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "next": {"$ref": "#/$defs/node"},
    },
}
SCHEMAS: dict[str, Any] = {
    "recursive and open": {"$defs": {"node": NODE}, "$ref": "#/$defs/node"},
    "windows of windows": {
        "type": "array",
        "items": {
            "type": "array",
            "items": {"type": "string", "minLength": 2, "maxLength": 4},
            "minItems": 1,
            "maxItems": 3,
        },
        "minItems": 2,
        "maxItems": 2**40,
    },
    "patterns of some length": {
        "type": "object",
        "properties": {
            "code": {"type": "string", "pattern": "^[a-z]+(-[0-9]+)*$", "maxLength": 9},
            "mail": {"type": "string", "format": "email", "maxLength": 20},
            "any": {
                "type": "string",
                "pattern": "é",
                "minLength": 2,
                "maxLength": 2**31,
            },
        },
        "additionalProperties": {"type": "string", "maxLength": 5},
    },
    "keys that share beginnings": {
        "type": "object",
        "properties": {
            key: {"type": ["integer", "string"], "maxLength": 0}
            for key in (
                "data",
                "database",
                "date",
                "däta",
                "",
                'da"ta',
                "data\\",
                "日本",
            )
        },
        "required": ["date"],
    },
    "counted keys": {
        "type": "object",
        "propertyNames": {"pattern": "^[a-z]*$", "minLength": 2, "maxLength": 6},
        "additionalProperties": {"enum": ["on", "off", 1, 10, None]},
        "maxProperties": 4,
    },
    "anything": {"type": "array", "items": {}, "minItems": 2},
}
WORDS = [
    b'":',
    b'",',
    b'","',
    b'":"',
    b'{"',
    b'"}',
    b'"]',
    b"]]",
    b"],[",
    b"data",
    b"da",
]
WORDS += [b'date":1', b"\xc3\xa9", b"\xc3", b"\xa9a", b"\xe6\x97\xa5", b"\\u00", b'\\"']
WORDS += [
    b"\\ud8",
    b"3d\\ude",
    b"a-1",
    b"-12",
    b"ab",
    b"aaaa",
    b'a","b',
    b"[[",
    b'["a"',
]
WORDS += [b"12", b",1", b"1,", b"  ", b"\n ", b'"on"', b"off", b'":[', b"}}", b'x@y."']
SMALL = Vocabulary.from_bytes([None, *(bytes([b]) for b in range(256)), *WORDS], [0])
WAYS = [{}, {"whitespace": "free"}, {"escapes": "any", "whitespace": "bounded"}]
WAYS += [{"escapes": "canonical"}]


@st.composite
def counted_rules(draw: st.DrawFn) -> r.Rules:
    """Rules that count, call one another and are ambiguous."""

    def bodies(leaf: list[r.Expr]) -> st.SearchStrategy[r.Expr]:
        return st.recursive(
            st.sampled_from(leaf),
            lambda e: st.one_of(
                st.tuples(e, e).map(lambda x: r.concat(*x)),
                st.tuples(e, e).map(lambda x: r.union(*x)),
                e.map(r.star),
                e.map(r.optional),
            ),
            max_leaves=4,
        )

    one = r.union(A, B, r.literal("ab"))
    free = [r.star(r.concat(*x)) for x in ((r.TICK, T), (r.TICK, T, A), (A, r.TICK, T))]
    some = bodies([r.concat(r.TICK, x) for x in (A, B, r.union(A, B), one)])
    least, more = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    item = draw(st.sampled_from(free) | some)
    close = draw(st.sampled_from([C, r.EPSILON])) if item in free else C
    count = r.counted(item, least, least + more, close)
    t = r.concat(B, draw(bodies([A, r.EPSILON, r.concat(A, S)])))
    return r.Rules(
        {"s": r.union(r.concat(C, count, draw(bodies([B, T]))), C), "t": t}, "s"
    )


@settings(max_examples=120, deadline=None, derandomize=True)
@given(counted_rules(), st.integers(0, 2**32))
def test_random_counted_rules(rules: r.Rules, seed: int) -> None:
    machine = compile_pushdown(rules)
    constraint = PushdownConstraint(machine, TOY, bind("host"))
    rng = random.Random(seed)
    try:
        for _ in range(3):
            check_run(constraint, rng, 12)
    except LimitError as error:
        assert "ways" in str(error) or "deeper" in str(error)


def made(
    vocabulary: Vocabulary, schema: Any, options: dict[str, Any]
) -> PushdownConstraint:
    """The constraint of a schema, small or not, as a pushdown."""
    chosen = {"whitespace": "compact", "escapes": "usual", **options}
    machine = compile_pushdown(compile_schema(schema, **chosen).rules)
    return PushdownConstraint(machine, vocabulary, bind("host"))


def check_run(constraint: Constraint, rng: random.Random, longest: int) -> int:
    """How many states were compared in a run of random allowed tokens."""
    state = constraint.start
    for step in range(longest):
        row = constraint.allowed(state)
        assert np.array_equal(row, slow_mask(constraint, state))
        assert row.any()
        token = choose(constraint, row, rng)
        if token in constraint.vocabulary.eos_ids:
            return step + 1
        state = constraint.advance(state, token)
        assert state != DEAD
    return longest


def choose(constraint: Constraint, row: np.ndarray, rng: random.Random) -> int:
    """An allowed token; often one that begins with a bracket, a comma or a quote."""
    allowed = np.flatnonzero(row).tolist()
    vocabulary = constraint.vocabulary
    marks = [t for t in allowed[:3000] if vocabulary.token_bytes(t)[:1] in b'"]},:[{']
    return rng.choice(marks if marks and rng.random() < 0.5 else allowed)


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("options", WAYS, ids=str)
def test_schemas(name: str, options: dict[str, Any]) -> None:
    constraint = made(SMALL, SCHEMAS[name], options)
    rng = random.Random(name)
    assert sum(check_run(constraint, rng, 25) for _ in range(6)) > 20


@pytest.fixture(scope="module")
def real_vocabulary() -> Vocabulary:
    real = assets.tokenizer("qwen3.5")
    return Vocabulary.of(real.tokenizer, real.eos_ids)


@pytest.mark.real
@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("options", WAYS, ids=str)
def test_schemas_with_a_real_vocabulary(
    name: str, options: dict[str, Any], real_vocabulary: Vocabulary
) -> None:
    """300 random tokens, 100 of those allowed, and all of one or two bytes."""
    constraint = made(real_vocabulary, SCHEMAS[name], options)
    lengths = np.diff(real_vocabulary.offsets)
    text, short = np.flatnonzero(lengths), np.flatnonzero((lengths > 0) & (lengths < 3))
    silent = lengths == 0
    silent[list(real_vocabulary.eos_ids)] = False
    rng, choice = random.Random(name), np.random.default_rng(1)
    rows: dict[Any, bytes] = {}
    state: State = constraint.start
    for _ in range(25):
        row = constraint.allowed(state)
        some = [
            choice.choice(text, 300),
            choice.choice(np.flatnonzero(row), 100),
            short,
        ]
        tokens = np.concatenate([*some, real_vocabulary.eos_ids])
        assert np.array_equal(row[tokens], slow_mask(constraint, state, tokens))
        assert not row[silent].any()
        content = np.packbits(row).tobytes()
        assert rows.setdefault(constraint.row_key(state), content) == content
        token = choose(constraint, row, rng)
        if token in real_vocabulary.eos_ids:
            state = constraint.start
            continue
        state = constraint.advance(state, token)
