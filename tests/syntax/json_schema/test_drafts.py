"""Which draft is meant, and what happens to schemas of others."""

from __future__ import annotations

from typing import Any

import pytest

from stcon import SchemaError
from stcon.syntax.json_schema import compile_schema
from stcon.syntax.json_schema.drafts import NONE, UNKNOWN, draft_of
from tests.syntax.json_schema.world import matcher

URIS: list[tuple[Any, int]] = [
    (None, NONE),
    ("http://json-schema.org/schema#", NONE),
    ("http://json-schema.org/draft-04/schema#", 4),
    ("https://json-schema.org/draft-04/schema", 4),
    ("http://json-schema.org/draft-04/hyper-schema#", 4),
    ("http://json-schema.org/draft-05/schema#", 4),
    ("http://json-schema.org/draft-06/schema#", 6),
    ("http://json-schema.org/draft-07/schema#", 7),
    ("https://json-schema.org/draft/2019-09/schema", 2019),
    ("https://json-schema.org/draft/2020-12/schema#", 2020),
    ("https://spec.openapis.org/oas/3.1/dialect/base", 2020),
    ("http://json-schema.org/draft-03/schema#", UNKNOWN),
    ("https://json-schema.org/draft/2042-01/schema", UNKNOWN),
    ("http://example.com/draft-07/schema#", UNKNOWN),
    ("draft-07", UNKNOWN),
    (7, UNKNOWN),
]


@pytest.mark.parametrize(("uri", "draft"), URIS)
def test_draft_of(uri: Any, draft: int) -> None:
    assert draft_of(uri) == draft


@pytest.mark.parametrize("rest", [{"type": "integer"}, {"$ref": "#/$defs/a"}])
def test_a_foreign_metaschema_is_refused(rest: dict[str, Any]) -> None:
    schema = {"$schema": "http://example.com/mine", **rest, "$defs": {"a": {}}}
    with pytest.raises(SchemaError, match="names none of the drafts") as caught:
        compile_schema(schema)
    assert (caught.value.pointer, caught.value.keyword) == ("#/$schema", "$schema")
    compiled = compile_schema(schema, allow_unenforced={"$schema"})
    assert compiled.report["unenforced"] == ["#/$schema"]
    assert matcher(compiled.rules)(b"1")


def test_one_document_is_of_one_draft() -> None:
    other = "http://json-schema.org/draft-04/schema#"
    inner = {"$schema": other, "$id": "inner", "minimum": 1}
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "integer",
        "allOf": [inner],
    }
    with pytest.raises(SchemaError, match="another draft") as caught:
        compile_schema(schema)
    assert caught.value.pointer == "#/allOf/0/$schema"
    inner["$schema"] = schema["$schema"]
    compile_schema(schema)
    # $schema speaks of whole resources only
    del inner["$id"]
    inner["$schema"] = other
    compile_schema(schema)


@pytest.mark.parametrize("draft", ["draft/2019-09", "draft-07"])
def test_contains_evaluates_items_since_2020(draft: str) -> None:
    schema: dict[str, Any] = {
        "$schema": f"https://json-schema.org/{draft}/schema",
        "type": "array",
        "contains": {"const": 1},
        "unevaluatedItems": {"const": 2},
    }
    matches = matcher(compile_schema({**schema, "$schema": URIS[9][0]}).rules)
    assert [matches(t) for t in (b"[1,2]", b"[1]", b"[2]", b"[1,3]")] == [1, 1, 0, 0]
    del schema["contains"]
    schema["allOf"] = [{"contains": {"const": 1}}]
    with pytest.raises(SchemaError, match="no value"):
        compile_schema(schema)
