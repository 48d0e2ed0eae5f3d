"""Tags: keys whose constants decide which of many conditions hold.

``Known`` is what a branch knows of its keys, so that a condition on a tag is
decided by comparing two sets.  ``tag_cases`` splits a branch by its tag where many
choices depend on it: n conditions then make n branches, not 2**n.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from stcon.syntax.json_schema.constants import Among
from stcon.syntax.json_schema.document import FALSE_LITERAL, Place
from stcon.syntax.json_schema.formula import FALSE, All, AnyOf, Fact, Formula, OneOf
from stcon.syntax.json_schema.objects import Named, Required, SomeValue, Values
from stcon.syntax.json_schema.signatures import Identities, Signature, Signatures
from stcon.syntax.json_schema.values import ARRAY, KINDS, NUMBER, OBJECT

if TYPE_CHECKING:
    from stcon.syntax.json_schema.alternatives import Expander
    from stcon.syntax.json_schema.branches import Choice

# So many choices must depend on a tag.
_MANY = 3
_NOTHING: Identities = frozenset()


class Known:
    """Of the object of one branch: keys that are ``required``, keys that are
    ``absent``, and the constants the value of a key is, or is not, among."""

    __slots__ = ("absent", "among", "excluded", "required")

    def __init__(self) -> None:
        self.required: set[str | None] = {None}
        self.absent: set[str | None] = set()
        self.among: dict[str | None, Identities] = {}
        self.excluded: dict[str | None, Identities] = {}

    def copy(self) -> Known:
        """The same, to be changed."""
        new = Known()
        new.required = set(self.required)
        new.absent = set(self.absent)
        new.among = dict(self.among)
        new.excluded = dict(self.excluded)
        return new

    def learn(self, fact: Fact, signatures: Signatures) -> bool:
        """Adds what ``fact`` says; whether an object can still be."""
        if isinstance(fact, Required):
            self.required.add(fact.name)
            return fact.name not in self.absent
        if not isinstance(fact, (Values, SomeValue)) or not isinstance(
            fact.keys, Named
        ):
            return True
        name = fact.keys.name
        if isinstance(fact, SomeValue):
            self.required.add(name)
        constants = signatures.constants(fact.literal)
        if constants is not None:
            if not constants and fact.literal != FALSE_LITERAL:
                # left to the shape, which says where below nothing is valid
                return True
            self.among[name] = self.among.get(name, constants) & constants
        elif -fact.literal in signatures.exact:
            denied = signatures.exact[-fact.literal]
            self.excluded[name] = self.excluded.get(name, _NOTHING) | denied
        if name in self.among and not self._left(name):
            self.absent.add(name)
        return name not in self.absent or name not in self.required

    def _left(self, name: str | None) -> Identities:
        return self.among[name] - self.excluded.get(name, _NOTHING)

    def refutes(self, signature: Signature | None) -> bool:
        """Whether no object of the branch has ``signature`` (None: nothing has)."""
        if signature is None or not self.absent.isdisjoint(signature.required):
            return True
        for name, constants in signature.values.items():
            if name not in signature.required and name not in self.required:
                continue
            if name in self.among and self.among[name].isdisjoint(constants):
                return True
            if name in self.excluded and constants <= self.excluded[name]:
                return True
        return False

    def denies(self, formula: Formula, signatures: Signatures) -> bool:
        """Whether ``formula`` plainly holds of no object of the branch."""
        if isinstance(formula, int):
            if formula < 0:
                return formula == FALSE_LITERAL
            return self.refutes(signatures.of(formula, OBJECT))
        if isinstance(formula, All):
            return any(self.denies(item, signatures) for item in formula.items)
        if isinstance(formula, AnyOf) or (isinstance(formula, OneOf) and formula.sign):
            return all(self.denies(item, signatures) for item in formula.items)
        return False

    def implies(self, formula: Formula, signatures: Signatures) -> bool:
        """Whether ``formula`` plainly holds of every object of the branch."""
        if isinstance(formula, int):
            return formula == 1 or (formula < 0 and self.denies(-formula, signatures))
        if isinstance(formula, All):
            return all(self.implies(item, signatures) for item in formula.items)
        if isinstance(formula, AnyOf):
            return any(self.implies(item, signatures) for item in formula.items)
        return False


class _Mentions:
    """The choices that depend on one key: how many, the sets of constants they
    compare it with, and a schema that does so."""

    def __init__(self, literal: int) -> None:
        self.literal = literal
        self.sets: dict[Identities, None] = {}
        self.count = 0


def tag_cases(
    choices: list[Choice], known: Known, expander: Expander
) -> list[tuple[Formula, ...]] | None:
    """The cases of the key that most choices depend on: what holds in each; None
    when few choices depend on any key."""
    if len(choices) < _MANY:
        return None
    found = _mentions(choices, expander)
    for name in sorted(found, key=lambda name: -found[name].count):
        if found[name].count < _MANY:
            return None
        cases = _cases(name, found[name], known, expander)
        if len(cases) > 1:
            return cases
    return None


def _mentions(choices: list[Choice], expander: Expander) -> dict[str, _Mentions]:
    found: dict[str, _Mentions] = {}
    for choice in choices:
        names: Counter[str] = Counter()
        for literal in _literals(choice):
            signature = expander.signatures.of(literal, OBJECT)
            for name, constants in signature.values.items() if signature else ():
                if name is not None:
                    at = found.setdefault(name, _Mentions(literal))
                    at.sets[constants] = None
                    names[name] = 1
        for name in names:
            found[name].count += 1
    return found


def _literals(choice: Choice) -> Iterator[int]:
    """The numbers of the schemas on top of a choice."""
    if choice.denied is not None:
        yield choice.denied
    for item in choice.items:
        parts = item.items if isinstance(item, All) else (item,)
        yield from (abs(part) for part in parts if isinstance(part, int))


def _cases(
    name: str, mentions: _Mentions, known: Known, expander: Expander
) -> list[tuple[Formula, ...]]:
    """What holds where the key is absent, where its constant is in one and the
    same of the sets, and where it is none of them."""
    is_open = name not in known.among
    every = known.among.get(name, _NOTHING)
    if is_open:
        every = every.union(*mentions.sets) - known.excluded.get(name, _NOTHING)
    if any(kind in (ARRAY, OBJECT) for kind, _ in map(_pair, every)):
        return []
    schema = expander.document.schemas[mentions.literal]
    place = Place(expander.document, schema, "properties")
    keys = Named(name)
    there = Required(place, name)
    cases: list[tuple[Formula, ...]] = []
    if name not in known.required and name not in known.absent:
        cases.append((Values(place, keys, FALSE_LITERAL),))
    for group in _groups(every, mentions.sets):
        cases.append((there, Values(place, keys, _constant(group, place, expander))))
    if is_open and name not in known.absent:
        denied = -_constant(list(every), place, expander)
        cases.append((SomeValue(place, keys, denied),) if every else (there,))
    expander.spend(len(cases) + sum(map(len, mentions.sets)))
    return cases


def _groups(every: Identities, sets: Iterable[Identities]) -> Iterator[list[Hashable]]:
    """``every``, split by which of the sets a constant is in."""
    inside: dict[Hashable, list[int]] = {constant: [] for constant in every}
    for number, constants in enumerate(sets):
        for constant in constants:
            if constant in inside:
                inside[constant].append(number)
    groups: dict[tuple[int, ...], list[Hashable]] = {}
    for constant in sorted(inside, key=repr):
        groups.setdefault(tuple(inside[constant]), []).append(constant)
    yield from groups.values()


def _constant(group: list[Hashable], place: Place, expander: Expander) -> int:
    """The literal of a schema that just the constants of ``group`` satisfy."""
    document, signatures = place.document, expander.signatures
    keys = frozenset(group)
    number = document.synthetic(place.schema.path, {}, ("tag", keys))
    if number not in signatures.exact:
        signatures.exact[number] = keys
        values: dict[str, list[Any]] = {kind: [] for kind in KINDS}
        for constant in sorted(group, key=repr):
            kind, value = _pair(constant)
            values[kind].append(_value(kind, value))
        document.schemas[number].parts = {
            kind: (Among(place, tuple(found), keys) if found else FALSE,)
            for kind, found in values.items()
        }
    return number


def _pair(constant: Hashable) -> tuple[str, Any]:
    """Kind and value of an identity."""
    assert isinstance(constant, tuple)
    return constant[0], constant[1]


def _value(kind: str, value: Any) -> Any:
    """The scalar that has an identity: an int where it is one."""
    if kind == NUMBER and isinstance(value, Decimal) and value == value.to_integral():
        return int(value)
    return value
