"""Objects whose keys are counted (``minProperties``, ``maxProperties``), or of
which one key must meet a demand (a negated ``additionalProperties`` and such).

A state is how many named pairs are behind, how many keys were written, and which
demands are met, as far as it still matters; one node a state.  A key that is not
named may be repeated, so it counts once towards a minimum.  ``free_tails`` writes
what comes after the named pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stcon.syntax.json_schema.demands import (
    MOVES_PER_SET,
    Met,
    pair_texts,
    too_many_keys,
)
from stcon.syntax.json_schema.free_tails import FreeTail, Witnesses
from stcon.syntax.json_schema.object_shape import ObjectShape
from stcon.syntax.json_schema.pairs import Pair, free_pairs, named_pairs
from stcon.syntax.rules import EMPTY, EPSILON, Expr, concat, union

if TYPE_CHECKING:
    from stcon.syntax.json_schema.writer import Writer

State = tuple[int, Met]


def counted_keys(shape: ObjectShape, writer: Writer, depth: int) -> tuple[bool, Expr]:
    """Whether there may be no key, and the texts of one pair or more."""
    machine = _Machine(shape, writer, depth)
    return machine.can_end(0, frozenset()), machine.first_pairs()


class _Machine:
    def __init__(self, shape: ObjectShape, writer: Writer, depth: int) -> None:
        self._shape = shape
        self._writer = writer
        self._depth = depth
        self._pairs = named_pairs(shape, writer, depth)
        self._free = free_pairs(shape, writer, depth)
        self._all = frozenset(range(len(shape.some)))
        self._comma = writer.layout.comma(depth)
        self._witnesses = Witnesses(shape, writer, depth)
        self._texts_of = {
            id(p): list(pair_texts(shape, p, writer, depth)) for p in self._pairs
        }
        self._cap = shape.least if shape.most is None else shape.most

    def can_end(self, count: int, met: Met) -> bool:
        """Whether the object may end after ``count`` pairs."""
        if any(pair.is_required for pair in self._pairs) and count == 0:
            return False
        return count >= self._shape.least and met == self._all

    def first_pairs(self) -> Expr:
        """One pair or more, no comma before the first."""
        tails = self._tails()
        firsts: list[Expr] = []
        for place, pair in enumerate(self._pairs):
            for text, met in self._texts_of[id(pair)]:
                state = (self._capped(1), met)
                if self._within(1):
                    firsts.append(concat(text, tails[place + 1][state]))
            if pair.is_required:
                return union(*firsts)
        return union(*firsts, self._free_tail(0, frozenset(), EPSILON))

    def _capped(self, count: int) -> int:
        return count if self._shape.most is not None else min(count, self._cap)

    def _within(self, count: int) -> bool:
        return self._shape.most is None or count <= self._shape.most

    def _reached(self) -> list[set[State]]:
        """Per number of named pairs behind, the states that can be."""
        levels: list[set[State]] = [{(0, frozenset())}]
        options, total = self._writer.plan.expander.options, 1
        for pair in self._pairs:
            reached = set() if pair.is_required else set(levels[-1])
            meets = [met for _, met in self._texts_of[id(pair)]]
            if len(meets) * len(levels[-1]) > MOVES_PER_SET * options.max_sets:
                raise too_many_keys(self._shape, options)
            for count, met in levels[-1]:
                if self._within(count + 1):
                    reached |= {(self._capped(count + 1), met | m) for m in meets}
            levels.append(reached)
            options.work(len(reached) * len(meets) // 4)
            total += len(reached)
            if total > options.max_sets:
                raise too_many_keys(self._shape, options)
        return levels

    def _tails(self) -> list[dict[State, Expr]]:
        """Per number of named pairs behind, and state, what may follow."""
        *levels, last = self._reached()
        tails = [{state: self._end(*state) for state in last}]
        for pair, level in zip(reversed(self._pairs), reversed(levels), strict=True):
            texts = self._texts_of[id(pair)]
            tails.append(
                {state: self._tail(state, pair, texts, tails[-1]) for state in level}
            )
        return tails[::-1]

    def _tail(
        self,
        state: State,
        pair: Pair,
        texts: list[tuple[Expr, Met]],
        after: dict[State, Expr],
    ) -> Expr:
        """What may follow ``state`` where ``pair`` is the next named pair."""
        count, met = state
        found = [EMPTY if pair.is_required else after[state]]
        if self._within(count + 1):
            found += [
                concat(self._comma, text, after[self._capped(count + 1), met | meets])
                for text, meets in texts
            ]
        return union(*found)

    def _end(self, count: int, met: Met) -> Expr:
        """What may follow all named pairs, when some pair was written."""
        stop = count >= self._shape.least and met == self._all
        more = self._free_tail(count, met, self._comma)
        return union(EPSILON if stop else EMPTY, more)

    def _free_tail(self, count: int, met: Met, before: Expr) -> Expr:
        """One free pair or more; ``before`` stands before the first."""
        shape = self._shape
        need = shape.least - count
        room = None if shape.most is None else shape.most - count
        if room == 0 or self._free is EMPTY:
            return EMPTY
        if need > 1 and shape.count is not None:
            shape.count.place.need_leave(
                f"{need} of the keys would not be named, and a text may repeat "
                "such a key"
            )
        missing = self._witnesses.enforced(self._all - met)
        tail = FreeTail(self._witnesses, self._free, self._comma, missing, need, room)
        options = self._writer.plan.expander.options
        if tail.states > options.max_sets:
            raise too_many_keys(shape, options)
        options.work(tail.states)
        return tail.pairs(before)
