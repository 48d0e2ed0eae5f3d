"""Arrays: their facts, and the shape they add up to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stcon.syntax.json_schema.formula import FALSE, Fact, Formula, all_of, any_of
from stcon.syntax.json_schema.goals import ANYTHING, Goal, goal
from stcon.syntax.json_schema.values import identity

if TYPE_CHECKING:
    from stcon.syntax.json_schema.evaluate import Judge


@dataclass(frozen=True, slots=True, eq=False)
class ItemAt(Fact):
    """Item ``index``, if there is one, satisfies ``literal``."""

    index: int
    literal: int

    def negated(self) -> Formula:
        there = ItemCount(self.place, self.index + 1, None)
        return all_of(there, ItemAt(self.place, self.index, -self.literal))

    def holds(self, value: Any, judge: Judge) -> bool:
        absent = self.index >= len(value)
        return absent or judge.holds(self.literal, value[self.index])


@dataclass(frozen=True, slots=True, eq=False)
class ItemsFrom(Fact):
    """All items from ``start`` on satisfy ``literal``."""

    start: int
    literal: int

    def negated(self) -> Formula:
        return Contains(self.place, -self.literal, 1, None, self.start)

    def holds(self, value: Any, judge: Judge) -> bool:
        return all(judge.holds(self.literal, item) for item in value[self.start :])


@dataclass(frozen=True, slots=True, eq=False)
class ItemCount(Fact):
    """The array has ``least`` to ``most`` items (None: no bound)."""

    least: int
    most: int | None

    def negated(self) -> Formula:
        parts: list[Formula] = []
        if self.least > 0:
            parts.append(ItemCount(self.place, 0, self.least - 1))
        if self.most is not None:
            parts.append(ItemCount(self.place, self.most + 1, None))
        return any_of(*parts) if parts else FALSE

    def holds(self, value: Any, judge: Judge) -> bool:
        least_holds = self.least <= len(value)
        return least_holds and (self.most is None or len(value) <= self.most)


@dataclass(frozen=True, slots=True, eq=False)
class Contains(Fact):
    """From ``start`` on, ``least`` to ``most`` items satisfy ``literal``."""

    literal: int
    least: int
    most: int | None
    start: int = 0

    def negated(self) -> Formula:
        parts: list[Formula] = []
        if self.least > 0:
            parts.append(self._counted(0, self.least - 1))
        if self.most is not None:
            parts.append(self._counted(self.most + 1, None))
        return any_of(*parts) if parts else FALSE

    def _counted(self, least: int, most: int | None) -> Formula:
        if most == 0:
            return ItemsFrom(self.place, self.start, -self.literal)
        return Contains(self.place, self.literal, least, most, self.start)

    def holds(self, value: Any, judge: Judge) -> bool:
        count = sum(judge.holds(self.literal, item) for item in value[self.start :])
        return self.least <= count and (self.most is None or count <= self.most)


@dataclass(frozen=True, slots=True, eq=False)
class Unique(Fact):
    """No two items are equal."""

    def negated(self) -> Formula:
        return self.place.refused("it is negated, so that two items must be equal")

    def holds(self, value: Any, judge: Judge) -> bool:
        return len({identity(item) for item in value}) == len(value)


@dataclass(frozen=True, slots=True, eq=False)
class ArrayShape:
    """Arrays of ``least`` to ``most`` items: goals of the first items, goal of
    the others, ``contains`` still to be counted, ``unique`` items."""

    prefix: tuple[Goal, ...]
    rest: Goal
    least: int
    most: int | None
    contains: tuple[Contains, ...] = ()
    unique: tuple[Unique, ...] = ()

    def at(self, index: int) -> Goal:
        """The goal of item ``index``."""
        return self.prefix[index] if index < len(self.prefix) else self.rest


def merge_arrays(facts: list[Fact]) -> ArrayShape | None:
    """The shape of arrays with all ``facts``; None when there are none."""
    if not facts:
        return ArrayShape((), ANYTHING, 0, None)
    counts = [fact for fact in facts if isinstance(fact, ItemCount)]
    least = max((fact.least for fact in counts), default=0)
    most = min((fact.most for fact in counts if fact.most is not None), default=None)
    unique = tuple(fact for fact in facts if isinstance(fact, Unique))
    if most is not None and least > most:
        return None
    contains = tuple(fact for fact in facts if isinstance(fact, Contains))
    prefix, rest = _item_goals(facts)
    return ArrayShape(prefix, rest, least, most, contains, unique)


def _item_goals(facts: list[Fact]) -> tuple[tuple[Goal, ...], Goal]:
    """The goals of the first items, and the goal of all items after them."""
    length = 0
    for fact in facts:
        if isinstance(fact, ItemAt):
            length = max(length, fact.index + 1)
        elif isinstance(fact, ItemsFrom):
            length = max(length, fact.start)
    prefix: list[list[int]] = [[] for _ in range(length)]
    rest: list[int] = []
    for fact in facts:
        if isinstance(fact, ItemAt):
            prefix[fact.index].append(fact.literal)
        elif isinstance(fact, ItemsFrom):
            rest.append(fact.literal)
            for literals in prefix[fact.start :]:
                literals.append(fact.literal)
    return tuple(goal(literals) for literals in prefix), goal(rest)
