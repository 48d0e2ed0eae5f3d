"""Names of JSON Schema: those that say nothing about which values are valid, and
those that hold schemas."""

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

# Keywords whose value is a schema or a list of schemas.
SCHEMA_KEYWORDS = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "allOf",
        "anyOf",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "oneOf",
        "prefixItems",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)

# Keywords whose value is an object of schemas.
SCHEMA_MAPS = CONTAINERS | {
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
}
