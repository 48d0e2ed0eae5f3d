"""Demands: facts that some key of an object must meet.

A negated ``additionalProperties`` says that some key's value is wrong.  A named
pair can be written to meet a demand, with a narrower goal for its value, or
whatever it is; a pair that is not named is a *witness* of one demand.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations
from typing import TYPE_CHECKING

from stcon.errors import LimitError
from stcon.syntax.json_schema.document import TRUE_LITERAL
from stcon.syntax.json_schema.goals import Goal, goal
from stcon.syntax.json_schema.object_shape import FreeKeys, ObjectShape
from stcon.syntax.json_schema.objects import Matching, Others, SomeName, SomeValue
from stcon.syntax.json_schema.options import Options
from stcon.syntax.json_schema.pairs import Pair, free_key, named_pair
from stcon.syntax.rules import Expr, concat, union

if TYPE_CHECKING:
    from stcon.syntax.json_schema.alternatives import Expander
    from stcon.syntax.json_schema.writer import Writer

Met = frozenset[int]


def demanded_goals(shape: ObjectShape, expander: Expander) -> Iterator[Goal]:
    """The goals of values that are to meet demands, beside the plain ones."""
    for name, wanted in shape.names.items():
        yield from (value for value, _ in ways(shape, name, wanted, expander))
    for fact in shape.some:
        for free in shape.free:
            value = _witness_goal(fact, free)
            if value is not None:
                yield value


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


def _witness_goal(fact: SomeValue | SomeName, free: FreeKeys) -> Goal | None:
    """The goal of the value of a key of ``free`` that meets ``fact``; None when
    such a key cannot."""
    if isinstance(fact, SomeName):
        return free.value
    return goal([*free.value, fact.literal]) if _cases(fact, free) else None


def _cases(fact: SomeValue, free: FreeKeys) -> FreeKeys | None:
    """The keys of ``free`` of which ``fact`` speaks."""
    keys = fact.keys
    if isinstance(keys, Matching):
        kept = [case for case in free.cases if keys.pattern in case[0]]
    else:
        assert isinstance(keys, Others)
        kept = [c for c in free.cases if not any(p in c[0] for p in keys.patterns)]
    return FreeKeys(tuple(kept), free.value) if kept else None


def pair_texts(
    shape: ObjectShape, pair: Pair, writer: Writer, depth: int
) -> Iterator[tuple[Expr, Met]]:
    """The texts of a named pair, with the demands each meets."""
    for wanted, met in ways(shape, pair.name, pair.value, writer.plan.expander):
        yield named_pair(pair.name, writer.value(wanted, depth), writer), met


def witness_texts(
    shape: ObjectShape, fact: SomeValue | SomeName, writer: Writer, depth: int
) -> Expr:
    """The pairs, not named, that meet ``fact``."""
    found: list[Expr] = []
    for free in shape.free:
        wanted = _witness_goal(fact, free)
        if wanted is None:
            continue
        value = writer.value(wanted, depth)
        if isinstance(fact, SomeName):
            key = free_key(shape, free, writer, (fact.literal,))
        else:
            kept = _cases(fact, free)
            assert kept is not None
            key = free_key(shape, kept, writer)
        found.append(concat(key, writer.layout.colon, value))
    return union(*found)
