"""Keys in declared order, through everything that applies to one place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stcon.bench.key_order import declared_orders


def _keys(*names: str) -> dict[str, Any]:
    return {"properties": {name: {} for name in names}}


_B_A = _keys("b", "a")
_TAGGED = {
    "oneOf": [
        {"properties": {"kind": {"const": "x"}, "b": {}, "a": {}}},
        {"properties": {"kind": {"const": "y"}, "a": {}, "b": {}}},
    ]
}

# The schema, the keys of an instance as they come, its keys in order.
_CASES = {
    "declared": (_B_A, "ab", "ba"),
    "others last, as they come": (_B_A, "zaxb", "bazx"),
    "required after declared": (_B_A | {"required": ["z", "a"]}, "xaz", "azx"),
    "names listed": (
        {"propertyNames": {"enum": ["c", "a"]}, "required": ["b"]},
        "abc",
        "bca",
    ),
    "dependentRequired": ({"dependentRequired": {"a": ["c", "b"]}}, "abc", "cba"),
    "$ref": ({"$ref": "#/$defs/s", "$defs": {"s": _B_A}}, "ab", "ba"),
    "allOf": ({"allOf": [_keys("c"), _B_A]}, "abc", "cba"),
    "allOf where it stands": ({"allOf": [_keys("c")], **_B_A}, "abc", "cba"),
    "properties before allOf": ({**_B_A, "allOf": [_keys("c")]}, "cab", "bac"),
    "first mention wins": ({"allOf": [_keys("c", "a"), _B_A]}, "abc", "cab"),
    "anyOf after what always applies": (
        {"anyOf": [_keys("c")], "allOf": [_B_A]},
        "cab",
        "bac",
    ),
    "if holds": (
        {"if": {"required": ["a"]}, "then": _B_A, "else": _keys("c", "a", "b")},
        "acb",
        "bac",
    ),
    "if does not hold": (
        {"if": {"required": ["z"]}, "then": _B_A, "else": _keys("c", "a", "b")},
        "acb",
        "cab",
    ),
    "dependentSchemas of a key there": (
        {"dependentSchemas": {"z": _keys("a", "b"), "a": _B_A}},
        "ab",
        "ba",
    ),
    "dependencies": ({"dependencies": {"a": ["c"], "b": _keys("d")}}, "abcd", "dcab"),
    "itself": ({"allOf": [{"$ref": "#"}, _B_A]}, "ab", "ba"),
    "nonsense": ({"properties": [], "required": 5, "allOf": {}}, "ab", "ab"),
    "true": (True, "ba", "ba"),
}


@pytest.mark.parametrize("name", _CASES)
def test_order(name: str) -> None:
    schema, given_keys, want = _CASES[name]
    ordered = declared_orders(schema, dict.fromkeys(given_keys, 0))[0]
    assert "".join(ordered) == want


@pytest.mark.parametrize(("kind", "want"), [("x", "kind b a"), ("y", "kind a b")])
def test_alternatives_that_fit_come_first(kind: str, want: str) -> None:
    ordered = declared_orders(_TAGGED, {"a": 0, "b": 0, "kind": kind})[0]
    assert " ".join(ordered) == want


def test_orders_that_may_be_meant_are_all_given() -> None:
    schema = {"anyOf": [_keys("c", "a"), _keys("a", "c")], **_keys("b")}
    have = ["".join(order) for order in declared_orders(schema, {"a": 0, "b": 0})]
    assert have == ["ba", "ab"]
    assert len(declared_orders(_B_A, {"a": 0, "b": 0})) == 1


_NESTED = {
    "properties": {
        "list": {"items": [{}, _B_A], "additionalItems": _keys("c", "a")},
        "tuple": {"prefixItems": [_B_A], "items": _keys("c", "a")},
        "all": {"items": _B_A},
        "some": {"contains": _B_A},
        "rest": {"unevaluatedItems": _B_A},
        "open": {"additionalProperties": _B_A},
        "left": {"unevaluatedProperties": _B_A},
        "match": {
            "patternProperties": {"^x": _B_A, "(": {}},
            "additionalProperties": _keys("c", "a"),
        },
    }
}
_ITEM = {"a": 0, "b": 0, "c": 0}
_PLACES = {
    "list": ([1, _ITEM, _ITEM], ["bac", "cab"]),
    "tuple": ([_ITEM, _ITEM], ["bac", "cab"]),
    "all": ([_ITEM], ["bac"]),
    "some": ([_ITEM], ["bac"]),
    "rest": ([_ITEM], ["bac"]),
    "open": ({"k": _ITEM}, ["bac"]),
    "left": ({"k": _ITEM}, ["bac"]),
    "match": ({"xy": _ITEM, "k": _ITEM}, ["bac", "cab"]),
}


@pytest.mark.parametrize("place", _PLACES)
def test_nested(place: str) -> None:
    value, want = _PLACES[place]
    [ordered] = declared_orders(_NESTED, {place: value})
    inside = ordered[place]
    items = inside.values() if isinstance(inside, dict) else inside
    assert ["".join(item) for item in items if isinstance(item, dict)] == want


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_values, st.sampled_from([case[0] for case in _CASES.values()]))
def test_only_the_order_changes(value: Any, schema: Any) -> None:
    orders = declared_orders(schema, value)
    assert 1 <= len(orders) <= 4
    assert all(order == value for order in orders)
    assert len({json.dumps(order) for order in orders}) == len(orders)


def test_deep_values_keep_their_lower_levels() -> None:
    deep: Any = 0
    for _ in range(300):
        deep = {"a": deep}
    schema = {"properties": {"a": {"$ref": "#"}}}
    assert declared_orders(schema, deep) == [deep]
