"""Alternatives that a tag tells apart: the same language as without any look at
tags, and as the ``jsonschema`` package has it; a thousand of them at once."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from stcon.errors import LimitError, SchemaError
from stcon.syntax.json_schema import branches, compile_schema
from stcon.syntax.json_schema.document import Document
from stcon.syntax.json_schema.keywords import build
from stcon.syntax.json_schema.signatures import UNKNOWN, Signature, Signatures, rivals
from stcon.syntax.json_schema.tags import Known
from stcon.syntax.json_schema.values import OBJECT, STRING, identity
from tests.syntax.json_schema.world import TEXTS, matcher

OBJECTS = [(value, texts) for value, texts in TEXTS if isinstance(value, dict)]
KEYS, CONSTANTS = ("a", "b"), (0, 1, "a", None)
TYPES = ("integer", "string", "null")


class Maker:
    """Random schemas of tagged alternatives and conditions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def tag(self) -> dict[str, Any]:
        """A condition on one key, which may have to be there."""
        key = self.random.choice(KEYS)
        constants = self.random.sample(CONSTANTS, self.random.choice((1, 1, 2)))
        value = {"const": constants[0]} if len(constants) == 1 else {"enum": constants}
        schema: dict[str, Any] = {"properties": {key: value}}
        if self.random.random() < 0.6:
            schema["required"] = [key]
        return schema

    def demand(self) -> dict[str, Any]:
        """What a condition may lead to."""
        key = self.random.choice("abc")
        kind = self.random.choice(TYPES)
        choices = [{"required": [key]}, {"properties": {key: {"type": kind}}}]
        return self.random.choice([*choices, {"maxProperties": 2}, True, False])

    def part(self) -> dict[str, Any]:
        """One keyword that chooses."""
        pick, tags = self.random.random(), [self.tag() for _ in range(4)]
        if pick < 0.4:
            return {"if": tags[0], "then": self.demand(), "else": self.demand()}
        if pick < 0.6:
            return {"oneOf": [{**tag, **self.pair()} for tag in tags]}
        if pick < 0.8:
            return {"anyOf": [{"allOf": [tag, self.demand()]} for tag in tags[:3]]}
        return {"not": self.random.choice([tags[0], {"oneOf": tags}, {"anyOf": tags}])}

    def pair(self) -> dict[str, Any]:
        return self.random.choice([{}, {"minProperties": 1}, {"required": ["c"]}])

    def schema(self) -> dict[str, Any]:
        first: dict[str, Any] = {"type": "object"}
        if self.random.random() < 0.5:
            some = self.random.sample(CONSTANTS, 3)
            first["properties"] = {"a": {"enum": some}, "b": {}}
        if self.random.random() < 0.4:
            first["required"] = ["a"]
        count = self.random.choice((1, 2, 4, 5))
        return {**first, "allOf": [self.part() for _ in range(count)]}


def language(schema: dict[str, Any]) -> list[bool]:
    """Per object of the world, whether it can be written."""
    try:
        matches = matcher(compile_schema(schema).rules)
    except SchemaError as error:
        assert "no value satisfies" in str(error), error
        return [False] * len(OBJECTS)
    return [any(map(matches, texts)) for _, texts in OBJECTS]


@pytest.mark.parametrize("seed", range(60))
def test_random_tags(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Maker(seed).schema()
    have = language(schema)
    oracle = Draft202012Validator(schema)
    want = [oracle.is_valid(value) for value, _ in OBJECTS]
    assert have == want, json.dumps(schema)
    monkeypatch.setattr(Known, "refutes", lambda self, signature: False)
    monkeypatch.setattr(branches, "tag_cases", lambda *arguments: None)
    monkeypatch.setattr(branches, "rivals", every_other)
    assert language(schema) == want, "without a look at tags"


def every_other(found: list[Signature], *more: Any) -> list[list[int]]:
    """The slow twin of ``rivals``: nothing is excluded."""
    places = range(len(found))
    return [[other for other in places if other != place] for place in places]


def tagged(count: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "type": "object",
            "properties": {"type": {"const": f"t{n}"}, f"k{n}": {"type": "string"}},
            "required": ["type"],
            **more,
        }
        for n in range(count)
    ]


