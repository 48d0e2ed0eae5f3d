"""Objects: their facts, and the shape they add up to.

Every fact about values speaks of a *key class*: one name, the names that match
a pattern, or the names that no ``properties`` and no pattern of one subschema
claims.  ``merge_objects`` sorts them by the names that are mentioned, and
splits all other names by the patterns they match.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stcon.syntax.json_schema.formula import FALSE, Fact, Formula, any_of
from stcon.syntax.rules import Expr

if TYPE_CHECKING:
    from stcon.syntax.json_schema.evaluate import Judge


@dataclass(frozen=True, slots=True)
class Pattern:
    """A ``patternProperties`` key; equal texts are the same pattern."""

    text: str
    language: Expr

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


@dataclass(frozen=True, slots=True)
class Named:
    """The one key ``name``."""

    name: str

    def has(self, key: str, judge: Judge) -> bool:
        """Whether ``key`` is in the class."""
        return key == self.name


@dataclass(frozen=True, slots=True)
class Matching:
    """The keys that match ``pattern``."""

    pattern: Pattern

    def has(self, key: str, judge: Judge) -> bool:
        """Whether ``key`` is in the class."""
        return judge.matches(self.pattern.language, key)


@dataclass(frozen=True, slots=True)
class Others:
    """The keys that are not among ``names`` and match none of ``patterns``."""

    names: frozenset[str]
    patterns: tuple[Pattern, ...]

    def has(self, key: str, judge: Judge) -> bool:
        """Whether ``key`` is in the class."""
        return key not in self.names and not any(
            judge.matches(pattern.language, key) for pattern in self.patterns
        )


Keys = Named | Matching | Others


@dataclass(frozen=True, slots=True, eq=False)
class Required(Fact):
    """The key ``name`` is there."""

    name: str

    @property
    def key(self) -> Hashable:
        return ("required", self.name)

    def negated(self) -> Formula:
        return Values(self.place, Named(self.name), -1)

    def holds(self, value: Any, judge: Judge) -> bool:
        return self.name in value


@dataclass(frozen=True, slots=True, eq=False)
class Values(Fact):
    """The values of all keys of a class satisfy ``literal``."""

    keys: Keys
    literal: int

    @property
    def key(self) -> Hashable:
        return ("values", self.keys, self.literal)

    def negated(self) -> Formula:
        return SomeValue(self.place, self.keys, -self.literal)

    def holds(self, value: Any, judge: Judge) -> bool:
        return all(
            judge.holds(self.literal, item)
            for key, item in value.items()
            if self.keys.has(key, judge)
        )


@dataclass(frozen=True, slots=True, eq=False)
class SomeValue(Fact):
    """Some key of a class is there and its value satisfies ``literal``."""

    keys: Keys
    literal: int

    @property
    def key(self) -> Hashable:
        return ("some", self.keys, self.literal)

    def negated(self) -> Formula:
        return Values(self.place, self.keys, -self.literal)

    def holds(self, value: Any, judge: Judge) -> bool:
        return any(
            judge.holds(self.literal, item)
            for key, item in value.items()
            if self.keys.has(key, judge)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Names(Fact):
    """Every key, as a string, satisfies ``literal``."""

    literal: int

    def negated(self) -> Formula:
        return SomeName(self.place, -self.literal)

    def holds(self, value: Any, judge: Judge) -> bool:
        return all(judge.holds(self.literal, key) for key in value)


@dataclass(frozen=True, slots=True, eq=False)
class SomeName(Fact):
    """Some key, as a string, satisfies ``literal``."""

    literal: int

    def negated(self) -> Formula:
        return Names(self.place, -self.literal)

    def holds(self, value: Any, judge: Judge) -> bool:
        return any(judge.holds(self.literal, key) for key in value)


@dataclass(frozen=True, slots=True, eq=False)
class KeyCount(Fact):
    """The object has ``least`` to ``most`` keys (None: no bound)."""

    least: int
    most: int | None

    def negated(self) -> Formula:
        parts: list[Formula] = []
        if self.least > 0:
            parts.append(KeyCount(self.place, 0, self.least - 1))
        if self.most is not None:
            parts.append(KeyCount(self.place, self.most + 1, None))
        return any_of(*parts) if parts else FALSE

    def holds(self, value: Any, judge: Judge) -> bool:
        least_holds = self.least <= len(value)
        return least_holds and (self.most is None or len(value) <= self.most)
