"""Names of JSON Schema that say nothing about which values are valid."""

from __future__ import annotations

ANNOTATIONS = frozenset(
    {
        "$anchor",
        "$comment",
        "$dynamicAnchor",
        "$id",
        "$recursiveAnchor",
        "$schema",
        "$vocabulary",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "default",
        "deprecated",
        "description",
        "example",
        "examples",
        "id",
        "readOnly",
        "title",
        "writeOnly",
    }
)

CONTAINERS = frozenset({"$defs", "definitions"})
