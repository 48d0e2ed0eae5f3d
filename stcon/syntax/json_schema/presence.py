"""Which keys are there: ``required`` under ``anyOf``, ``oneOf``, ``not``, ``if`` and
``dependentRequired``, as one formula over keys.

Split into alternatives, n implications are 2**n objects.  Kept as a formula they are
a state of the one object: what is left of the formula once it is known of some keys
whether they are there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stcon.syntax.json_schema.document import TRUE_LITERAL, Document, Place
from stcon.syntax.json_schema.formula import (
    FALSE,
    TRUE,
    All,
    AnyOf,
    Fact,
    Formula,
    OneOf,
    TypeIn,
)
from stcon.syntax.json_schema.objects import Named, Required, SomeValue, Values
from stcon.syntax.json_schema.values import OBJECT

if TYPE_CHECKING:
    from stcon.syntax.json_schema.evaluate import Judge

# Schemas inside one another, on one object, that are looked through.
_MAX_DEPTH = 24


@dataclass(frozen=True, slots=True)
class Key:
    """The key ``name`` is there."""

    name: str


@dataclass(frozen=True, slots=True)
class Denied:
    """``item`` is not so."""

    item: Keys


@dataclass(frozen=True, slots=True)
class Every:
    """All items are so."""

    items: tuple[Keys, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one item is so."""

    items: tuple[Keys, ...]


@dataclass(frozen=True, slots=True)
class One:
    """Exactly one item is so."""

    items: tuple[Keys, ...]


Keys = bool | Key | Denied | Every | Some | One


def denied(keys: Keys) -> Keys:
    """The formula that is so where ``keys`` is not."""
    if isinstance(keys, bool):
        return not keys
    return keys.item if isinstance(keys, Denied) else Denied(keys)


def every(items: Iterable[Keys]) -> Keys:
    """All of ``items``, simplified."""
    kept = _flat(items, Every, True)
    if kept is None or any(denied(item) in kept for item in kept):
        return False
    return True if not kept else kept[0] if len(kept) == 1 else Every(kept)


def some(items: Iterable[Keys]) -> Keys:
    """At least one of ``items``, simplified."""
    kept = _flat(items, Some, False)
    if kept is None or any(denied(item) in kept for item in kept):
        return True
    return False if not kept else kept[0] if len(kept) == 1 else Some(kept)


def _flat(
    items: Iterable[Keys], kind: type[Every | Some], neutral: bool
) -> tuple[Keys, ...] | None:
    """The items, those of the same kind opened, each once; None if one decides."""
    kept: dict[Keys, None] = {}
    for item in items:
        for part in item.items if isinstance(item, kind) else (item,):
            if part is (not neutral):
                return None
            if part is not neutral:
                kept[part] = None
    return tuple(kept)


def one(items: Iterable[Keys]) -> Keys:
    """Exactly one of ``items``, simplified."""
    left = [item for item in items if item is not False]
    rest = [item for item in left if item is not True]
    if len(left) - len(rest) > 1:
        return False
    if len(left) > len(rest):
        return every(map(denied, rest))
    return False if not rest else rest[0] if len(rest) == 1 else One(tuple(rest))


def assigned(keys: Keys, name: str, there: bool) -> Keys:
    """What is left of ``keys`` once it is known whether ``name`` is there."""
    if isinstance(keys, bool):
        return keys
    if isinstance(keys, Key):
        return there if keys.name == name else keys
    if isinstance(keys, Denied):
        return denied(assigned(keys.item, name, there))
    build = {Every: every, Some: some, One: one}[type(keys)]
    items = [assigned(item, name, there) for item in keys.items]
    return build(items) if items != list(keys.items) else keys


def names_of(keys: Keys) -> Iterator[str]:
    """The names in ``keys``, as often as they are there."""
    todo: list[Keys] = [keys]
    while todo:
        item = todo.pop()
        if isinstance(item, Key):
            yield item.name
        elif isinstance(item, Denied):
            todo.append(item.item)
        elif not isinstance(item, bool):
            todo += reversed(item.items)


