"""Random schemas of all keywords at once, against ``jsonschema``."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from stcon.errors import LimitError, SchemaError
from stcon.syntax.json_schema import compile_schema
from tests.syntax.json_schema.world import TEXTS, matcher

VALUES = st.sampled_from(
    [None, True, 0, 1, 2, 1.5, "", "a", "ab", [], [1], [0, 1], {}, {"a": 1}]
)
COUNTS = st.integers(0, 2)
NUMBERS = st.sampled_from([0, 1, 2, -1, 0.5, 1.5])
TYPES = st.sampled_from(
    ["null", "boolean", "integer", "number", "string", "array", "object"]
)
NAMES = st.sampled_from("abc")
FLAT: dict[str, st.SearchStrategy[Any]] = {
    "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
    "enum": st.lists(VALUES, min_size=1, max_size=4),
    "const": VALUES,
    "minimum": NUMBERS,
    "maximum": NUMBERS,
    "exclusiveMinimum": NUMBERS,
    "multipleOf": st.sampled_from([1, 2, 0.5]),
    "minLength": COUNTS,
    "maxLength": COUNTS,
    "pattern": st.sampled_from(["a", "^a", "b$", "^(ab)?$"]),
    "minItems": COUNTS,
    "maxItems": COUNTS,
    "required": st.lists(NAMES, max_size=2, unique=True),
    "minProperties": st.integers(0, 1),
    "maxProperties": COUNTS,
    "dependentRequired": st.dictionaries(
        NAMES, st.lists(NAMES, max_size=2), max_size=1
    ),
}


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas with up to four keywords, some of which hold schemas."""
    several = st.lists(inner, min_size=1, max_size=3)
    keywords = {
        **FLAT,
        "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "contains": inner,
        "properties": st.dictionaries(NAMES, inner, max_size=2),
        "patternProperties": st.dictionaries(
            st.sampled_from(["^x", "[ab]"]), inner, max_size=1
        ),
        "additionalProperties": inner,
        "propertyNames": inner,
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "dependentSchemas": st.dictionaries(NAMES, inner, max_size=1),
        "unevaluatedProperties": inner,
        "unevaluatedItems": inner,
    }
    chosen = st.lists(st.sampled_from(sorted(keywords)), max_size=4, unique=True)
    return st.booleans() | chosen.flatmap(
        lambda names: st.fixed_dictionaries({n: keywords[n] for n in names})
    )


FEW = st.lists(st.sampled_from(sorted(FLAT)), max_size=2, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({n: FLAT[n] for n in names})
)
SCHEMAS = st.recursive(FEW | st.booleans(), nested, max_leaves=6)


def check(schema: Any) -> None:
    oracle = Draft202012Validator(schema)
    want = [oracle.is_valid(value) for value, _ in TEXTS]
    try:
        matches = matcher(compile_schema(schema).rules)
    except LimitError:
        assume(False)
    except SchemaError as error:
        assume("not enforced" not in str(error))
        assert not any(want), (json.dumps(schema), str(error))
        return
    for (value, texts), valid in zip(TEXTS, want, strict=True):
        have = any(matches(text) for text in texts)
        assert have == valid, (json.dumps(schema), value)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(SCHEMAS)
def test_random_schema(schema: Any) -> None:
    check(schema)
