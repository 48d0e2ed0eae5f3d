"""How each keyword is enforced, in words, for ``report()``."""

from __future__ import annotations

from collections.abc import Mapping

_BOOLEAN = "cases, each written out as the values that meet it"
_BOUND = "digits: numbers within the bounds, by an automaton"
_COUNT = "a counter beside the state"
_SET = "states for the sets that still matter, at most max_sets"
_TEXT = "an automaton over the decoded text"
_VALUE = "what values may be written at the place"
_REFERENCE = "the schema it names; one that contains itself, by a stack"

WAYS: Mapping[str, str] = {
    "enum": "the values, written canonically",
    "const": "the value, written canonically",
    "type": "the kinds of values written at the place",
    **dict.fromkeys(("$ref", "$recursiveRef", "$dynamicRef"), _REFERENCE),
    **dict.fromkeys(("allOf", "anyOf", "not"), _BOOLEAN),
    "oneOf": "cases made apart: exactly one holds",
    **dict.fromkeys(("if", "then", "else"), _BOOLEAN),
    **dict.fromkeys(("minimum", "maximum"), _BOUND),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), _BOUND),
    "multipleOf": "digits: remainders, by an automaton",
    **dict.fromkeys(("minLength", "maxLength"), _COUNT),
    **dict.fromkeys(("pattern", "format"), _TEXT),
    **dict.fromkeys(("prefixItems", "items", "additionalItems"), _VALUE),
    **dict.fromkeys(("minItems", "maxItems"), _COUNT),
    "uniqueItems": _SET,
    **dict.fromkeys(("contains", "minContains", "maxContains"), _SET),
    "unevaluatedItems": _VALUE,
    "properties": "keys in the order of key_order, each at most once",
    "patternProperties": "an automaton over the decoded keys",
    "additionalProperties": "keys that are none of the declared ones: after them, "
    "or never",
    "propertyNames": "an automaton over the decoded keys",
    "required": "keys that cannot be left out",
    **dict.fromkeys(("minProperties", "maxProperties"), _SET),
    **dict.fromkeys(("dependentRequired", "dependentSchemas"), _BOOLEAN),
    "dependencies": _BOOLEAN,
    "unevaluatedProperties": "keys that no branch that holds speaks of",
}
"""A row for each keyword of the table."""
