"""What one schema demands, as a formula over facts and other schemas.

Every keyword becomes a ``Formula`` about one value:

- an ``int``, a *literal*: +n says the schema numbered n holds, -n that it does not;
- ``All``, ``AnyOf``, ``OneOf`` of formulas;
- ``TypeIn``: the JSON type is, or is not, one of these;
- a ``Fact``: an assertion about a value whose kind is known.

``goals.py`` brings formulas into disjunctive form, one kind at a time, and
``evaluate.py`` evaluates them on constants.  A fact therefore needs two
methods: what its negation is, and whether a value has it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stcon.syntax.json_schema.values import NUMBER, is_integer

if TYPE_CHECKING:
    from stcon.syntax.json_schema.document import Place
    from stcon.syntax.json_schema.evaluate import Judge


@dataclass(frozen=True, slots=True, eq=False)
class All:
    """Every item holds."""

    items: tuple[Formula, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AnyOf:
    """At least one item holds."""

    items: tuple[Formula, ...]


@dataclass(frozen=True, slots=True, eq=False)
class OneOf:
    """Exactly one of the literals holds (``sign``), or none or several do."""

    items: tuple[int, ...]
    sign: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class TypeIn:
    """The value's type is (``sign``) or is not one of ``names``."""

    names: frozenset[str]
    place: Place
    sign: bool = True

    def on(self, kind: str) -> Formula:
        """What is left to say once the kind of the value is known."""
        if kind == NUMBER and kind not in self.names and "integer" in self.names:
            return Integer(self.place, self.sign)
        return TRUE if (kind in self.names) == self.sign else FALSE


@dataclass(frozen=True, slots=True, eq=False)
class Fact(ABC):
    """An assertion about values of one kind; ``place`` is the keyword it is from."""

    place: Place

    @property
    def key(self) -> Hashable:
        """What equal facts share; facts without such a key have their own."""
        return id(self)

    @abstractmethod
    def negated(self) -> Formula:
        """The formula that holds exactly when this fact does not."""

    @abstractmethod
    def holds(self, value: Any, judge: Judge) -> bool:
        """Whether ``value``, of the fact's kind, has it."""


@dataclass(frozen=True, slots=True, eq=False)
class Integer(Fact):
    """The number is (``sign``) or is not an integer."""

    sign: bool = True

    def negated(self) -> Formula:
        return Integer(self.place, not self.sign)

    def holds(self, value: Any, judge: Judge) -> bool:
        return is_integer(value) == self.sign


Formula = int | All | AnyOf | OneOf | TypeIn | Fact
TRUE = All(())
FALSE = AnyOf(())


def all_of(*items: Formula) -> Formula:
    """Every item holds; one item stands for itself."""
    return items[0] if len(items) == 1 else All(items)


def any_of(*items: Formula) -> Formula:
    """At least one item holds; one item stands for itself."""
    return items[0] if len(items) == 1 else AnyOf(items)


def negate(formula: Formula) -> Formula:
    """The formula that holds exactly when ``formula`` does not."""
    if isinstance(formula, int):
        return -formula
    if isinstance(formula, All):
        return AnyOf(tuple(negate(item) for item in formula.items))
    if isinstance(formula, AnyOf):
        return All(tuple(negate(item) for item in formula.items))
    if isinstance(formula, OneOf):
        return OneOf(formula.items, not formula.sign)
    if isinstance(formula, TypeIn):
        return TypeIn(formula.names, formula.place, not formula.sign)
    return formula.negated()
