"""The quick look at objects says what merging them says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from stcon.errors import LimitError, SchemaError
from stcon.syntax.json_schema import alternatives, compile_schema
from stcon.syntax.json_schema.alternatives import Expander
from stcon.syntax.json_schema.formula import Fact
from stcon.syntax.json_schema.object_shape import can_be_object, merge_objects
from tests.syntax.json_schema.test_random_schemas import SCHEMAS


def both(facts: list[Fact], expander: Expander) -> bool:
    have = can_be_object(facts, expander)
    assert have == (merge_objects(facts, expander) is not None)
    return have


@settings(max_examples=150, deadline=None, derandomize=True)
@given(SCHEMAS)
def test_quick_look(schema: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alternatives, "can_be_object", both)
        try:
            compile_schema({"type": "object", "anyOf": [schema, {"required": ["a"]}]})
        except (SchemaError, LimitError):
            return


@pytest.mark.parametrize(
    ("schema", "want"),
    [
        ({"allOf": [{"properties": {"a": {"const": n}}} for n in (1, 2)]}, True),
        ({"allOf": [{"properties": {"a": {"const": n}}} for n in (1, 2)],
          "required": ["a"]}, False),
        ({"required": ["a", "b"], "maxProperties": 1}, False),
        ({"minProperties": 2, "propertyNames": {"const": "a"}}, False),
        ({"minProperties": 2, "maxProperties": 2}, True),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}],
          "properties": {"a": False, "b": False}}, False),
    ],
)  # fmt: skip
def test_facts_that_contradict_each_other(schema: Any, want: bool) -> None:
    made = {"type": "object", **schema}
    if want:
        compile_schema(made, allow_unenforced={"minProperties"})
    else:
        with pytest.raises(SchemaError, match="no value"):
            compile_schema(made)
