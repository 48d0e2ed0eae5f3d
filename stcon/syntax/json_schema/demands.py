"""Demands: facts that some key of an object must meet.

A negated ``additionalProperties`` says that some key's value is wrong.  A named
pair can be written to meet a demand, with a narrower goal for its value, or
whatever it is; a pair that is not named is a *witness* of one demand or several.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations
from typing import TYPE_CHECKING

from stcon.errors import LimitError
from stcon.syntax.json_schema.document import TRUE_LITERAL
from stcon.syntax.json_schema.goals import Goal, goal
from stcon.syntax.json_schema.object_shape import Case, FreeKeys, ObjectShape
from stcon.syntax.json_schema.objects import Matching, Others, SomeName, SomeValue
from stcon.syntax.json_schema.options import Options
from stcon.syntax.json_schema.pairs import Pair, free_key
from stcon.syntax.rules import Expr, concat, union

if TYPE_CHECKING:
    from stcon.syntax.json_schema.alternatives import Expander
    from stcon.syntax.json_schema.writer import Writer

Met = frozenset[int]

# Twelve keys in any order take six moves for each set of them.
MOVES_PER_SET = 64
# A set that lasts is a node for each key it lasts for.
NODES_PER_SET = 16


def demanded_goals(shape: ObjectShape, expander: Expander) -> Iterator[Goal]:
    """The goals of values that are to meet demands, beside the plain ones."""
    for name, wanted in shape.names.items():
        yield from (value for value, _ in ways(shape, name, wanted, expander))
    for fact in shape.some:
        for free in shape.free:
            kept = _witness([fact], free)
            if kept is not None:
                yield kept.value


def too_many_keys(shape: ObjectShape, options: Options) -> LimitError:
    """The error of an object that has too many states."""
    assert shape.place is not None
    hint = "use fewer keys, or drop minProperties, maxProperties or not"
    if options.any_order:
        hint = 'use fewer keys, or key_order="declared"'
    what = f"keeping account of {len(shape.names)} keys"
    return options.too_many_sets(shape.place, what, hint)


def ways(
    shape: ObjectShape, name: str, wanted: Goal, expander: Expander
) -> Iterator[tuple[Goal, Met]]:
    """The ways a named pair can be written: the goal of its value, and the
    demands it is taken to meet."""
    met: set[int] = set()
    by_value: list[int] = []
    for place, fact in enumerate(shape.some):
        if isinstance(fact, SomeName):
            if expander.judge.holds(fact.literal, name):
                met.add(place)
        elif fact.keys.has(name, expander.judge):
            if fact.literal == TRUE_LITERAL or fact.literal in wanted:
                met.add(place)
            else:
                by_value.append(place)
    if 1 << len(by_value) > expander.options.max_sets:
        raise too_many_keys(shape, expander.options)
    sizes = range(len(by_value) + 1)
    for chosen in chain(*(combinations(by_value, size) for size in sizes)):
        literals = [shape.some[place].literal for place in chosen]
        yield goal([*wanted, *literals]), frozenset(met | set(chosen))


def is_about_key(fact: SomeValue | SomeName) -> bool:
    """Whether a demand speaks of the key alone, whatever its value."""
    return isinstance(fact, SomeName) or fact.literal == TRUE_LITERAL


def _witness(facts: list[SomeValue | SomeName], free: FreeKeys) -> FreeKeys | None:
    """The keys of ``free`` of which all ``facts`` speak, and the goal of their
    values; None when there are none.  What ``SomeName`` asks is left out."""
    cases, literals = free.cases, list(free.value)
    for fact in facts:
        if isinstance(fact, SomeValue):
            cases = tuple(case for case in cases if _speaks_of(fact, case))
            literals.append(fact.literal)
    return FreeKeys(cases, goal(literals)) if cases else None


def _speaks_of(fact: SomeValue, case: Case) -> bool:
    """Whether a demand speaks of keys that match just the patterns of a case."""
    if isinstance(fact.keys, Matching):
        return fact.keys.pattern in case[0]
    assert isinstance(fact.keys, Others)
    return not any(pattern in case[0] for pattern in fact.keys.patterns)


def pair_texts(
    shape: ObjectShape, pair: Pair, writer: Writer, depth: int
) -> Iterator[tuple[Expr, Met]]:
    """The texts of a named pair, with the demands each meets."""
    for wanted, met in ways(shape, pair.name, pair.value, writer.plan.expander):
        yield writer.named_pair(pair.name, writer.value(wanted, depth)), met


def witness_texts(
    shape: ObjectShape, facts: list[SomeValue | SomeName], writer: Writer, depth: int
) -> Expr:
    """The pairs, not named, that meet all ``facts``."""
    more = goal(fact.literal for fact in facts if isinstance(fact, SomeName))
    found: list[Expr] = []
    for free in shape.free:
        kept = _witness(facts, free)
        if kept is not None:
            key = free_key(shape, kept, writer, more)
            value = writer.value(kept.value, depth)
            found.append(concat(key, writer.layout.colon, value))
    return union(*found)