CLOSED = {"additionalProperties": False}
MANY = 400
MANY_TAGGED: dict[str, dict[str, Any]] = {
    "oneOf": {"oneOf": tagged(MANY, **CLOSED)},
    "anyOf": {"anyOf": tagged(MANY, **CLOSED)},
    "open": {"oneOf": tagged(MANY)},
    "required outside": {
        "required": ["type"],
        "oneOf": [{**one, "required": []} for one in tagged(MANY)],
    },
    "references": {
        "oneOf": [{"$ref": f"#/$defs/d{n}"} for n in range(MANY)],
        "$defs": {f"d{n}": one for n, one in enumerate(tagged(MANY))},
    },
    "conditions": {
        "type": "object",
        "properties": {"type": {"type": "string"}},
        "required": ["type"],
        "allOf": [
            {"if": {"properties": one["properties"]}, "then": {"required": [f"k{n}"]}}
            for n, one in enumerate(tagged(MANY // 4))
        ],
    },
    "constants": {"oneOf": [{"const": n} for n in range(MANY)]},
    "denied": {"type": "object", "not": {"oneOf": tagged(MANY // 4)}},
}


@pytest.mark.parametrize("schema", MANY_TAGGED.values(), ids=MANY_TAGGED)
def test_many_alternatives(schema: dict[str, Any]) -> None:
    """As many as would make a product of 400 * 400 look-aheads."""
    left = 150_000

    def work(amount: int) -> None:
        nonlocal left
        left -= amount
        assert left > 0, "more steps than grow with the number of alternatives"

    assert compile_schema(schema, work=work).report["enforced"]


def test_alternatives_that_overlap_are_no_table() -> None:
    with pytest.raises(LimitError):
        compile_schema({"oneOf": [{"pattern": f"a{n}$"} for n in range(2_000)]})


def signature(schema: Any, kind: str = OBJECT) -> Signature | None:
    document = Document.of(schema, build, frozenset())
    literal = document.literal((), document.root)
    return Signatures(document).of(literal, kind)


SIGNATURES: list[tuple[Any, set[str], dict[str, list[Any]]]] = [
    ({"properties": {"a": {"const": 1}}, "required": ["a"]}, {"a"}, {"a": [1]}),
    ({"properties": {"a": {"enum": [1, "x"]}, "b": {}}}, set(), {"a": [1, "x"]}),
    ({"allOf": [{"required": ["a"]}, {"properties": {"a": {"const": 1}}}]}, {"a"},
     {"a": [1]}),
    ({"properties": {"a": {"enum": [1, 2]}}, "allOf": [{"properties":
     {"a": {"enum": [2, 3]}}}]}, set(), {"a": [2]}),
    ({"anyOf": [{"properties": {"a": {"const": 1}}}, {"properties":
     {"a": {"const": 2}}}]}, set(), {"a": [1, 2]}),
    ({"anyOf": [{"properties": {"a": {"const": 1}}}, {"required": ["a"]}]}, set(), {}),
    ({"properties": {"a": {"type": "boolean"}}}, set(), {"a": [False, True]}),
    ({"properties": {"a": {"type": ["null", "boolean"]}}}, set(),
     {"a": [None, False, True]}),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "required", "values"), SIGNATURES)
def test_signature(
    schema: Any, required: set[str], values: dict[str, list[Any]]
) -> None:
    have = signature(schema)
    assert have is not None
    assert have.required == {None, *required}
    assert have.values == {k: frozenset(map(identity, v)) for k, v in values.items()}


def test_signatures_of_nothing_and_of_anything() -> None:
    assert signature({"type": "string"}) is None
    anything = signature({"type": "string"}, STRING)
    assert anything is not None and not anything.values
    tags = {"properties": {"a": {"const": 1}}, "required": ["a"]}
    assert signature({**tags, "allOf": [{"properties": {"a": {"const": 2}}}]}) is None
    const = signature({"const": {"a": 1, "b": 2}})
    assert const is not None and const.values["a"] == {identity(1)}


@pytest.mark.parametrize("seed", range(40))
def test_rivals(seed: int) -> None:
    rng = random.Random(seed)
    found = []
    for _ in range(12):
        names = rng.sample(("a", "b", None), rng.randrange(3))
        values = {
            n: frozenset(rng.sample(range(5), rng.randrange(1, 3))) for n in names
        }
        required = frozenset({None, *rng.sample(("a", "b"), rng.randrange(3))})
        found.append(rng.choice([Signature(required, values), UNKNOWN]))
    required = frozenset(rng.sample(("a", "b"), rng.randrange(2)))
    want = [
        [n for n in others if not found[place].excludes(found[n], required)]
        for place, others in enumerate(every_other(found))
    ]
    told: list[int] = []
    assert rivals(found, required, told.append) == want
    assert sum(told) >= sum(map(len, want))
