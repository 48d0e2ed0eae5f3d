"""Keywords that speak of values of every kind."""

from __future__ import annotations

from typing import Any

from stcon.syntax.json_schema.constants import Among
from stcon.syntax.json_schema.document import Place
from stcon.syntax.json_schema.formula import (
    All,
    AnyOf,
    Formula,
    OneOf,
    TypeIn,
    any_of,
)
from stcon.syntax.json_schema.values import KINDS, identity, kind_of

_TYPES = (*KINDS, "integer")


def type_(value: Any, at: Place) -> Formula:
    """The value's type is one of the names."""
    names = value if isinstance(value, list) else [value]
    at.check(bool(names), "a type name or a list of them", value)
    for name in names:
        known = isinstance(name, str) and name in _TYPES
        at.check(known, "one of " + ", ".join(sorted(_TYPES)), name)
    return TypeIn(frozenset(names), at)


def enum(value: Any, at: Place) -> Formula:
    """The value equals one of the list."""
    at.check(isinstance(value, list), "a list of values", value)
    return _among(value, at)


def const(value: Any, at: Place) -> Formula:
    """The value equals this one."""
    return _among([value], at)


def _among(values: list[Any], at: Place) -> Formula:
    """One of ``values``, kind by kind."""
    kinds: dict[str, dict[Any, Any]] = {}
    for value in values:
        kinds.setdefault(kind_of(value), {}).setdefault(identity(value), value)
    facts: list[Formula] = [
        All(
            (
                TypeIn(frozenset({kind}), at),
                Among(at, tuple(found.values()), frozenset(found)),
            )
        )
        for kind, found in kinds.items()
    ]
    return any_of(*facts) if facts else Among(at, (), frozenset())


def ref(value: Any, at: Place) -> Formula:
    """The schema that the reference, plain or dynamic, names holds."""
    return at.referred(value)


def recursive_ref(value: Any, at: Place) -> Formula:
    """The outermost schema with ``$recursiveAnchor`` holds, if the root of this
    resource has it, else that root."""
    at.check(value == "#", '"#"', value)
    return at.referred(value)


def _literals(value: Any, at: Place) -> tuple[int, ...]:
    at.check(
        isinstance(value, list) and bool(value), "a list of schemas, not empty", value
    )
    return tuple(at.literal(item, place) for place, item in enumerate(value))


def all_of_(value: Any, at: Place) -> Formula:
    """Every schema holds."""
    return All(_literals(value, at))


def any_of_(value: Any, at: Place) -> Formula:
    """At least one schema holds."""
    return AnyOf(_literals(value, at))


def one_of(value: Any, at: Place) -> Formula:
    """Exactly one schema holds."""
    return OneOf(_literals(value, at))


def not_(value: Any, at: Place) -> Formula:
    """The schema does not hold."""
    return -at.literal(value)


def if_(value: Any, at: Place) -> Formula:
    """``then`` where the schema holds, ``else`` where it does not."""
    beside = at.schema.value
    if "then" not in beside and "else" not in beside:
        at.literal(value)
        return All(())
    condition = at.literal(value)
    then = at.beside("then").literal(beside.get("then", True))
    other = at.beside("else").literal(beside.get("else", True))
    return AnyOf((All((condition, then)), All((-condition, other))))
