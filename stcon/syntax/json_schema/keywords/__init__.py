"""The keywords: one row each, one small function each.

A keyword's function takes its value and its ``Place`` and returns a ``Formula``
about values of the kinds in its row.  Supporting a keyword is one row and one
function; a name that has no row is an annotation, and is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from stcon.syntax.json_schema.document import Document, Parts, Place, Schema
from stcon.syntax.json_schema.drafts import NONE, draft_of
from stcon.syntax.json_schema.formula import TRUE, Formula
from stcon.syntax.json_schema.keywords import (
    any_kind,
    array_kind,
    number_kind,
    object_kind,
    string_kind,
)
from stcon.syntax.json_schema.names import ANNOTATIONS, CONTAINERS
from stcon.syntax.json_schema.near_misses import near_miss, warn_caller
from stcon.syntax.json_schema.values import ARRAY, KINDS, NUMBER, OBJECT, STRING


@dataclass(frozen=True, slots=True)
class _Row:
    build: Callable[[Any, Place], Formula]
    kinds: tuple[str, ...]


def _condition(value: Any, at: Place) -> Formula:
    """TRUE: ``if``, where there is one, reads the keyword."""
    return _read_by("if" in at.schema.value, at)


def _item_count(value: Any, at: Place) -> Formula:
    """TRUE: ``contains``, where there is one, reads the keyword from 2019 on."""
    is_known = at.draft in (0, 2019, 2020)
    return _read_by(is_known and "contains" in at.schema.value, at)


def _additional_items(value: Any, at: Place) -> Formula:
    """TRUE: a list of ``items`` reads the keyword, up to 2019."""
    is_list = isinstance(at.schema.value.get("items"), list)
    return _read_by(is_list and at.draft != 2020, at)


def _read_by(is_read: bool, at: Place) -> Formula:
    if not is_read:
        at.document.report.passed_over(at.path)
    return TRUE


_TABLE: dict[str, _Row] = {
    "enum": _Row(any_kind.enum, KINDS),
    "const": _Row(any_kind.const, KINDS),
    "type": _Row(any_kind.type_, KINDS),
    "$ref": _Row(any_kind.ref, KINDS),
    "$recursiveRef": _Row(any_kind.recursive_ref, KINDS),
    "$dynamicRef": _Row(any_kind.ref, KINDS),
    "allOf": _Row(any_kind.all_of_, KINDS),
    "anyOf": _Row(any_kind.any_of_, KINDS),
    "oneOf": _Row(any_kind.one_of, KINDS),
    "not": _Row(any_kind.not_, KINDS),
    "if": _Row(any_kind.if_, KINDS),
    "then": _Row(_condition, ()),
    "else": _Row(_condition, ()),
    "minimum": _Row(number_kind.minimum, (NUMBER,)),
    "maximum": _Row(number_kind.maximum, (NUMBER,)),
    "exclusiveMinimum": _Row(number_kind.exclusive_minimum, (NUMBER,)),
    "exclusiveMaximum": _Row(number_kind.exclusive_maximum, (NUMBER,)),
    "multipleOf": _Row(number_kind.multiple_of, (NUMBER,)),
    "minLength": _Row(string_kind.min_length, (STRING,)),
    "maxLength": _Row(string_kind.max_length, (STRING,)),
    "pattern": _Row(string_kind.pattern, (STRING,)),
    "format": _Row(string_kind.format_, (STRING,)),
    "prefixItems": _Row(array_kind.prefix_items, (ARRAY,)),
    "items": _Row(array_kind.items, (ARRAY,)),
    "additionalItems": _Row(_additional_items, ()),
    "minItems": _Row(array_kind.min_items, (ARRAY,)),
    "maxItems": _Row(array_kind.max_items, (ARRAY,)),
    "uniqueItems": _Row(array_kind.unique_items, (ARRAY,)),
    "contains": _Row(array_kind.contains, (ARRAY,)),
    "minContains": _Row(_item_count, ()),
    "maxContains": _Row(_item_count, ()),
    "unevaluatedItems": _Row(array_kind.unevaluated_items, (ARRAY,)),
    "properties": _Row(object_kind.properties, (OBJECT,)),
    "patternProperties": _Row(object_kind.pattern_properties, (OBJECT,)),
    "additionalProperties": _Row(object_kind.additional_properties, (OBJECT,)),
    "propertyNames": _Row(object_kind.property_names, (OBJECT,)),
    "required": _Row(object_kind.required, (OBJECT,)),
    "minProperties": _Row(object_kind.min_properties, (OBJECT,)),
    "maxProperties": _Row(object_kind.max_properties, (OBJECT,)),
    "dependentRequired": _Row(object_kind.dependent_required, (OBJECT,)),
    "dependentSchemas": _Row(object_kind.dependent_schemas, (OBJECT,)),
    "dependencies": _Row(object_kind.dependencies, (OBJECT,)),
    "unevaluatedProperties": _Row(object_kind.unevaluated_properties, (OBJECT,)),
}


def build(schema: Schema, document: Document) -> Parts:
    """What ``schema`` demands of values of each kind, keyword by keyword."""
    parts: dict[str, list[Formula]] = {kind: [] for kind in KINDS}
    for keyword in sorted(schema.value, key=_order):
        at = Place(document, schema, keyword)
        row = _TABLE.get(keyword)
        if row is None:
            _pass_over(at)
            continue
        document.report.saw(keyword, at.path)
        formula = row.build(schema.value[keyword], at)
        if formula is not TRUE:
            for kind in row.kinds:
                parts[kind].append(formula)
    return {kind: tuple(found) for kind, found in parts.items()}


def is_known(name: str) -> bool:
    """Whether JSON Schema gives a name of a schema a meaning, or it says that it is
    an extension."""
    return (
        name in _TABLE
        or name in ANNOTATIONS
        or name in CONTAINERS
        or name.startswith(("x-", "$"))
    )


def check_names(names: Collection[str]) -> None:
    """Nothing; raises ValueError for a name of ``allow_unenforced`` that is neither a
    keyword nor ``"format:name"``."""
    for name in names:
        if name.startswith("format:") or is_known(name):
            continue
        meant = near_miss(name, _TABLE)
        hint = f"; did you mean {meant!r}?" if meant else ""
        raise ValueError(f"allow_unenforced names {name!r}, which is no keyword{hint}")


def _order(keyword: str) -> int:
    """enum and const first: they leave a list of values to test."""
    return 0 if keyword in ("enum", "const") else 1


def _pass_over(at: Place) -> None:
    """Reports an annotation; warns of a name that looks mistyped."""
    keyword = at.keyword
    if keyword in CONTAINERS:
        return
    if keyword == "$schema" and at.schema.path:
        _check_draft(at)
    at.document.report.passed_over(at.path)
    if keyword in ANNOTATIONS or keyword.startswith("x-"):
        return
    if keyword == "nullable":
        if at.schema.value[keyword] is not False:
            wanted = "use type: [..., 'null']"
            warn_caller(f"{at.pointer}: nullable is OpenAPI: {wanted}")
        return
    meant = near_miss(keyword, _TABLE)
    if meant is not None:
        warn_caller(
            f"{at.pointer}: unknown keyword {keyword!r} is ignored; "
            f"did you mean {meant!r}?"
        )


def _check_draft(at: Place) -> None:
    """Nothing; raises SchemaError when a resource inside the document is written
    in another draft than the document."""
    is_resource = not {"$id", "id"}.isdisjoint(at.schema.value)
    if is_resource and draft_of(at.schema.value["$schema"]) not in (NONE, at.draft):
        at.need_leave("it names another draft than that of the whole document")
