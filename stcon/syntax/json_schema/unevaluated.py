"""``unevaluatedProperties`` and ``unevaluatedItems``, made static.

What counts as evaluated depends on which subschemas hold.  Each way they can
hold or not is one *case*: conditions, and what is then evaluated.  The keyword
is the choice among its cases; ``alternatives.py`` drops those that cannot be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from stcon.syntax.json_schema.arrays import ItemsFrom
from stcon.syntax.json_schema.document import (
    FALSE_LITERAL,
    Document,
    Place,
    Schema,
)
from stcon.syntax.json_schema.formula import All, AnyOf, Formula
from stcon.syntax.json_schema.objects import Others, Pattern, Required, Values

_MAX_CASES = 256


@dataclass(frozen=True, slots=True)
class _Case:
    """Under ``conditions``: the keys, patterns and number of first items that are
    evaluated, and the literals that evaluate the items they hold of (``contains``);
    ``all_keys`` and ``all_items`` say that nothing is left over."""

    conditions: tuple[Formula, ...] = ()
    names: frozenset[str] = frozenset()
    patterns: frozenset[Pattern] = frozenset()
    all_keys: bool = False
    items: int = 0
    contained: frozenset[int] = frozenset()
    all_items: bool = False

    def joined(self, other: _Case) -> _Case:
        """Both cases at once."""
        return _Case(
            self.conditions + other.conditions,
            self.names | other.names,
            self.patterns | other.patterns,
            self.all_keys or other.all_keys,
            max(self.items, other.items),
            self.contained | other.contained,
            self.all_items or other.all_items,
        )

    def under(self, *conditions: Formula) -> _Case:
        """The same under more conditions."""
        return _Case(conditions).joined(self)


def keys_left_over(value: Any, at: Place) -> Formula:
    """The formula of ``unevaluatedProperties: value``."""
    literal = at.literal(value)
    cases = _cases(at)
    if isinstance(cases, str):
        return at.refused(cases)
    return AnyOf(tuple(_keys_case(case, literal, at) for case in cases))


def _keys_case(case: _Case, literal: int, at: Place) -> Formula:
    if case.all_keys:
        return All(case.conditions)
    patterns = tuple(sorted(case.patterns, key=lambda pattern: pattern.text))
    rest = Values(at, Others(case.names, patterns), literal)
    return All((*case.conditions, rest))


def items_left_over(value: Any, at: Place) -> Formula:
    """The formula of ``unevaluatedItems: value``."""
    literal = at.literal(value)
    cases = _cases(at)
    if isinstance(cases, str):
        return at.refused(cases)
    return AnyOf(tuple(_items_case(case, literal, at) for case in cases))


def _items_case(case: _Case, literal: int, at: Place) -> Formula:
    if case.all_items:
        return All(case.conditions)
    wanted = frozenset({literal, *case.contained}) - {FALSE_LITERAL}
    either = at.document.any_of(wanted or frozenset({FALSE_LITERAL}), at)
    return All((*case.conditions, ItemsFrom(at, case.items, either)))


def _cases(at: Place) -> list[_Case] | str:
    """The cases of the schema around ``at``, or why there are none."""
    try:
        walk = _Cases(at.document, at.keyword == "unevaluatedItems")
        return list(walk.of(at.schema, at.keyword))
    except _NotStaticError as error:
        return str(error)


class _NotStaticError(Exception):
    """What is evaluated cannot be told beforehand."""


class _Cases:
    """Walks the subschemas that apply to the same value: an array (``of_items``) or
    an object."""

    def __init__(self, document: Document, of_items: bool) -> None:
        self._document = document
        self._of_items = of_items
        self._inside: list[int] = []

    def of(self, schema: Schema, without: str = "") -> list[_Case]:
        """The cases of ``schema``; its keyword ``without`` is left out."""
        if schema.number in self._inside:
            raise _NotStaticError("the schema applies itself to the same value")
        self._inside.append(schema.number)
        cases = [self._own(schema, without)]
        for choices in self._applied(schema):
            found = (a.joined(b) for a, b in product(cases, choices))
            cases = list(dict.fromkeys(found))
            if len(cases) > _MAX_CASES:
                raise _NotStaticError(
                    f"its subschemas hold in more than {_MAX_CASES} combinations"
                )
        self._inside.pop()
        return cases

    def _own(self, schema: Schema, without: str) -> _Case:
        """What the keywords of ``schema`` itself evaluate."""
        from stcon.syntax.json_schema.keywords.object_kind import claimed_keys

        value = schema.value
        claimed = claimed_keys(Place(self._document, schema, "properties"))
        prefix = value.get("prefixItems", [])
        items = value.get("items")
        if isinstance(items, list):
            prefix = items
        all_items = (
            (items is not None and not isinstance(items, list))
            or (isinstance(items, list) and "additionalItems" in value)
            or ("unevaluatedItems" in value and without != "unevaluatedItems")
        )
        all_keys = "additionalProperties" in value or (
            "unevaluatedProperties" in value and without != "unevaluatedProperties"
        )
        return _Case(
            (),
            claimed.names,
            frozenset(claimed.patterns),
            all_keys,
            len(prefix) if isinstance(prefix, list) else 0,
            self._contained(schema),
            all_items,
        )

    def _contained(self, schema: Schema) -> frozenset[int]:
        """The literal of ``contains``; what it holds of is evaluated since 2020."""
        at = Place(self._document, schema, "contains")
        if "contains" not in schema.value or at.draft not in (0, 2020):
            return frozenset()
        return frozenset({at.literal(schema.value["contains"])})

    def _applied(self, schema: Schema) -> Iterator[list[_Case]]:
        """Per applicator, the cases it adds."""
        value = schema.value
        at = Place(self._document, schema, "")
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if keyword in value:
                yield self._held(at.beside(keyword).referred(value[keyword]))
        for place, item in enumerate(value.get("allOf", ())):
            yield self._held(at.beside("allOf").literal(item, place))
        for place, item in enumerate(value.get("anyOf", ())):
            yield self._maybe(at.beside("anyOf").literal(item, place))
        if "oneOf" in value:
            literals = [
                at.beside("oneOf").literal(item, place)
                for place, item in enumerate(value["oneOf"])
            ]
            yield [c.under(n) for n in literals for c in self._held(n)]
        if "if" in value:
            yield self._conditional(value, at)
        for keyword in () if self._of_items else ("dependentSchemas", "dependencies"):
            for name, item in value.get(keyword, {}).items():
                if not isinstance(item, list):
                    yield self._dependent(at.beside(keyword), name, item)

    def _dependent(self, at: Place, name: str, value: Any) -> list[_Case]:
        """The cases of a schema that holds where the key ``name`` is there."""
        there = Required(at, name)
        held = self._held(at.literal(value, name))
        return [*(case.under(there) for case in held), _Case((there.negated(),))]

    def _held(self, literal: int) -> list[_Case]:
        """The cases of a schema that holds."""
        if abs(literal) == 1:
            return [_Case()]
        return self.of(self._document.schemas[literal])

    def _maybe(self, literal: int) -> list[_Case]:
        """The cases of a schema that may hold or not."""
        held = self._held(literal)
        if held == [_Case()]:
            return held
        return [*(case.under(literal) for case in held), _Case((-literal,))]

    def _conditional(self, value: dict[str, Any], at: Place) -> list[_Case]:
        condition = at.beside("if").literal(value["if"])
        then = at.beside("then").literal(value.get("then", True))
        other = at.beside("else").literal(value.get("else", True))
        return [
            *(
                a.joined(b).under(condition)
                for a, b in product(self._held(condition), self._held(then))
            ),
            *(case.under(-condition) for case in self._held(other)),
        ]
