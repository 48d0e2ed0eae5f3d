"""What is plain to see of the values of a schema: constants of itself and of its
keys.

Alternatives that a tag tells apart (``type: {"const": "a"}``) need no proof by
expansion that they exclude each other.  A thousand of them are told apart by one
table from tags to alternatives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from stcon.syntax.json_schema.constants import Among
from stcon.syntax.json_schema.document import TRUE_LITERAL, Document
from stcon.syntax.json_schema.formula import (
    FALSE,
    All,
    AnyOf,
    Formula,
    OneOf,
    TypeIn,
)
from stcon.syntax.json_schema.objects import Named, Required, SomeValue, Values
from stcon.syntax.json_schema.values import BOOLEAN, KINDS, NULL, OBJECT, identity

Identities = frozenset[Hashable]

# Schemas inside one another, on one value, that are looked through.
_MAX_DEPTH = 24
_FEW = {
    NULL: frozenset({identity(None)}),
    BOOLEAN: frozenset({identity(False), identity(True)}),
}


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """Of values of one kind: keys that are ``required``, and the constants the
    value of a key is among, if it is there; the key None is the value itself."""

    required: frozenset[str | None] = frozenset({None})
    values: Mapping[str | None, Identities] = field(default_factory=dict)

    def excludes(
        self, other: Signature, required: frozenset[str | None] = frozenset()
    ) -> bool:
        """Whether no value, with the keys ``required``, has both signatures."""
        mine, theirs = self.values, other.values
        if len(theirs) < len(mine):
            mine, theirs = theirs, mine
        return any(
            name in theirs
            and (name in self.required or name in other.required or name in required)
            and mine[name].isdisjoint(theirs[name])
            for name in mine
        )


UNKNOWN = Signature()


class Signatures:
    """Signatures of the schemas of one document, each found once; None stands for
    a schema that no value of the kind satisfies.  ``exact``: schemas that just
    these constants satisfy."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[tuple[int, str, bool], Signature | None] = {}
        self._constants: dict[int, Identities | None] = {}
        self.exact: dict[int, Identities] = {}
        self._depth = 0

    def of(self, literal: int, kind: str) -> Signature | None:
        """The signature of the values of ``kind`` that satisfy ``literal``."""
        return self._of(literal, kind, True)

    def of_all(self, formulas: Iterable[Formula], kind: str) -> Signature | None:
        """The signature of the values of ``kind`` of which all formulas hold."""
        return self._all(formulas, kind, True)

    def _of(self, literal: int, kind: str, has_keys: bool) -> Signature | None:
        if literal <= TRUE_LITERAL:
            return None if literal == -TRUE_LITERAL else UNKNOWN
        key = (literal, kind, has_keys)
        if key not in self._known:
            if self._depth >= _MAX_DEPTH:
                return UNKNOWN
            self._depth += 1
            parts = self._document.parts(literal, kind)
            self._known[key] = self._all(parts, kind, has_keys)
            self._depth -= 1
        return self._known[key]

    def _all(
        self, formulas: Iterable[Formula], kind: str, has_keys: bool
    ) -> Signature | None:
        required: set[str | None] = {None}
        values: dict[str | None, Identities] = {}
        if kind in _FEW:
            values[None] = _FEW[kind]
        for formula in formulas:
            found = self._one(formula, kind, has_keys)
            if found is None:
                return None
            required |= found.required
            for name, constants in found.values.items():
                values[name] = values.get(name, constants) & constants
        if any(not found for name, found in values.items() if name in required):
            return None
        return Signature(frozenset(required), values)

    def _one(self, formula: Formula, kind: str, has_keys: bool) -> Signature | None:
        if isinstance(formula, int):
            return self._of(formula, kind, has_keys)
        if isinstance(formula, All):
            return self._all(formula.items, kind, has_keys)
        if isinstance(formula, AnyOf) or (isinstance(formula, OneOf) and formula.sign):
            return self._any(formula.items, kind, has_keys)
        if isinstance(formula, TypeIn):
            return None if formula.on(kind) is FALSE else UNKNOWN
        if isinstance(formula, Among):
            return _of_constants(formula, kind)
        return self._of_keys(formula) if has_keys and kind == OBJECT else UNKNOWN

    def _any(
        self, formulas: Iterable[Formula], kind: str, has_keys: bool
    ) -> Signature | None:
        """What the signatures of alternatives have in common."""
        tried = (self._one(formula, kind, has_keys) for formula in formulas)
        found = [one for one in tried if one is not None]
        if not found:
            return None
        required, values = found[0].required, dict(found[0].values)
        for other in found[1:]:
            required &= other.required
            values = {
                name: values[name] | other.values[name]
                for name in values
                if name in other.values
            }
        return Signature(required, values)

    def _of_keys(self, formula: Formula) -> Signature:
        """The signature of a fact about one key."""
        if isinstance(formula, Required):
            return Signature(frozenset({None, formula.name}))
        if not isinstance(formula, (Values, SomeValue)):
            return UNKNOWN
        if not isinstance(formula.keys, Named):
            return UNKNOWN
        name = formula.keys.name
        constants = self.constants(formula.literal)
        values: dict[str | None, Identities] = {}
        if constants is not None:
            values[name] = constants
        if isinstance(formula, SomeValue):
            return Signature(frozenset({None, name}), values)
        return Signature(values=values)

    def constants(self, literal: int) -> Identities | None:
        """The values of a schema, where they are plainly finitely many."""
        if literal not in self._constants:
            self._constants[literal] = self._found_constants(literal)
        return self._constants[literal]

    def _found_constants(self, literal: int) -> Identities | None:
        found: set[Hashable] = set()
        for kind in reversed(KINDS):
            signature = self._of(literal, kind, False)
            if signature is not None:
                constants = signature.values.get(None)
                if constants is None:
                    return None
                found |= constants
        return frozenset(found)


