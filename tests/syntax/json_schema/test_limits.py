"""Hostile schemas: typed errors at once, with the place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from stcon.errors import LimitError, SchemaError
from stcon.machines.pushdown import compile_pushdown
from stcon.syntax.json_schema import compile_schema
from stcon.syntax.json_schema.load import MAX_VALUES, load
from stcon.syntax.rules import Expr, Not, Repeat


def _shared(levels: int) -> dict[str, Any]:
    """One dict that stands at two places on every level."""
    schema: dict[str, Any] = {"type": "null"}
    for _ in range(levels):
        schema = {"if": schema, "then": schema}
    return schema


class _Endless(Mapping[str, Any]):
    """A mapping that never ends."""

    def __getitem__(self, key: str) -> Any:
        return 1

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        while True:
            yield "a"


@pytest.mark.parametrize("schema", [_shared(25), {"enum": [_Endless()]}])
def test_too_many_values(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match=f"more than {MAX_VALUES:,} values"):
        load(schema)


@pytest.mark.parametrize(
    "schema",
    [
        _shared(12),
        {"type": "null", "allOf": [_shared(14)]},
        {"type": "array", "items": {"enum": list(range(500))}, "uniqueItems": True},
        {"allOf": [{"contains": {"const": n}} for n in range(40)]},
        {
            "not": {
                "anyOf": [
                    {"additionalProperties": {"multipleOf": n + 1}} for n in range(40)
                ]
            },
            "properties": {"a": {}, "b": {}},
            "type": "object",
        },
    ],
)
def test_limits(schema: dict[str, Any]) -> None:
    with pytest.raises(LimitError, match="#/properties/x"):
        compile_schema({"properties": {"x": schema}})


def test_few_levels_of_shared_dicts() -> None:
    assert compile_schema(_shared(5)).report["enforced"] == ["if", "then", "type"]


def _one_of(count: int) -> dict[str, Any]:
    return {"oneOf": [{"pattern": f"a{i}$"} for i in range(count)]}


def test_many_patterns() -> None:
    with pytest.raises(LimitError):
        compile_schema(_one_of(2_000))
    rules = compile_schema({"type": "string", **_one_of(200)}).rules
    have = len(expr_nodes(rules.rules[rules.start]))
    assert have < 10_000, "every pattern is encoded once"


def expr_nodes(root: Expr) -> set[Expr]:
    """All nodes below ``root``, shared ones once."""
    seen, todo = {root}, [root]
    while todo:
        node = todo.pop()
        parts = [*getattr(node, "items", ())]
        parts += [node.item] if isinstance(node, (Not, Repeat)) else []
        todo += [part for part in parts if part not in seen]
        seen.update(parts)
    return seen


LETTERS = "abcdefghij"

# Each takes more than 100 sets and less than 4,096.
SETS: list[tuple[dict[str, Any], str, str]] = [
    (
        {"type": "array", "items": {"enum": list(LETTERS)}, "uniqueItems": True},
        "#/uniqueItems",
        "leave uniqueItems out",
    ),
    (
        {"type": "array", "contains": {"const": 1}, "minContains": 20, "minItems": 20},
        "#/contains",
        "minContains",
    ),
    (
        {"properties": {f"k{n}": {} for n in range(250)}, "minProperties": 200,
         "additionalProperties": False},
        "#/minProperties",
        "use fewer keys",
    ),
    (
        {"patternProperties": {c: {} for c in LETTERS}},
        "#/patternProperties",
        "patternProperties",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "pointer", "hint"), SETS)
def test_sets_are_bounded_by_an_option(
    schema: dict[str, Any], pointer: str, hint: str
) -> None:
    inside = {"properties": {"x": schema}}
    compile_schema(inside)
    with pytest.raises(LimitError) as caught:
        compile_schema(inside, max_sets=100)
    assert caught.value.limit == 100 and caught.value.what == "states"
    where = pointer.replace("#", "#/properties/x")
    for part in (where, pointer[2:], "100 sets", "max_sets", hint):
        assert part in str(caught.value)
    compile_schema(inside, max_sets=5_000)


def test_work_is_told_of_every_step() -> None:
    """The caller's clock can stop a compile, whichever part takes long."""

    class _Stop(Exception):
        pass

    def work(amount: int) -> None:
        nonlocal left
        assert amount >= 0
        left -= amount
        if left < 0:
            raise _Stop

    wide = {"properties": {f"k{n}": {} for n in range(11)}}
    slow = [(schema, "declared") for schema, _, _ in SETS]
    for schema, order in [*slow, (_one_of(60), "declared"), (wide, "any")]:
        left = 60
        with pytest.raises(_Stop):
            compile_schema(schema, key_order=order, work=work)


@pytest.mark.parametrize("most", [10**6, 2**64])
def test_any_number_of_keys(most: int) -> None:
    closed = {"maxProperties": most, "additionalProperties": {"type": "null"}}
    machine = compile_pushdown(compile_schema({"type": "object", **closed}).rules)
    pairs = [b'"k%d":null' % n for n in range(50)]
    for text in (b"{}", b"{" + b",".join(pairs) + b"}"):
        assert machine.is_complete(machine.run(machine.start, text))


def test_a_long_chain_of_alternatives() -> None:
    definitions: dict[str, Any] = {
        f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"const": n}]}
        for n in range(1000)
    }
    definitions["d1000"] = {"type": "integer"}
    with pytest.raises(LimitError, match="same value"):
        compile_schema({"$defs": definitions, "$ref": "#/$defs/d0"})


def test_what_may_stay_without_effect_does() -> None:
    """Also a factor that is too large to be enforced."""
    schema = {"type": "integer", "multipleOf": 30001}
    with pytest.raises(LimitError, match="a factor of 30,001"):
        compile_schema(schema)
    compiled = compile_schema(schema, allow_unenforced={"multipleOf"})
    assert compiled.report["unenforced"]
    with pytest.raises(ValueError, match="did you mean 'uniqueItems'"):
        compile_schema(schema, allow_unenforced={"uniqueItem"})
