"""A goal to the shapes of the values that reach it: disjunctive normal form.

Assertions of JSON Schema speak of one JSON type each and are void for the
others, so every kind is expanded for itself.  A branch collects what must hold
(unit propagation first); a choice splits it.  Two things keep the number of
branches small: once a branch has finitely many values, everything else is
evaluated on them, and a negated schema that contradicts what is known is
dropped (the other tags of a tagged union).
"""

from __future__ import annotations

from collections.abc import Iterator

from stcon.errors import LimitError
from stcon.syntax.json_schema.arrays import ArrayShape, merge_arrays
from stcon.syntax.json_schema.branches import Branch
from stcon.syntax.json_schema.constants import Constants
from stcon.syntax.json_schema.document import Document, Unenforceable
from stcon.syntax.json_schema.evaluate import Judge
from stcon.syntax.json_schema.formula import Fact, Formula, TypeIn
from stcon.syntax.json_schema.goals import ANYTHING, NOTHING, Goal
from stcon.syntax.json_schema.numbers import NumberShape, merge_numbers
from stcon.syntax.json_schema.object_shape import (
    ObjectShape,
    can_be_object,
    merge_objects,
)
from stcon.syntax.json_schema.options import Options
from stcon.syntax.json_schema.presence import Presences
from stcon.syntax.json_schema.signatures import Signatures
from stcon.syntax.json_schema.strings import StringShape, merge_strings
from stcon.syntax.json_schema.values import ARRAY, KINDS, NUMBER, OBJECT, STRING

Shape = Constants | StringShape | NumberShape | ArrayShape | ObjectShape

MAX_ALTERNATIVES = 4096
# Formulas looked at; about 6 microseconds each.
MAX_STEPS = 800_000
_MAX_LOOKAHEAD = 8
_APART = (
    "write alternatives that exclude each other by a const or a type, or close "
    "objects with additionalProperties: false"
)


