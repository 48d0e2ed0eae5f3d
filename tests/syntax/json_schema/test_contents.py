"""Subschemas share a number exactly when they are equal without annotations."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from stcon.syntax.json_schema import compile_schema
from stcon.syntax.json_schema.alternatives import Expander
from stcon.syntax.json_schema.contents import Contents, annotation_places
from stcon.syntax.json_schema.document import Document
from stcon.syntax.json_schema.goals import goal
from stcon.syntax.json_schema.keywords import build
from stcon.syntax.json_schema.plan import Plan
from tests.syntax.json_schema.world import matcher

NOTES = {"title": "t", "description": "d", "default": {"title": 1}, "$comment": "c"}
MAPS = ("properties", "patternProperties", "dependentSchemas")
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
ONES = ("items", "additionalProperties", "not", "if", "then", "else")


class Maker:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def schema(self, depth: int) -> Any:
        if depth == 0 or self.random.random() < 0.3:
            leaves = [True, {}, {"type": "string"}, {"const": 1}, {"const": True}]
            leaves += [{"const": 1.0}, {"enum": [{"title": 1}]}, {"enum": [{}]}]
            return self.noted(self.random.choice(leaves))
        kind = self.random.choice((MAPS, LISTS, ONES))
        name, below = self.random.choice(kind), self.schema(depth - 1)
        if kind is MAPS:
            key = self.random.choice(("a", "title", "default"))
            return self.noted({name: {key: below, "b": self.schema(depth - 1)}})
        if kind is LISTS:
            return self.noted({name: [below, self.schema(0)]})
        return self.noted({name: below})

    def noted(self, schema: Any) -> Any:
        if isinstance(schema, bool):
            return schema
        some = self.random.sample(sorted(NOTES), self.random.choice((0, 0, 1, 2)))
        pairs = [*schema.items(), *((name, NOTES[name]) for name in some)]
        return dict(pairs)


def stripped(schema: Any) -> Any:
    """The slow twin: the schema without annotations."""
    if not isinstance(schema, dict):
        return schema
    out: dict[str, Any] = {}
    for name, item in schema.items():
        if name in MAPS:
            out[name] = {key: stripped(part) for key, part in item.items()}
        elif name in LISTS:
            out[name] = [stripped(part) for part in item]
        elif name in ONES:
            out[name] = stripped(item)
        elif name not in NOTES:
            out[name] = item
    return out


def noted_places(schema: Any, path: tuple[Any, ...] = ()) -> set[tuple[Any, ...]]:
    """The slow twin of ``annotation_places``."""
    if not isinstance(schema, dict):
        return set()
    found = {(*path, name) for name in schema if name in NOTES}
    for name, item in schema.items():
        if name in MAPS:
            for key, part in item.items():
                found |= noted_places(part, (*path, name, key))
        elif name in LISTS:
            for place, part in enumerate(item):
                found |= noted_places(part, (*path, name, place))
        elif name in ONES:
            found |= noted_places(item, (*path, name))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_numbers(seed: int) -> None:
    maker, contents = Maker(seed), Contents()
    made = [maker.schema(2) for _ in range(120)]
    schemas = [schema for schema in made if isinstance(schema, dict)]
    by_number: dict[int, set[str]] = {}
    by_text: dict[str, set[int]] = {}
    for schema in schemas:
        number, text = contents.of(schema), json.dumps(stripped(schema))
        by_number.setdefault(number, set()).add(text)
        by_text.setdefault(text, set()).add(number)
        assert set(annotation_places((), schema)) == noted_places(schema)
    assert len(by_number) < len(schemas), "some are equal"
    assert all(len(texts) == 1 for texts in by_number.values())
    assert all(len(numbers) == 1 for numbers in by_text.values())


def goals(schema: Any) -> int:
    """How many goals a schema leads to."""
    document = Document.of(schema, build, frozenset())
    root = goal([document.literal((), document.root)])
    return len(Plan(root, Expander(document)).shapes)


def test_repeated_subschemas_are_one_goal() -> None:
    part = {"type": "object", "properties": {"x": {"type": "array", "items": {}}}}
    names = [f"k{n}" for n in range(50)]
    schema = {"properties": {name: {**part, "title": name} for name in names}}
    assert goals(schema) == goals({"properties": {"k": part}})


def test_places_matter_below_another_base() -> None:
    """The same reference in two resources names two schemas."""
    inside = {"properties": {"x": {"$ref": "#/$defs/y"}}, "required": ["x"]}
    schema = {
        "$defs": {"y": {"const": 0}},
        "type": "array",
        "prefixItems": [
            {"$id": f"http://example.com/{n}", **inside, "$defs": {"y": {"const": n}}}
            for n in (1, 2)
        ],
        "minItems": 2,
        "items": False,
    }
    matches = matcher(compile_schema(schema).rules)
    assert matches(b'[{"x":1},{"x":2}]')
    assert not matches(b'[{"x":1},{"x":1}]') and not matches(b'[{"x":0},{"x":2}]')
