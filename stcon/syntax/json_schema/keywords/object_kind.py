"""Keywords that speak of objects."""

from __future__ import annotations

from typing import Any

from stcon.syntax.json_schema.document import Place
from stcon.syntax.json_schema.formula import All, AnyOf, Formula
from stcon.syntax.json_schema.keywords.counts import count
from stcon.syntax.json_schema.keywords.string_kind import pattern_language
from stcon.syntax.json_schema.objects import (
    KeyCount,
    Matching,
    Named,
    Names,
    Others,
    Pattern,
    Required,
    Values,
)
from stcon.syntax.json_schema.unevaluated import keys_left_over


def properties(value: Any, at: Place) -> Formula:
    """The value of each key, where it is there, satisfies its schema."""
    at.check(isinstance(value, dict), "an object of schemas", value)
    return All(
        tuple(
            Values(at, Named(name), at.literal(item, name))
            for name, item in value.items()
        )
    )


def pattern_properties(value: Any, at: Place) -> Formula:
    """The value of each key that matches a pattern satisfies its schema."""
    at.check(isinstance(value, dict), "an object of schemas", value)
    return All(
        tuple(
            Values(at, Matching(key_pattern(text, at)), at.literal(item, text))
            for text, item in value.items()
        )
    )


def key_pattern(text: str, at: Place) -> Pattern:
    """The pattern of a ``patternProperties`` key."""
    return Pattern(text, pattern_language(text, at))


def additional_properties(value: Any, at: Place) -> Formula:
    """All other keys' values satisfy the schema."""
    return Values(at, claimed_keys(at), at.literal(value))


def claimed_keys(at: Place) -> Others:
    """The keys that neither ``properties`` nor ``patternProperties`` beside
    ``at`` claim."""
    names = at.schema.value.get("properties", {})
    patterns = at.schema.value.get("patternProperties", {})
    at.beside("properties").check(isinstance(names, dict), "an object", names)
    place = at.beside("patternProperties")
    place.check(isinstance(patterns, dict), "an object", patterns)
    return Others(frozenset(names), tuple(key_pattern(p, place) for p in patterns))


def property_names(value: Any, at: Place) -> Formula:
    """Every key, as a string, satisfies the schema."""
    return Names(at, at.literal(value))


def _names(value: Any, at: Place) -> list[str]:
    wanted = isinstance(value, list) and all(isinstance(n, str) for n in value)
    at.check(wanted, "a list of keys", value)
    return list(value)


def required(value: Any, at: Place) -> Formula:
    """These keys are there.  (Draft 3 wrote a boolean in the property; that
    means nothing since.)"""
    return All(tuple(Required(at, name) for name in _names(value, at)))


def min_properties(value: Any, at: Place) -> Formula:
    """At least so many keys."""
    return KeyCount(at, count(value, at), None)


def max_properties(value: Any, at: Place) -> Formula:
    """At most so many keys."""
    return KeyCount(at, 0, count(value, at))


def dependent_required(value: Any, at: Place) -> Formula:
    """Where a key is, its companions are too."""
    at.check(isinstance(value, dict), "an object of lists of keys", value)
    return All(
        tuple(
            _implied(name, tuple(Required(at, n) for n in _names(needs, at)), at)
            for name, needs in value.items()
        )
    )


def dependent_schemas(value: Any, at: Place) -> Formula:
    """Where a key is, the object satisfies a schema."""
    at.check(isinstance(value, dict), "an object of schemas", value)
    return All(
        tuple(
            _implied(name, (at.literal(item, name),), at)
            for name, item in value.items()
        )
    )


def dependencies(value: Any, at: Place) -> Formula:
    """Both of the above, as drafts 4 to 7 write them."""
    at.check(isinstance(value, dict), "an object", value)
    lists = {n: item for n, item in value.items() if isinstance(item, list)}
    schemas = {n: item for n, item in value.items() if not isinstance(item, list)}
    return All((dependent_required(lists, at), dependent_schemas(schemas, at)))


def _implied(name: str, demands: tuple[Formula, ...], at: Place) -> Formula:
    there = Required(at, name)
    return AnyOf((there.negated(), All((there, *demands))))


def unevaluated_properties(value: Any, at: Place) -> Formula:
    """The values of the keys that no other keyword has looked at satisfy the
    schema."""
    return keys_left_over(value, at)
