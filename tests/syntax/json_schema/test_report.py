"""The report: a keyword is enforced when it is so somewhere."""

from __future__ import annotations

from typing import Any

import pytest

from stcon.syntax.json_schema import compile_schema


@pytest.mark.parametrize(
    ("schema", "allowed", "want"),
    [
        ({"type": "string", "format": "colour"}, (), "type"),
        ({"type": "string", "format": "uuid"}, (), "format type"),
        (
            {"prefixItems": [{"format": "colour"}, {"format": "uuid"}]},
            (),
            "format prefixItems",
        ),
        ({"type": "array", "uniqueItems": True}, {"uniqueItems"}, "type"),
        (
            {"enum": [[1], [1, 1]], "uniqueItems": True},
            {"uniqueItems"},
            "enum uniqueItems",
        ),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}},
            (),
            "$ref type",
        ),
    ],
)
def test_enforced(schema: dict[str, Any], allowed: set[str], want: str) -> None:
    have = compile_schema(schema, allow_unenforced=allowed).report["enforced"]
    assert have == want.split()
