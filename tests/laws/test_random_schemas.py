"""Random schemas: what random choices write is valid, what is valid may be written,
masks are those of byte stepping, and both machines agree."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema
from jsonschema import Draft202012Validator

from stcon import LimitError, StconError, constrain, load
from stcon.constraints.constraint import Constraint, State
from stcon.constraints.dfa import DfaConstraint
from stcon.constraints.pushdown import PushdownConstraint
from stcon.decode.processor import bind
from stcon.machines.compile import calls_itself, compile_rules
from stcon.machines.dfa import DEAD
from stcon.machines.limits import Limits
from stcon.machines.pushdown import compile_pushdown
from stcon.syntax.json_schema import compile_schema
from stcon.tokens.vocabulary import Vocabulary
from tests.laws.instances import near, texts
from tests.laws.schema_strategies import (
    documents,
    leaves,
    schemas,
    schemas_without_objects,
)
from tests.oracles.slow_masks import slow_mask

WORDS = [
    b'":',
    b'",',
    b'","',
    b'":"',
    b'{"',
    b'"}',
    b"},",
    b"}]",
    b"[{",
    b'"a',
    b'"ab"',
]
WORDS += [b"ab", b"abab", b"aaaa", b'a"', b'b",', b"\xc3\xa9", b"\xa9a", b"12", b"1,2"]
WORDS += [b"true", b"null", b"  ", b"\\n", b"\\u00", b"\\u00e9", b"]]", b"[]", b"{}"]
WORDS += [
    b'":[',
    b'","x-',
    b"2024-",
    b"-01",
    b"\xf0\x9f",
    b'""',
    b'"],"',
    b"x-1",
    b"type",
]
VOCABULARY = Vocabulary.from_bytes(
    [None, None, *(bytes([b]) for b in range(256)), *WORDS], [0]
)
HURRY = np.array([40.0] + [0.0] * 257 + [2.0] * len(WORDS))
HURRY[[2 + byte for byte in b'"]},:']] = 6.0
HURRY[[2 + byte for byte in b"abcx0123456789-."]] = 1.0
HURRY += 0.02
QUICK = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
"""The same examples each time, so that the seconds are the same too."""


def made(schema: Any, **options: Any) -> Constraint:
    """The constraint of ``schema``; what is refused on purpose is no example."""
    try:
        return constrain(VOCABULARY, schema, limits=Limits(seconds=1), **options)
    except LimitError:
        assume(False)
    except StconError as error:
        assume("itself" not in str(error) and "not enforced" not in str(error))
        return _refused(schema)
    raise AssertionError


def _refused(schema: Any) -> Any:
    rng = random.Random(0)
    for _ in range(40):
        value = near(schema, schema, rng)
        assert not validator(schema).is_valid(value), (schema, value)
    assume(False)


def run(
    constraint: Constraint, rng: np.random.Generator, longest: int
) -> Iterator[tuple[State, bytes]]:
    """The states of a random run and the text so far; shortest texts finish it."""
    state, text = constraint.start, b""
    for _ in range(longest):
        yield state, text
        weights = HURRY * constraint.allowed(state)
        assert weights.any(), ("no token is allowed", text)
        token = int(rng.choice(len(weights), p=weights / weights.sum()))
        if token in VOCABULARY.eos_ids:
            return
        try:
            state = constraint.advance(state, token)
        except LimitError as error:
            assume("deeper" not in str(error))
            raise
        assert state != DEAD, (text, token)
        text += VOCABULARY.token_bytes(token)
    rest = constraint.shortest(state)
    yield constraint.read(state, rest), text + rest


def is_valid(schema: Any, text: bytes) -> bool:
    """Whether jsonschema accepts ``text``.  It judges numbers as floats, where
    infinity is no integer and all long fractions are, so those are no examples."""
    value = json.loads(text, parse_float=_small)
    return bool(validator(schema).is_valid(value))


def validator(schema: Any) -> Any:
    """jsonschema's, with the formats it knows."""
    checker = Draft202012Validator.FORMAT_CHECKER
    return Draft202012Validator(schema, format_checker=checker)


def _small(digits: str) -> float:
    assume(not {"e", "E"} & set(digits) and len(digits) < 16)
    return float(digits)


OPTIONS = st.sampled_from(
    [
        *({}, {}, {"whitespace": "free"}, {"escapes": "any"}),
        *({"whitespace": "bounded"}, {"whitespace": "spaced"}),
    ]
)


