"""One branch of an expansion: what is known of a value, and what is to choose."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stcon.syntax.json_schema.constants import Among
from stcon.syntax.json_schema.document import FALSE_LITERAL, Unenforceable
from stcon.syntax.json_schema.formula import (
    FALSE,
    TRUE,
    All,
    AnyOf,
    Fact,
    Formula,
    OneOf,
    TypeIn,
    negate,
)
from stcon.syntax.json_schema.signatures import rivals
from stcon.syntax.json_schema.tags import Known, tag_cases
from stcon.syntax.json_schema.values import BOOLEAN, NULL, OBJECT

if TYPE_CHECKING:
    from stcon.syntax.json_schema.alternatives import Expander

_FEW: dict[str, list[Any]] = {NULL: [None], BOOLEAN: [False, True]}


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One of ``items`` must hold; when ``denied`` is a literal, because that
    schema does not."""

    items: tuple[Formula, ...]
    denied: int | None = None


class Branch:
    """``values``: the finitely many values left, None while there are others;
    ``facts``: what holds; ``choices``: what is still to be chosen."""

    __slots__ = (
        "_expander",
        "_is_choosing",
        "_keys",
        "_known",
        "_learnt",
        "_seen",
        "choices",
        "facts",
        "kind",
        "values",
    )

    def __init__(self, kind: str, expander: Expander) -> None:
        self.kind = kind
        self._expander = expander
        self._seen: set[int] = set()
        self._keys: set[Hashable] = set()
        self._known = Known()
        self._learnt = 0
        self._is_choosing = False
        self.facts: list[Fact] = []
        self.choices: list[Choice] = []
        self.values: list[Any] | None = list(_FEW[kind]) if kind in _FEW else None

    def _copy(self) -> Branch:
        self._expander.spend(1 + len(self.facts) // 8)
        new = Branch(self.kind, self._expander)
        new._seen = set(self._seen)
        new._keys = set(self._keys)
        new._is_choosing = self._is_choosing
        new._learnt = self._learnt
        new._known = self._known.copy() if self._learnt else Known()
        new.facts = list(self.facts)
        new.choices = list(self.choices)
        new.values = self.values
        return new

    def add(self, formulas: Iterable[Formula]) -> bool:
        """Whether the branch lives on when all ``formulas`` hold too."""
        todo = list(formulas)[::-1]
        last: list[Formula] = []
        while todo or last:
            # oneOf waits: the keys that must be there tell alternatives apart
            formula = todo.pop() if todo else last.pop(0)
            self._expander.spend(1)
            if self.values is not None:
                alive = self._keep(formula)
            elif isinstance(formula, int):
                alive = self._add_literal(formula, todo)
            elif isinstance(formula, All):
                todo.extend(reversed(formula.items))
                continue
            elif isinstance(formula, AnyOf):
                alive = self._add_choice(formula.items, todo)
            elif isinstance(formula, OneOf):
                fact = self._presence(formula)
                if fact is not None:
                    todo.append(fact)
                    continue
                if todo:
                    last.append(formula)
                    continue
                alive = self._add_choice(self._alternatives(formula), todo)
            elif isinstance(formula, TypeIn):
                rest = formula.on(self.kind)
                todo.append(rest)
                alive = rest is not FALSE
            else:
                alive = self._add_fact(formula)
            if not alive:
                self._expander.blame(formula)
                return False
        return True

    def _keep(self, formula: Formula) -> bool:
        """Whether a value is left of those of which ``formula`` holds."""
        judge = self._expander.judge
        assert self.values is not None
        self.values = [v for v in self.values if judge.holds(formula, v)]
        return bool(self.values)

    def _add_literal(self, literal: int, todo: list[Formula]) -> bool:
        if literal in self._seen:
            return True
        if -literal in self._seen or literal == FALSE_LITERAL:
            return False
        if self._is_choosing and self.kind == OBJECT and literal > 0:
            signature = self._expander.signatures.of(literal, OBJECT)
            if not self._learn():
                return False
            if signature is not None and self._known.refutes(signature):
                return False
        self._seen.add(literal)
        if self._is_choosing and self._is_implied(literal):
            return True
        parts = self._expander.document.parts(abs(literal), self.kind)
        if literal > 0:
            todo.extend(reversed(parts))
            return True
        denials = tuple(negate(part) for part in parts)
        return self._add_choice(denials, todo, -literal)

    def _add_choice(
        self,
        items: tuple[Formula, ...],
        todo: list[Formula],
        denied: int | None = None,
    ) -> bool:
        """Notes that one of ``items`` must hold."""
        self._expander.spend(len(items))
        kept: list[Formula] = []
        for item in items:
            truth = self._truth(item)
            if truth:
                return True
            if truth is False:
                continue
            if isinstance(item, TypeIn):
                item = item.on(self.kind)
            if isinstance(item, AnyOf):
                kept.extend(item.items)
            else:
                kept.append(item)
        if len(kept) == 1:
            todo.append(kept[0])
        elif kept:
            fact = self._presence(AnyOf(tuple(kept)))
            if fact is not None:
                todo.append(fact)
                return True
            self._is_choosing = True
            self.choices.append(Choice(tuple(kept), denied))
        return bool(kept)

    def _truth(self, formula: Formula) -> bool | None:
        """Whether ``formula`` holds of all values of the branch, or of none, as far
        as its form alone tells."""
        if isinstance(formula, int):
            if formula in self._seen or -formula in self._seen:
                return formula in self._seen
            parts = self._expander.document.parts(abs(formula), self.kind)
            if abs(formula) == 1 or not parts:
                return formula > 0
        elif isinstance(formula, TypeIn):
            rest = formula.on(self.kind)
            return rest is TRUE if rest in (TRUE, FALSE) else None
        elif isinstance(formula, (All, AnyOf)):
            found = {self._truth(item) for item in formula.items}
            decided = isinstance(formula, AnyOf)
            if decided in found:
                return decided
            return None if None in found else not decided
        return None

    def _presence(self, formula: AnyOf | OneOf) -> Formula | None:
        """A choice as one fact, where it is about which keys are there alone."""
        return self._expander.presences.fact(formula) if self.kind == OBJECT else None

    def _alternatives(self, formula: OneOf) -> tuple[Formula, ...]:
        """One literal holds and no other, or (without ``sign``) none or two;
        those that cannot hold together anyway are not mentioned."""
        known, kind = self._expander.signatures, self.kind
        found = [known.of(literal, kind) for literal in formula.items]
        self._expander.spend(len(found))
        if all(signature is None for signature in found):
            # kept, so that the error can say why
            return formula.items if formula.sign else (TRUE,)
        pairs = [
            (literal, signature)
            for literal, signature in zip(formula.items, found, strict=True)
            if signature is not None
        ]
        items = [literal for literal, _ in pairs]
        self._learn()
        required = frozenset(self._known.required)
        signatures = [signature for _, signature in pairs]
        near = rivals(signatures, required, self._expander.spend)
        exclude = self._expander.exclude
        rival = [
            [n for n in places if not exclude(one, items[n], kind)]
            for one, places in zip(items, near, strict=True)
        ]
        if formula.sign:
            return tuple(
                All((one, *(-items[n] for n in places)))
                for one, places in zip(items, rival, strict=True)
            )
        both = [
            All((items[m], items[n]))
            for m, places in enumerate(rival)
            for n in places
            if m < n
        ]
        return (All(tuple(-item for item in items)), *both)

    def _add_fact(self, fact: Fact) -> bool:
        if not isinstance(fact, Among):
            if fact.key not in self._keys:
                self._keys.add(fact.key)
                self.facts.append(fact)
            return True
        # from here on the branch is a list of values, and all else a test
        self.values = list(fact.values)
        for known in self.facts:
            if not self._keep(known):
                return False
        for choice in self.choices:
            if not self._keep(AnyOf(choice.items)):
                return False
        self.choices = []
        return bool(self.values)

    def is_consistent(self) -> bool:
        """Whether the facts do not contradict each other; choices are not
        looked at."""
        if self.values is not None:
            return bool(self.values)
        facts = [f for f in self.facts if not isinstance(f, Unenforceable)]
        return self._expander.can_be(self.kind, facts)

    def split(self) -> list[Branch] | None:
        """The branches that one more choice leads to; None when none is left."""
        while self.choices:
            if not self._learn():
                self._expander.blame(self.facts[-1])
                return []
            self.choices = [c for c in self.choices if not self._is_plain(c)]
            cases = self._tag_cases()
            if cases is not None:
                return self._branches(cases)
            self.choices = [c for c in self.choices if not self._is_made(c)]
            if len(self.choices) < 2:
                break
            found = [self._live_items(choice) for choice in self.choices]
            least = min(map(len, found))
            if least > 1:
                best = [len(items) for items in found].index(least)
                return self._children(found[best], best)
            pairs = list(zip(self.choices, found, strict=True))
            self.choices = [choice for choice, items in pairs if len(items) > 1]
            if not least or not self.add([i[0] for _, i in pairs if len(i) == 1]):
                return []
        return self._children(self.choices[0].items, 0) if self.choices else None

    def _learn(self) -> bool:
        """Takes in the facts added since; whether they are plainly consistent."""
        new = self.facts[self._learnt :] if self.kind == OBJECT else []
        self._learnt = len(self.facts)
        learn, signatures = self._known.learn, self._expander.signatures
        return all([learn(fact, signatures) for fact in new])

    def _is_denied(self, formula: Formula) -> bool:
        """Whether it is plain that ``formula`` does not hold."""
        if self.kind != OBJECT:
            return formula == FALSE_LITERAL
        return self._known.denies(formula, self._expander.signatures)

    def _is_implied(self, formula: Formula) -> bool:
        """Whether it is plain that ``formula`` holds."""
        if self.kind != OBJECT:
            return False
        return self._known.implies(formula, self._expander.signatures)

    def _is_plain(self, choice: Choice) -> bool:
        """Whether it is plain that there is nothing to choose."""
        self._expander.spend(1)
        if choice.denied is not None and self._is_denied(choice.denied):
            return True
        return any(self._is_implied(item) for item in choice.items)

    def _tag_cases(self) -> list[tuple[Formula, ...]] | None:
        if self.kind != OBJECT:
            return None
        return tag_cases(self.choices, self._known, self._expander)

    def _branches(self, cases: list[tuple[Formula, ...]]) -> list[Branch]:
        """A branch for each case."""
        children = []
        for case in cases:
            child = self._copy()
            if child.add(case):
                children.append(child)
        return children

    def _is_made(self, choice: Choice) -> bool:
        """Whether there is nothing to choose: one item is known already, or the
        denied schema contradicts what is known."""
        if any(isinstance(f, Fact) and f.key in self._keys for f in choice.items):
            return True
        if choice.denied is None:
            return False
        child = self._without_choices()
        child._seen.discard(-choice.denied)
        return not (child.add((choice.denied,)) and child.is_consistent())

    def _live_items(self, choice: Choice) -> tuple[Formula, ...]:
        """The items of a choice that do not contradict what is known."""
        live = []
        for item in choice.items:
            if self._is_denied(item):
                continue
            child = self._without_choices()
            if child.add((item,)) and child.is_consistent():
                live.append(item)
        return tuple(live)

    def _without_choices(self) -> Branch:
        child = self._copy()
        child.choices = []
        return child

    def _children(self, items: tuple[Formula, ...], place: int) -> list[Branch]:
        """A branch for each item.  While other choices are open, an item excludes
        the ones before it where that is one more fact: seven denied schemas
        of eight keywords then make 50 branches and not 8 ** 7."""
        children = []
        before: list[Formula] = []
        for item in items:
            child = self._copy()
            del child.choices[place]
            if child.add((*before, item)):
                children.append(child)
            opposite = negate(item) if isinstance(item, Fact) else None
            if isinstance(opposite, Fact) and len(self.choices) > 1:
                before.append(opposite)
        return children
