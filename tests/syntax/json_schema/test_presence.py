"""Formulas over which keys are there, against truth tables and ``jsonschema``."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from stcon.errors import LimitError, SchemaError
from stcon.syntax.json_schema import compile_schema
from stcon.syntax.json_schema.alternatives import Expander
from stcon.syntax.json_schema.document import Document
from stcon.syntax.json_schema.goals import goal
from stcon.syntax.json_schema.keywords import build
from stcon.syntax.json_schema.options import unmetered
from stcon.syntax.json_schema.presence import (
    Denied,
    Every,
    Key,
    Keys,
    One,
    Some,
    assigned,
    can_be,
    denied,
    every,
    names_of,
    one,
    some,
)
from stcon.syntax.rules import parts
from tests.syntax.json_schema.world import TEXTS, matcher

OBJECTS = [(value, texts) for value, texts in TEXTS if isinstance(value, dict)]
NAMES = "abcd"
SETS = [set(c) for n in range(5) for c in itertools.combinations(NAMES, n)]


def holds(keys: Keys, there: set[str]) -> bool:
    """The slow twin: a formula on a set of keys."""
    if isinstance(keys, bool):
        return keys
    if isinstance(keys, Key):
        return keys.name in there
    if isinstance(keys, Denied):
        return not holds(keys.item, there)
    count = sum(holds(item, there) for item in keys.items)
    return {Every: count == len(keys.items), Some: count > 0, One: count == 1}[
        type(keys)
    ]


def formula(rng: random.Random, depth: int) -> tuple[Keys, Keys]:
    """A random formula, simplified and as it is written."""
    if depth == 0 or rng.random() < 0.2:
        keys = rng.choice([*map(Key, NAMES), True, False])
        return keys, keys
    if rng.random() < 0.25:
        item, plain = formula(rng, depth - 1)
        return denied(item), Denied(plain)
    parts = [formula(rng, depth - 1) for _ in range(rng.randrange(4))]
    items, plains = [p[0] for p in parts], tuple(p[1] for p in parts)
    make, kind = rng.choice([(every, Every), (some, Some), (one, One)])
    return make(items), kind(plains)


@pytest.mark.parametrize("seed", range(40))
def test_formulas(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(20):
        keys, plain = formula(rng, 3)
        assert [holds(keys, s) for s in SETS] == [holds(plain, s) for s in SETS]
        assert can_be(keys, unmetered) == any(holds(plain, s) for s in SETS)
        for there in SETS:
            left = keys
            for name in NAMES:
                left = assigned(left, name, name in there)
                assert name not in names_of(left)
            assert left is holds(plain, there)


class Maker:
    """Random schemas that speak of keys."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def names(self, most: int) -> list[str]:
        return self.random.sample(NAMES, self.random.randrange(1, most + 1))

    def part(self, depth: int) -> Any:
        pick = self.random.random()
        if depth == 0 or pick < 0.25:
            absent = {"properties": {self.names(1)[0]: False}}
            there = {"required": self.names(2)}
            return self.random.choice([there, there, absent, True, {"type": "object"}])
        several = [self.part(depth - 1) for _ in range(self.random.choice((2, 3)))]
        if pick < 0.75:
            return {self.random.choice(("anyOf", "oneOf", "allOf")): several}
        if pick < 0.85:
            return {"not": several[0]}
        return {"if": several[0], "then": several[1], "else": several[-1]}

    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "object"}
        if self.random.random() < 0.7:
            kinds = self.random.sample(["integer", "string", "null"], 2)
            pairs = zip(self.names(2), kinds, strict=False)
            schema["properties"] = {name: {"type": kind} for name, kind in pairs}
        if self.random.random() < 0.3:
            schema["additionalProperties"] = self.random.choice([False, {"const": 1}])
        if self.random.random() < 0.3:
            schema["maxProperties"] = self.random.choice((1, 2, 3))
        if self.random.random() < 0.4:
            needs = {self.names(1)[0]: self.names(2) for _ in range(2)}
            schema["dependentRequired"] = needs
        parts = [self.part(2) for _ in range(self.random.choice((1, 2, 3)))]
        return {**schema, "allOf": parts}


@pytest.mark.parametrize("seed", range(120))
def test_random_objects(seed: int) -> None:
    schema = Maker(seed).schema()
    oracle = Draft202012Validator(schema)
    want = [oracle.is_valid(value) for value, _ in OBJECTS]
    for order in ("declared", "any"):
        try:
            matches = matcher(compile_schema(schema, key_order=order).rules)
        except SchemaError as error:
            assert "no value satisfies" in str(error) and not any(want), schema
            continue
        found = [[matches(text) for text in texts] for _, texts in OBJECTS]
        assert [any(have) for have in found] == want, json.dumps(schema)
        if order == "any":
            assert [all(have) for have in found] == want, json.dumps(schema)