def can_be(keys: Keys, work: Callable[[int], None]) -> bool:
    """Whether some set of keys makes ``keys`` so.  ``work`` is told of each step.

    Exponential at worst; no key at all, or every key, is tried first.
    """
    if True in (_everywhere(keys, False), _everywhere(keys, True)):
        return True
    todo, seen = [keys], {keys}
    while todo:
        item = todo.pop()
        if item is True:
            return True
        names = list(names_of(item))
        work(1 + len(names))
        for there in (True, False) if names else ():
            left = assigned(item, names[0], there)
            if left not in seen:
                seen.add(left)
                todo.append(left)
    return False


def _everywhere(keys: Keys, there: bool) -> bool:
    """Whether ``keys`` is so where all its keys are there, or none."""
    if isinstance(keys, bool):
        return keys
    if isinstance(keys, Key):
        return there
    if isinstance(keys, Denied):
        return not _everywhere(keys.item, there)
    count = sum(_everywhere(item, there) for item in keys.items)
    wanted = {Every: len(keys.items), One: 1}.get(type(keys))
    return count > 0 if wanted is None else count == wanted


@dataclass(frozen=True, slots=True, eq=False)
class Present(Fact):
    """The keys of the object are as ``keys`` says."""

    keys: Keys

    @property
    def key(self) -> Hashable:
        return ("present", self.keys)

    def negated(self) -> Formula:
        return Present(self.place, denied(self.keys))

    def holds(self, value: Any, judge: Judge) -> bool:
        keys = self.keys
        for name in dict.fromkeys(names_of(keys)):
            keys = assigned(keys, name, name in value)
        return keys is True


class Presences:
    """What schemas of one document say of keys, where that is all they say of
    objects; each found once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[int, Keys | None] = {}
        self._depth = 0

    def fact(self, formula: Formula) -> Formula | None:
        """``formula`` as one fact about keys; None when it says more."""
        keys = self.of(formula)
        if keys is None or isinstance(keys, bool):
            return None if keys is None else TRUE if keys else FALSE
        return Present(self._place(formula), keys)

    def _place(self, formula: Formula) -> Place:
        """A keyword that a formula is from."""
        todo = [formula]
        while todo:
            item = todo.pop()
            if isinstance(item, (Fact, TypeIn)):
                return item.place
            if isinstance(item, int):
                todo += reversed(self._document.parts(abs(item), OBJECT))
            else:
                todo += reversed(item.items)
        raise AssertionError("what is neither always so nor never has a fact")

    def of(self, formula: Formula) -> Keys | None:
        """``formula`` as one over keys; None when it says more."""
        if isinstance(formula, int):
            found = self._literal(abs(formula))
            return found if found is None or formula > 0 else denied(found)
        if isinstance(formula, (All, AnyOf, OneOf)):
            return self._combined(formula)
        if isinstance(formula, TypeIn):
            return formula.on(OBJECT) is not FALSE
        if isinstance(formula, Present):
            return formula.keys
        if isinstance(formula, Required):
            return Key(formula.name)
        return self._of_values(formula)

    def _of_values(self, fact: Fact) -> Keys | None:
        if not isinstance(fact, (Values, SomeValue)) or abs(fact.literal) != 1:
            return None
        if not isinstance(fact.keys, Named):
            return None
        if isinstance(fact, SomeValue):
            return fact.literal == TRUE_LITERAL and Key(fact.keys.name)
        return fact.literal == TRUE_LITERAL or Denied(Key(fact.keys.name))

    def _combined(self, formula: All | AnyOf | OneOf) -> Keys | None:
        found: list[Keys] = []
        for item in formula.items:
            keys = self.of(item)
            if keys is None:
                return None
            found.append(keys)
        if isinstance(formula, OneOf):
            return one(found) if formula.sign else denied(one(found))
        return every(found) if isinstance(formula, All) else some(found)

    def _literal(self, number: int) -> Keys | None:
        if number == TRUE_LITERAL:
            return True
        if number not in self._known:
            if self._depth >= _MAX_DEPTH:
                return None
            self._depth += 1
            parts = self._document.parts(number, OBJECT)
            self._known[number] = self._combined(All(parts))
            self._depth -= 1
        return self._known[number]
