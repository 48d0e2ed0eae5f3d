"""Random documents of several resources, whose references are plain and dynamic,
against ``jsonschema``."""

from __future__ import annotations

from typing import Any

from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from stcon.errors import StconError
from stcon.syntax.json_schema import compile_schema
from tests.syntax.json_schema.test_random_schemas import check

REFERENCES = st.one_of(
    st.sampled_from([{"$ref": "#/$defs/x"}, {"$ref": "inner"}, {"$ref": "other"}]),
    st.sampled_from([{"$dynamicRef": "#n"}, {"$dynamicRef": "#m"}]),
)
LEAVES = st.sampled_from([{"type": "integer"}, {"type": "string"}, {"const": 1}, {}])


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas of one or two keywords that hold schemas."""
    several = st.lists(inner, min_size=1, max_size=2)
    keywords = {
        "items": inner,
        "contains": inner,
        "prefixItems": several,
        "unevaluatedItems": inner,
        "properties": st.fixed_dictionaries({"a": inner}),
        "additionalProperties": inner,
        "unevaluatedProperties": inner,
        "allOf": several,
        "anyOf": several,
        "not": inner,
    }
    chosen = st.lists(st.sampled_from(sorted(keywords)), min_size=1, max_size=2)
    return chosen.flatmap(
        lambda names: st.fixed_dictionaries({n: keywords[n] for n in names})
    )


PARTS = st.recursive(REFERENCES | LEAVES, nested, max_leaves=2)
# Where anchors stand.  They refer to nothing: jsonschema reads references in the
# target of a dynamic reference as if they stood where that reference stands.
PLAIN = st.recursive(LEAVES, nested, max_leaves=2)


def resource(name: str, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas with an ``$id`` and definitions that references may name."""
    definitions = {
        "x": PARTS,
        "n": PLAIN.map(lambda part: {**part, "$dynamicAnchor": "n"}),
        "m": st.tuples(PLAIN, st.sampled_from(["$anchor", "$dynamicAnchor"])).map(
            lambda pair: {**pair[0], pair[1]: "m"}
        ),
        **more,
    }
    return st.tuples(PARTS, st.fixed_dictionaries(definitions)).map(
        lambda pair: {"$id": name, **pair[0], "$defs": pair[1]}
    )


ROOT = "http://example.com/root"


# Failures are not shrunk: most smaller documents are endless, and slow.
@settings(max_examples=150, deadline=None, derandomize=True, phases=[Phase.generate])
@given(resource(ROOT, inner=resource("inner"), other=resource("other")))
def test_random_document(schema: Any) -> None:
    assume(not is_endless(schema))
    try:
        check(schema)
    except BaseException as error:
        assume("RecursionError" not in repr(error))
        raise


def is_endless(schema: Any) -> bool:
    """Whether the schema applies itself to the same value; the oracle then follows
    the loop until something gives way, which may be Rust."""
    try:
        compile_schema(schema)
    except StconError as error:
        return "applies itself" in str(error)
    return False