K = [f"k{n}" for n in range(60)]
MANY: dict[str, dict[str, Any]] = {
    "a chain": {"dependentRequired": dict(zip(K, ([k] for k in K[1:]), strict=False))},
    "pairs": {"dependentRequired": {K[n]: [K[n + 1]] for n in range(0, 60, 2)}},
    "one of all": {"oneOf": [{"required": [k]} for k in K]},
    "any of all": {"anyOf": [{"required": [k]} for k in K]},
    "one of each six": {
        "allOf": [
            {"oneOf": [{"required": [k]} for k in K[n : n + 6]]}
            for n in range(0, 60, 6)
        ]
    },
    "not together": {
        "allOf": [{"not": {"required": K[n : n + 2]}} for n in range(0, 60, 2)]
    },
}


@pytest.mark.parametrize("schema", MANY.values(), ids=MANY)
def test_many_keys_are_one_object(schema: dict[str, Any]) -> None:
    whole = {"type": "object", "properties": {k: {"const": 1} for k in K}, **schema}
    document = Document.of(whole, build, frozenset())
    root = goal([document.literal((), document.root)])
    assert len(Expander(document).all_shapes(root)) == 1
    matches = matcher(compile_schema(whole).rules)
    oracle = Draft202012Validator(whole)
    rng = random.Random(0)
    verdicts = []
    for _ in range(200):
        some_keys = rng.choice(
            [rng.sample(K, rng.randrange(6)), K[-rng.randrange(61) :]]
        )
        value = {k: 1 for k in K if k in some_keys}
        if rng.random() < 0.3:
            value = {K[n + rng.randrange(6)]: 1 for n in range(0, 60, 6)}
        verdicts.append(oracle.is_valid(value))
        text = json.dumps(value, separators=(",", ":"))
        assert matches(text.encode()) == verdicts[-1], text
    assert len(set(verdicts)) == 2


def test_formulas_that_take_too_many_states() -> None:
    """Each of fifteen keys needs one that comes when all fifteen are behind."""
    needs = {K[n]: [K[n + 15]] for n in range(15)}
    schema = {"properties": {k: {} for k in K}, "dependentRequired": needs}
    with pytest.raises(LimitError, match=r"#/properties: .*more than 4,096 sets"):
        compile_schema(schema)


def test_keys_that_cannot_be_there() -> None:
    """A key whose value is never valid is absent, in a formula as elsewhere."""
    loop = {
        "type": "object",
        "required": ["x"],
        "properties": {"x": {"$ref": "#/$defs/l"}},
    }
    schema = {
        "type": "object",
        "$defs": {"l": loop},
        "properties": {"a": {"$ref": "#/$defs/l"}, "b": {"const": 1}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        "additionalProperties": False,
    }
    matches = matcher(compile_schema(schema).rules)
    assert matches(b'{"b":1}') and not matches(b"{}")
    with pytest.raises(SchemaError, match="no value"):
        compile_schema({**schema, "properties": {"a": loop, "b": False}})


def test_few_conditions_on_many_keys() -> None:
    """What must be remembered counts, not for how long."""
    names = [f"k{n}" for n in range(500)]
    needs = {names[n]: [names[n + 450]] for n in range(5)}
    schema = {
        "properties": {k: {"const": 1} for k in names},
        "dependentRequired": needs,
    }
    assert compile_schema(schema)
    with pytest.raises(LimitError, match="more than 31 sets"):
        compile_schema(schema, max_sets=31)


def edges(count: int) -> int:
    """The places of parts in the expression of ``count`` keys, one needing another."""
    names = [f"k{n}" for n in range(count)]
    needs = {"k0": [names[-1]]}
    schema = {
        "properties": {k: {"const": 1} for k in names},
        "dependentRequired": needs,
    }
    rules = compile_schema({"type": "object", **schema}).rules
    seen, todo = set(), [rules.rules[rules.start]]
    total = 0
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += parts(node)
            total += len(parts(node))
    return total


def test_expressions_grow_with_the_number_of_keys() -> None:
    assert edges(200) < 2.2 * edges(100)


def test_formulas_that_are_hard() -> None:
    """Clauses of three keys, at random, in the number that is hardest."""
    rng = random.Random(1)

    def literal() -> Any:
        there = {"required": [rng.choice(K)]}
        return there if rng.random() < 0.5 else {"not": there}

    clauses = [{"anyOf": [literal() for _ in range(3)]} for _ in range(250)]
    left = 100_000

    def work(amount: int) -> None:
        nonlocal left
        left -= amount
        if left < 0:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        compile_schema({"type": "object", "allOf": clauses}, work=work)
