"""Arrays with ``contains``: a state is how many items there are and how many of
them satisfied each schema, as far as it still matters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

from stcon.syntax.json_schema.arrays import ArrayShape, Contains
from stcon.syntax.json_schema.goals import Goal, goal
from stcon.syntax.rules import EMPTY, EPSILON, Expr, concat, star, union

if TYPE_CHECKING:
    from stcon.syntax.json_schema.writer import Writer

State = tuple[int, tuple[int, ...]]


def item_goals(shape: ArrayShape, index: int) -> Iterator[tuple[Goal, tuple[int, ...]]]:
    """The kinds of item ``index``: a goal, and which of the counted schemas it
    satisfies (1) or not (0)."""
    active = [c for c in shape.contains if c.start <= index]
    for signs in product((1, 0), repeat=len(active)):
        literals = [
            c.literal if sign else -c.literal
            for c, sign in zip(active, signs, strict=True)
        ]
        found = iter(signs)
        hits = tuple(next(found) if c.start <= index else 0 for c in shape.contains)
        yield goal([*shape.at(index), *literals]), hits


def horizon(shape: ArrayShape) -> int:
    """The number of items after which no position is special any more."""
    starts = [c.start for c in shape.contains]
    return max(len(shape.prefix), shape.least, shape.most or 0, *starts)


def counted_items(shape: ArrayShape, writer: Writer, depth: int) -> tuple[bool, Expr]:
    """Whether there may be no item, and the texts of one item or more."""
    machine = _Machine(shape, writer, depth)
    tails = machine.tails()
    first = union(
        *(
            concat(item, tails[after])
            for item, after in machine.moves((0, (0,) * len(shape.contains)))
        )
    )
    return machine.is_complete((0, (0,) * len(shape.contains))), first


class _Machine:
    def __init__(self, shape: ArrayShape, writer: Writer, depth: int) -> None:
        self._shape = shape
        self._writer = writer
        self._depth = depth
        self._horizon = horizon(shape)

    def is_complete(self, state: State) -> bool:
        index, counts = state
        pairs = zip(self._shape.contains, counts, strict=True)
        return index >= self._shape.least and all(n >= c.least for c, n in pairs)

    def moves(self, state: State) -> Iterator[tuple[Expr, State]]:
        """The items that may come next, and where they lead."""
        index, counts = state
        if self._shape.most is not None and index >= self._shape.most:
            return
        for wanted, hits in item_goals(self._shape, index):
            item = self._writer.value(wanted, self._depth)
            pairs = zip(self._shape.contains, counts, hits, strict=True)
            after = tuple(_capped(c, count + hit) for c, count, hit in pairs)
            if item is not EMPTY and -1 not in after:
                yield item, (min(index + 1, self._horizon), after)

    def tails(self) -> dict[State, Expr]:
        """What may follow in each state, from a comma on."""
        moves = self._explore()
        comma = self._writer.layout.comma(self._depth)
        tails: dict[State, Expr] = {}
        for state in sorted(moves, key=lambda s: (s[0], sum(s[1])), reverse=True):
            stay = union(*(item for item, after in moves[state] if after == state))
            leave = [
                concat(comma, item, tails[after])
                for item, after in moves[state]
                if after != state
            ]
            end = EPSILON if self.is_complete(state) else EMPTY
            tails[state] = concat(star(concat(comma, stay)), union(end, *leave))
        return tails

    def _explore(self) -> dict[State, list[tuple[Expr, State]]]:
        start = (0, (0,) * len(self._shape.contains))
        found: dict[State, list[tuple[Expr, State]]] = {}
        options = self._writer.plan.expander.options
        todo = [start]
        while todo:
            state = todo.pop()
            if state not in found:
                found[state] = list(self.moves(state))
                todo.extend(after for _, after in found[state])
                options.work(len(found[state]))
            if len(found) > options.max_sets:
                raise options.too_many_sets(
                    self._shape.contains[0].place,
                    "counting items",
                    "lower minContains, maxContains, minItems or maxItems",
                )
        return found


def _capped(fact: Contains, count: int) -> int:
    """A count as far as it matters; -1 when it is too high."""
    if fact.most is not None:
        return count if count <= fact.most else -1
    return min(count, fact.least)