def _of_constants(fact: Among, kind: str) -> Signature | None:
    """The signature of an enum; its objects' common keys are known as well."""
    if not fact.values:
        return None
    values: dict[str | None, Identities] = {None: fact.keys}
    if kind == OBJECT:
        common = set.intersection(*(set(value) for value in fact.values))
        for name in common:
            values[name] = frozenset(identity(value[name]) for value in fact.values)
    return Signature(frozenset(values), values)


def rivals(
    signatures: list[Signature],
    required: frozenset[str | None],
    spend: Callable[[int], None],
) -> list[list[int]]:
    """Per alternative, the places of the others that its signature does not
    exclude where the keys ``required`` are there.  Linear where one key tells the
    alternatives apart; ``spend`` is told of the others before they are compared."""
    tags = _tags(signatures, required)
    places: dict[Hashable, list[int]] = {}
    untagged = [place for place, tag in enumerate(tags) if tag is None]
    for place, tag in enumerate(tags):
        for constant in tag or ():
            places.setdefault(constant, []).append(place)
    out: list[list[int]] = []
    for place, (tag, one) in enumerate(zip(tags, signatures, strict=True)):
        near: Sequence[int] = range(len(signatures))
        if tag is not None:
            same = {other for constant in tag for other in places[constant]}
            near = sorted(same.union(untagged))
        spend(len(near))
        out.append(
            [
                n
                for n in near
                if n != place and not one.excludes(signatures[n], required)
            ]
        )
    return out


def _tags(
    signatures: list[Signature], required: frozenset[str | None]
) -> list[Identities | None]:
    """Per alternative, the constants of the key that most of them must have."""
    count = Counter(
        name
        for one in signatures
        for name in one.values
        if name in one.required or name in required
    )
    if not count:
        return [None] * len(signatures)
    [(best, _)] = count.most_common(1)
    return [
        one.values.get(best) if best in one.required or best in required else None
        for one in signatures
    ]
