"""Random schemas that refer to themselves, count, and combine keywords."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

KEYS = ["a", "ab", "abc", "", "x-1", "é", 'q"\\/', "type"]
PATTERNS = ["^[a-c]*$", "a", "^(ab)*$", "b$", "^.{2,4}$", "[0-9]{2}", "^(é|aaa)$"]
FORMATS = ["date", "ipv4", "uuid"]
VALUES = [None, True, 0, 1, -2, 1.5, "", "a", "ab", "é", [], [1], {}, {"a": 1}]
NAMES = ["node", "list"]

Schemas = st.SearchStrategy[Any]


def windows(least: str, most: str) -> st.SearchStrategy[dict[str, int]]:
    """Bounds of a count: small, far apart, or on one side only."""
    low = st.integers(0, 4)
    near = st.tuples(low, st.integers(0, 4)).map(lambda x: {least: x[0], most: sum(x)})
    return st.one_of(
        st.just({}),
        near,
        near,
        low.map(lambda n: {least: n, most: 2**40}),
        low.map(lambda n: {least: n}),
        st.sampled_from([0, 1, 5, 2**64]).map(lambda n: {most: n}),
    )


def strings() -> Schemas:
    """Schemas of strings."""
    shape = st.one_of(
        st.just({}),
        st.just({}),
        st.sampled_from(PATTERNS).map(lambda p: {"pattern": p}),
        st.sampled_from(FORMATS).map(lambda f: {"format": f}),
    )
    window = windows("minLength", "maxLength")
    return joined(st.just({"type": "string"}), shape, window)


def numbers() -> Schemas:
    """Schemas of numbers."""
    bounds = st.dictionaries(
        st.sampled_from(["minimum", "maximum", "exclusiveMinimum"]),
        st.sampled_from([-3, 0, 1, 7, 120, 0.5]),
        max_size=2,
    )
    kind = st.sampled_from(["integer", "number"]).map(lambda t: {"type": t})
    return joined(kind, bounds)


def joined(*parts: Schemas) -> Schemas:
    """Schemas with the keywords of all ``parts``."""
    return st.tuples(*parts).map(
        lambda found: {name: value for part in found for name, value in part.items()}
    )


def leaves() -> Schemas:
    """Schemas without parts."""
    return st.one_of(
        strings(),
        numbers(),
        st.sampled_from([{"type": "null"}, {"type": "boolean"}, True]),
        st.lists(st.sampled_from(VALUES), min_size=1, max_size=4).map(
            lambda found: {"enum": found}
        ),
    )


def arrays(inner: Schemas) -> Schemas:
    """Schemas of arrays."""
    prefix = st.lists(inner, min_size=1, max_size=2).map(lambda p: {"prefixItems": p})
    rest = (inner | st.just(False)).map(lambda schema: {"items": schema})
    contains = inner.map(lambda schema: {"contains": schema})
    return joined(
        st.just({"type": "array"}),
        sometimes(prefix, 2),
        rest,
        windows("minItems", "maxItems"),
        sometimes(contains, 5),
    )


def objects(inner: Schemas) -> Schemas:
    """Schemas of objects."""
    keys = st.sampled_from(KEYS)
    named = st.dictionaries(keys, inner, max_size=3)
    pattern = st.dictionaries(st.sampled_from(["^x", "b"]), inner, min_size=1)
    names = st.sampled_from([{"maxLength": 3}, {"pattern": "^[a-z]+$"}])
    return joined(
        st.just({"type": "object"}),
        named.map(lambda found: {"properties": found}),
        st.lists(keys, max_size=2, unique=True).map(lambda r: {"required": r}),
        sometimes((inner | st.just(False)).map(other_keys), 1),
        sometimes(pattern.map(lambda found: {"patternProperties": found}), 4),
        sometimes(names.map(lambda found: {"propertyNames": found}), 5),
        sometimes(st.integers(0, 3).map(lambda n: {"maxProperties": n}), 5),
    )


def sometimes(keyword: Schemas, without: int) -> Schemas:
    """The keyword once in ``without`` + 1 times, else nothing."""
    return st.one_of(*[st.just({})] * without, keyword)


def other_keys(schema: Any) -> dict[str, Any]:
    """The keyword for keys that are not named."""
    return {"additionalProperties": schema}


def combined(inner: Schemas) -> Schemas:
    """Schemas that combine others."""
    several = st.lists(inner, min_size=1, max_size=2)
    names = st.sampled_from(["allOf", "anyOf", "oneOf"])
    return st.one_of(
        st.tuples(names, several).map(lambda x: {x[0]: x[1]}),
        inner.map(lambda schema: {"not": schema}),
        st.tuples(inner, inner, inner).map(
            lambda x: dict(zip(("if", "then", "else"), x, strict=True))
        ),
    )


def references() -> Schemas:
    """References to the definitions of a document."""
    return st.sampled_from(NAMES).map(lambda name: {"$ref": f"#/$defs/{name}"})


def schemas(leaf: Schemas) -> Schemas:
    """Schemas over ``leaf``."""
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            arrays(inner), objects(inner), objects(inner), combined(inner)
        ),
        max_leaves=5,
    )


def schemas_without_objects() -> Schemas:
    """Schemas of arrays and what they hold."""
    return st.recursive(
        leaves(), lambda inner: arrays(inner) | combined(inner), max_leaves=4
    )


def documents() -> Schemas:
    """Schemas that may refer to two definitions, which may refer to each other."""
    below = schemas(st.one_of(leaves(), leaves(), references()))
    node = st.one_of(objects(below), joined(arrays(below)))
    definitions = st.tuples(node, st.one_of(arrays(below), below))
    return st.tuples(definitions, st.one_of(references(), below)).map(
        lambda x: {"$defs": dict(zip(NAMES, x[0], strict=True)), **as_object(x[1])}
    )


def as_object(schema: Any) -> dict[str, Any]:
    """``schema`` as a dict."""
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    return dict(schema)