class Expander:
    """Shapes of goals of one document, each found once."""

    def __init__(self, document: Document, options: Options | None = None) -> None:
        self.document = document
        self.options = options or Options()
        self.judge = Judge(document, self.options.work, self._pointer)
        self._at: Goal = ANYTHING
        self.signatures = Signatures(document)
        self.presences = Presences(document)
        self._shapes: dict[tuple[frozenset[int], str], tuple[Shape, ...]] = {}
        self._empty: dict[frozenset[int], bool] = {}
        self._exclude: dict[tuple[int, int, str], bool] = {}
        self._depth = 0
        self._steps = 0
        self._blamed: Formula | None = None
        self._blame_of: dict[tuple[frozenset[int], str], Formula | None] = {}

    def all_shapes(self, wanted: Goal) -> list[Shape]:
        """The shapes of every kind of the values that reach ``wanted``."""
        return [shape for kind in KINDS for shape in self.shapes(wanted, kind)]

    def shapes(self, wanted: Goal, kind: str) -> tuple[Shape, ...]:
        """The shapes of the values of ``kind`` that reach ``wanted``."""
        key = (frozenset(wanted), kind)
        if key not in self._shapes:
            self._blamed = None
            outer, self._at = self._at, wanted
            self._shapes[key] = tuple(self._expand(wanted, kind))
            self._at = outer
            if not self._shapes[key]:
                self._blame_of[key] = self._blamed
        return self._shapes[key]

    def blamed(self, wanted: Goal) -> Formula | None:
        """What ended the last branch of a goal that has no shapes; a fact rather
        than a type where there is the choice."""
        found = [self._blame_of.get((frozenset(wanted), kind)) for kind in KINDS]
        facts: list[Formula] = [f for f in found if isinstance(f, Fact)]
        types: list[Formula] = [f for f in found if isinstance(f, TypeIn)]
        return next(iter(facts + types), None)

    def _expand(self, wanted: Goal, kind: str) -> Iterator[Shape]:
        if wanted == NOTHING:
            return
        first = Branch(kind, self)
        stack = [first] if first.add(self._in_order(wanted)) else []
        made = 0
        while stack:
            branch = stack.pop()
            made += 1
            if made > MAX_ALTERNATIVES:
                raise LimitError(
                    f"{self._pointer()}: its anyOf, oneOf, if and not combine in more "
                    f"than {MAX_ALTERNATIVES:,} ways",
                    what="states",
                    limit=MAX_ALTERNATIVES,
                    hint=_APART,
                )
            split = branch.split()
            if split is None:
                shape = self.merge(branch)
                if shape is not None:
                    yield shape
            else:
                stack.extend(reversed(split))

    def merge(self, branch: Branch) -> Shape | None:
        """The shape of what a branch has collected; None when nothing has it."""
        if branch.values is not None:
            return Constants(tuple(branch.values)) if branch.values else None
        facts = [f for f in branch.facts if not isinstance(f, Unenforceable)]
        shape = self.merge_facts(branch.kind, facts)
        if shape is None:
            self.blame(branch.facts[-1] if branch.facts else 1)
        elif len(facts) < len(branch.facts):
            raise next(f for f in branch.facts if isinstance(f, Unenforceable)).error()
        return shape

    def merge_facts(self, kind: str, facts: list[Fact]) -> Shape | None:
        """The shape of values of ``kind`` with all ``facts``."""
        if kind == STRING:
            return merge_strings(facts)
        if kind == NUMBER:
            return merge_numbers(facts)
        if kind == ARRAY:
            return merge_arrays(facts)
        return merge_objects(facts, self)

    def can_be(self, kind: str, facts: list[Fact]) -> bool:
        """Whether ``merge_facts`` gives a shape."""
        if kind == OBJECT:
            return can_be_object(facts, self)
        return self.merge_facts(kind, facts) is not None

    def is_surely_empty(self, wanted: Goal) -> bool:
        """Whether a quick look shows that no value reaches ``wanted``.  False
        promises nothing."""
        key = frozenset(wanted)
        known = self._empty.get(key)
        if known is None:
            if self._depth >= _MAX_LOOKAHEAD:
                return False
            self._depth += 1
            self._empty[key] = False
            known = not any(self._may_be(wanted, kind) for kind in KINDS)
            self._depth -= 1
            self._empty[key] = known
        return known

    def exclude(self, one: int, other: int, kind: str) -> bool:
        """Whether a quick look shows that no value of ``kind`` satisfies both
        literals."""
        key = (min(one, other), max(one, other), kind)
        known = self._exclude.get(key)
        if known is None:
            if self._depth >= _MAX_LOOKAHEAD:
                return False
            self._depth += 1
            self._exclude[key] = False
            known = self._exclude[key] = not self._may_be((one, other), kind)
            self._depth -= 1
        return known

    def spend(self, steps: int) -> None:
        """Counts work; raises LimitError when it is too much altogether."""
        self._steps += steps
        self.options.work(steps)
        if self._steps > MAX_STEPS:
            raise LimitError(
                f"{self._pointer()}: anyOf, oneOf, if and not combine in more than "
                f"{MAX_STEPS:,} steps in all, the last of them here",
                what="states",
                limit=MAX_STEPS,
                hint=_APART,
            )

    def _pointer(self) -> str:
        """The pointer of the goal that is expanded."""
        known = [literal for literal in self._at if abs(literal) > 1]
        return self.document.schemas[abs(known[0])].pointer if known else "#"

    def blame(self, formula: Formula) -> None:
        """Notes what ended a branch, for the error when all branches end."""
        self._blamed = formula

    def _may_be(self, wanted: Goal, kind: str) -> bool:
        branch = Branch(kind, self)
        return branch.add(self._in_order(wanted)) and branch.is_consistent()

    def _in_order(self, wanted: Goal) -> Goal:
        """The literals of a goal, those with few constants first: the others are
        then tests of those."""
        if len(wanted) < 2:
            return wanted
        return tuple(sorted(wanted, key=self._count))

    def _count(self, literal: int) -> int:
        """How many constants a schema has, as far as is plain."""
        constants = self.signatures.constants(literal)
        return MAX_STEPS if constants is None else len(constants)
