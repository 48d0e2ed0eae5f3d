"""Warnings of mistyped keywords and formats: which, and at whose line."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import pytest

from stcon.syntax.json_schema import compile_schema


def _warned(keyword: str, value: object = 1) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        compile_schema({"type": "string", keyword: value})
    return list(found)


@pytest.mark.parametrize(
    ("keyword", "want"),
    [
        ("propertys", "properties"),
        ("maxlen", "maxLength"),
        ("min_length", "minLength"),
        ("MIN-LENGTH", "minLength"),
        ("maxitems", "maxItems"),
        ("requierd", "required"),
        ("tpye", "type"),
        ("patern", "pattern"),
        ("exclusiveMin", "exclusiveMinimum"),
    ],
)
def test_slips(keyword: str, want: str) -> None:
    (have,) = _warned(keyword)
    assert f"#/{keyword}: unknown keyword" in str(have.message)
    assert f"did you mean {want!r}?" in str(have.message)


@pytest.mark.parametrize(
    "keyword",
    ["title", "x-type", "discriminator", "enumNames", "propertyOrder", "order", "ui"],
)
def test_no_slips(keyword: str) -> None:
    assert _warned(keyword) == []


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("datetime", "date-time"),
        ("DateTime", "date-time"),
        ("DATE", "date"),
        ("IPv4", "ipv4"),
        ("e-mail", "email"),
        ("uri_reference", "uri-reference"),
        ("regexp", "regex"),
    ],
)
def test_slips_of_formats(name: str, want: str) -> None:
    (have,) = _warned("format", name)
    assert str(have.message) == (
        f"#/format: unknown format {name!r} is ignored; did you mean {want!r}?"
    )


@pytest.mark.parametrize(
    "name", ["int32", "double", "byte", "binary", "password", "slug", "path", "date"]
)
def test_no_slips_of_formats(name: str) -> None:
    assert _warned("format", name) == []


def test_nullable() -> None:
    (have,) = _warned("nullable", True)
    assert "nullable is OpenAPI: use type: [..., 'null']" in str(have.message)
    assert _warned("nullable", False) == []


def test_the_line_is_the_callers() -> None:
    (have,) = _warned("maxlen")
    lines, start = inspect.getsourcelines(_warned)
    assert have.filename == __file__
    assert "compile_schema(" in lines[have.lineno - start]


@pytest.mark.parametrize(
    "schema",
    [
        {"name": "string", "age": "integer"},
        {"name": "person", "strict": True, "schema": {"type": "object"}},
    ],
)
def test_a_schema_without_any_keyword(schema: dict[str, Any]) -> None:
    with pytest.warns(UserWarning, match="no keyword of JSON Schema"):
        compile_schema(schema)


@pytest.mark.parametrize("schema", [{}, {"title": "x"}, {"x-a": 1}, {"$id": "urn:a"}])
def test_schemas_that_mean_anything(schema: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_schema(schema)
