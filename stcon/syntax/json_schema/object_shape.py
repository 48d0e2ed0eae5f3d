"""Facts about objects to the shape they add up to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stcon.syntax.json_schema.constants import Constants
from stcon.syntax.json_schema.document import TRUE_LITERAL, Place
from stcon.syntax.json_schema.formula import Fact
from stcon.syntax.json_schema.goals import ANYTHING, NOTHING, Goal, goal
from stcon.syntax.json_schema.objects import (
    KeyCount,
    Matching,
    Named,
    Names,
    Others,
    Pattern,
    Required,
    SomeName,
    SomeValue,
    Values,
)
from stcon.syntax.json_schema.patterns import MAX_WORDS, are_apart, prefix_of, words_of
from stcon.syntax.json_schema.presence import (
    Denied,
    Every,
    Key,
    Keys,
    Present,
    assigned,
    every,
    names_of,
)
from stcon.syntax.json_schema.values import STRING

if TYPE_CHECKING:
    from stcon.syntax.json_schema.alternatives import Expander

Case = tuple[tuple[Pattern, ...], tuple[Pattern, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class FreeKeys:
    """Keys that are not named anywhere, told apart by the patterns they match:
    those with one of the ``cases`` (matched, not matched) have values of
    ``value``."""

    cases: tuple[Case, ...]
    value: Goal


@dataclass(frozen=True, slots=True, eq=False)
class ObjectShape:
    """Objects: goals of the keys that are named, in the order they are written;
    those that must be there; goals of all other keys, and of their names;
    number of keys; facts that some key must meet; ``place``: a keyword to name
    in errors; ``presence``: which keys may be there together."""

    names: dict[str, Goal]
    required: frozenset[str] = frozenset()
    free: tuple[FreeKeys, ...] = ()
    key_goal: Goal = ANYTHING
    least: int = 0
    most: int | None = None
    some: tuple[SomeValue | SomeName, ...] = ()
    count: KeyCount | None = None
    place: Place | None = None
    presence: Keys = True

    @property
    def is_counted(self) -> bool:
        """Whether more than the order of its keys must be kept in mind."""
        is_bounded = self.least > 0 or self.most is not None
        return is_bounded or bool(self.some) or self.presence is not True


@dataclass(slots=True)
class _Sorted:
    """The facts of one object, by class; ``names`` in the order of writing."""

    names: dict[str, list[int]] = field(default_factory=dict)
    wide: list[Values] = field(default_factory=list)
    required: dict[str, Fact] = field(default_factory=dict)
    mentioned: dict[str, None] = field(default_factory=dict)
    key_literals: list[int] = field(default_factory=list)
    some: list[SomeValue | SomeName] = field(default_factory=list)
    least: int = 0
    most: int | None = None
    count: KeyCount | None = None
    spelt: set[Pattern] = field(default_factory=set)
    presence: list[Present] = field(default_factory=list)


def merge_objects(facts: list[Fact], expander: Expander) -> ObjectShape | None:
    """The shape of objects with all ``facts``; None when there are none."""
    if not facts:
        return ObjectShape({}, free=(FreeKeys((((), ()),), ANYTHING),))
    found = _sorted(facts)
    keys = goal(found.key_literals)
    names = dict.fromkeys([*found.names, *found.required, *found.mentioned])
    some = _strongest(found.some)
    finite = _finite_keys(keys, expander)
    if finite is not None:
        names.update(dict.fromkeys(finite))
    elif found.least > len(found.required) + 1 or len(some) > 1:
        names.update(_words(found))
    goals = {name: _value_goal(name, found, expander) for name in names}
    presence = _presence(goals, found)
    for name, fact in found.required.items():
        if _cannot_be(goals[name], expander):
            expander.blame(fact)
            return None
    if presence is False:
        expander.blame(found.presence[-1])
        return None
    needed = len(found.required)
    free = () if finite is not None else _free_keys(found, expander)
    most = found.most
    if not free and found.least > needed:
        possible = sum(value != NOTHING for value in goals.values())
        most = possible if most is None else min(most, possible)
    if most is not None and max(found.least, needed) > most:
        return None
    return ObjectShape(
        goals,
        frozenset(found.required),
        free,
        keys,
        0 if found.least <= needed else found.least,
        found.most,
        some,
        found.count,
        _place(facts, found),
        presence,
    )


def can_be_object(facts: list[Fact], expander: Expander) -> bool:
    """Whether ``merge_objects`` gives a shape; looks at required keys alone where
    they decide it."""
    found = _sorted(facts)
    needed = len(found.required)
    if found.presence or found.key_literals or found.least > needed:
        return merge_objects(facts, expander) is not None
    for name, fact in found.required.items():
        if _cannot_be(_value_goal(name, found, expander), expander):
            expander.blame(fact)
            return False
    return found.most is None or needed <= found.most


def _presence(goals: dict[str, Goal], found: _Sorted) -> Keys:
    """What is left to say of keys once some of them must be there and others
    cannot; takes in what that decides of others."""
    keys = every(fact.keys for fact in found.presence)
    known: dict[str, bool] = {}
    while not isinstance(keys, bool):
        for name in names_of(keys):
            if goals[name] == NOTHING:
                known[name] = False
            elif name in found.required:
                known[name] = True
        for part in keys.items if isinstance(keys, Every) else (keys,):
            if isinstance(part, Key):
                found.required[part.name] = found.presence[0]
                known[part.name] = True
            elif isinstance(part, Denied) and isinstance(part.item, Key):
                goals[part.item.name] = NOTHING
                known[part.item.name] = False
        if not known:
            break
        for name, there in known.items():
            keys = assigned(keys, name, there)
        known = {}
    return keys


def _place(facts: list[Fact], found: _Sorted) -> Place:
    """The keyword to name where the object is too much: one that counts or
    demands, else one that names keys."""
    counts = [f for f in facts if isinstance(f, KeyCount)]
    named = [f for f in facts if isinstance(f, Values) and isinstance(f.keys, Named)]
    return [*counts, *found.some, *named, *facts][0].place


def _sorted(facts: list[Fact]) -> _Sorted:
    out = _Sorted()
    for fact in facts:
        if isinstance(fact, Values):
            _sort_values(fact, out)
        elif isinstance(fact, Required):
            out.required.setdefault(fact.name, fact)
        elif isinstance(fact, SomeValue) and isinstance(fact.keys, Named):
            out.required.setdefault(fact.keys.name, fact)
            out.names.setdefault(fact.keys.name, []).append(fact.literal)
        elif isinstance(fact, (SomeValue, SomeName)):
            out.some.append(fact)
            if isinstance(fact, SomeValue) and isinstance(fact.keys, Others):
                out.mentioned.update(dict.fromkeys(sorted(fact.keys.names)))
        elif isinstance(fact, Present):
            out.presence.append(fact)
            out.mentioned.update(dict.fromkeys(names_of(fact.keys)))
        elif isinstance(fact, Names):
            out.key_literals.append(fact.literal)
        elif isinstance(fact, KeyCount):
            if fact.least > out.least:
                out.least, out.count = fact.least, fact
            if fact.most is not None:
                out.most = fact.most if out.most is None else min(out.most, fact.most)
    return out


def _sort_values(fact: Values, out: _Sorted) -> None:
    if isinstance(fact.keys, Named):
        out.names.setdefault(fact.keys.name, []).append(fact.literal)
        return
    out.wide.append(fact)
    if isinstance(fact.keys, Others):
        out.mentioned.update(dict.fromkeys(sorted(fact.keys.names)))


def _value_goal(name: str, found: _Sorted, expander: Expander) -> Goal:
    """The goal of the value of the key ``name``; NOTHING if the key cannot be."""
    judge = expander.judge
    if not all(judge.holds(literal, name) for literal in found.key_literals):
        return NOTHING
    wide = [f.literal for f in found.wide if f.keys.has(name, judge)]
    return goal([*found.names.get(name, ()), *wide])


def _cannot_be(value: Goal, expander: Expander) -> bool:
    return value == NOTHING or (len(value) > 1 and expander.is_surely_empty(value))


def _finite_keys(keys: Goal, expander: Expander) -> list[str] | None:
    """The keys, when ``propertyNames`` leaves finitely many; else None."""
    if keys == ANYTHING:
        return None
    shapes = expander.shapes(keys, STRING)
    if not all(isinstance(shape, Constants) for shape in shapes):
        return None
    return [v for shape in shapes if isinstance(shape, Constants) for v in shape.values]


def _words(found: _Sorted) -> dict[str, None]:
    """The keys that match patterns of few words: named, so that they can be
    counted; ``found.spelt`` notes those patterns."""
    names: dict[str, None] = {}
    for pattern in _patterns(found):
        words = words_of(pattern.language)
        if words is not None and len(names) + len(words) <= MAX_WORDS:
            found.spelt.add(pattern)
            names.update(dict.fromkeys(words))
    return names


def _free_keys(found: _Sorted, expander: Expander) -> tuple[FreeKeys, ...]:
    """All keys that are not named, split by the patterns they match."""
    patterns = {p: at for p, at in _patterns(found).items() if p not in found.spelt}
    cases: dict[Goal, list[Case]] = {}
    for chosen in _overlaps(patterns, expander):
        value = goal(f.literal for f in found.wide if _applies(f, chosen))
        if value != NOTHING:
            others = tuple(p for p in patterns if p not in chosen)
            cases.setdefault(value, []).append((chosen, others))
    return tuple(FreeKeys(tuple(found), value) for value, found in cases.items())


def _overlaps(
    patterns: dict[Pattern, Place], expander: Expander
) -> list[tuple[Pattern, ...]]:
    """The sets of patterns that one key may match, as far as can be seen."""
    found: list[tuple[Pattern, ...]] = [()]
    prefixes = {pattern: prefix_of(pattern.language) for pattern in patterns}
    for pattern in patterns:
        found += [
            (*chosen, pattern)
            for chosen in found
            if not any(are_apart(prefixes[pattern], prefixes[p]) for p in chosen)
        ]
        expander.spend(len(found) // 8)
        if len(found) > expander.options.max_sets:
            raise expander.options.too_many_sets(
                patterns[pattern],
                f"the overlap of {len(patterns)} patterns",
                "use fewer patternProperties in one object, or let them begin "
                "differently",
            )
    return found


def _strongest(
    facts: list[SomeValue | SomeName],
) -> tuple[SomeValue | SomeName, ...]:
    """The facts that no other one implies."""
    kept: list[SomeValue | SomeName] = []
    for fact in facts:
        if not any(_implies(other, fact) for other in kept):
            kept = [other for other in kept if not _implies(fact, other)]
            kept.append(fact)
    return tuple(kept)


def _implies(one: SomeValue | SomeName, other: SomeValue | SomeName) -> bool:
    """Whether a key that meets ``one`` meets ``other`` as well."""
    if isinstance(other, SomeName):
        return isinstance(one, SomeName) and one.literal == other.literal
    if isinstance(one, SomeName):
        return False
    if other.literal not in (one.literal, TRUE_LITERAL):
        return False
    if isinstance(one.keys, Others) and isinstance(other.keys, Others):
        has_names = other.keys.names <= one.keys.names
        return has_names and set(other.keys.patterns) <= set(one.keys.patterns)
    return one.keys == other.keys or other.keys == Others(frozenset(), ())


def _patterns(found: _Sorted) -> dict[Pattern, Place]:
    """The patterns, and where each is from."""
    seen: dict[Pattern, Place] = {}
    for fact in [*found.wide, *found.some]:
        if isinstance(fact, SomeName):
            continue
        if isinstance(fact.keys, Matching):
            seen[fact.keys.pattern] = fact.place
        elif isinstance(fact.keys, Others):
            for pattern in fact.keys.patterns:
                seen.setdefault(pattern, fact.place)
    return seen


def _applies(fact: Values, chosen: tuple[Pattern, ...]) -> bool:
    """Whether a fact speaks of unnamed keys that match just ``chosen``."""
    if isinstance(fact.keys, Matching):
        return fact.keys.pattern in chosen
    assert isinstance(fact.keys, Others)
    return not any(pattern in chosen for pattern in fact.keys.patterns)