@settings(QUICK, max_examples=120)
@given(documents(), OPTIONS, st.integers(0, 2**32))
def test_what_random_choices_write_is_valid(
    schema: Any, options: dict[str, Any], seed: int
) -> None:
    constraint = made(schema, **options)
    rng = np.random.default_rng(seed)
    rows: dict[Any, np.ndarray] = {}
    for place, (state, text) in enumerate(run(constraint, rng, 60)):
        row = constraint.allowed(state)
        assert np.array_equal(row, slow_mask(constraint, state)), (schema, text)
        first = rows.setdefault(constraint.row_key(state), row)
        assert np.array_equal(first, row), (schema, text)
        if place % 20 == 0:
            assert constraint.matches(text + constraint.shortest(state)), (schema, text)
    assert constraint.matches(text)
    assert is_valid(schema, text), (schema, text)


@settings(QUICK, max_examples=100)
@given(documents(), st.integers(0, 2**32))
def test_what_is_valid_may_be_written(schema: Any, seed: int) -> None:
    constraint = made(schema)
    rng = random.Random(seed)
    oracle = validator(schema)
    for _ in range(12):
        value = near(schema, schema, rng)
        written = any(constraint.matches(text) for text in texts(value))
        assert written == oracle.is_valid(value), (schema, value)


@settings(QUICK, max_examples=40)
@given(st.data(), schemas_without_objects())
def test_instances_of_hypothesis_jsonschema(data: st.DataObject, schema: Any) -> None:
    """Without objects: the package draws them by a part of hypothesis that is gone
    (an AttributeError)."""
    constraint = made(schema)
    try:
        value = data.draw(from_schema(schema))
    except AttributeError:
        assume(False)
    assume(len(json.dumps(value)) < 400)
    assume(not any(isinstance(part, float) for part in _parts(value)))
    assert any(constraint.matches(text) for text in texts(value)), (schema, value)


def _parts(value: Any) -> Iterator[Any]:
    yield value
    for part in value.values() if isinstance(value, dict) else ():
        yield from _parts(part)
    for part in value if isinstance(value, list) else ():
        yield from _parts(part)


@settings(QUICK, max_examples=60)
@given(schemas(leaves()), OPTIONS, st.integers(0, 2**32))
def test_both_machines_agree(schema: Any, options: dict[str, Any], seed: int) -> None:
    both = of_both(schema, options)
    one, two = both[0].start, both[1].start
    rng = np.random.default_rng(seed)
    for state, text in run(both[1], rng, 40):
        one = both[0].read(both[0].start, text)
        two = state
        assert np.array_equal(both[0].allowed(one), both[1].allowed(two)), text
        assert both[0].forced(one) == both[1].forced(two)
        assert both[0].is_complete(one) == both[1].is_complete(two)
        assert both[0].live(one) == both[1].live(two)
        shortest = both[0].shortest(one)
        assert len(shortest) <= len(both[1].shortest(two))


def of_both(schema: Any, options: dict[str, Any]) -> tuple[Constraint, Constraint]:
    """The constraint of a schema as a finite automaton, and as a pushdown."""
    chosen = {"whitespace": "compact", "escapes": "usual", **options}
    try:
        rules = compile_schema(schema, **chosen).rules
        assume(not calls_itself(rules))
        dfa = compile_rules(rules, Limits(states=20_000, seconds=1))
    except StconError:
        assume(False)
    machine = compile_pushdown(rules)
    assert (dfa.start == DEAD) is (machine.start_state == DEAD)
    assume(dfa.start != DEAD)
    finite = DfaConstraint.of(dfa, VOCABULARY, bind("host"))
    return finite, PushdownConstraint(machine, VOCABULARY, bind("host"))


SAVED = {
    "counts": {
        "type": "array",
        "items": {"type": "string", "minLength": 2, "maxLength": 2**31},
        "minItems": 1,
        "maxItems": 2**64,
    },
    "recursion": {
        "$defs": {
            "t": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "pattern": "^[a-z]*$", "maxLength": 9},
                    "kids": {"type": "array", "items": {"$ref": "#/$defs/t"}},
                },
                "required": ["name"],
            }
        },
        "$ref": "#/$defs/t",
    },
}


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.parametrize("whitespace", ["compact", "free"])
def test_save_and_load(name: str, whitespace: str, tmp_path: Path) -> None:
    constraint = constrain(VOCABULARY, SAVED[name], whitespace=whitespace)
    constraint.save(tmp_path / "c")
    again = Vocabulary(VOCABULARY.offsets, VOCABULARY.data, VOCABULARY.eos_ids)
    back = load(tmp_path / "c", again)
    assert back.kind == constraint.kind == "pushdown"
    rng = np.random.default_rng(1)
    for state, text in run(constraint, rng, 80):
        there = back.read(back.start, text)
        assert np.array_equal(back.allowed(there), constraint.allowed(state))
        assert back.is_complete(there) == constraint.is_complete(state)
        assert back.shortest(there) == constraint.shortest(state)
