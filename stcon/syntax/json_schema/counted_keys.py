"""Objects whose keys are counted (``minProperties``, ``maxProperties``), of which
some may only be there together (``dependentRequired``, say), or of which one must
meet a demand (a negated ``additionalProperties`` and such).

A state is how many named pairs are behind, how many keys were written, which demands
are met, and what must still be so of keys, as far as it matters; one node a state.
A key that is not named may be repeated, so it counts once towards a minimum.
``free_tails`` writes what comes after the named pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from stcon.syntax.json_schema.demands import (
    MOVES_PER_SET,
    NODES_PER_SET,
    Met,
    pair_texts,
    too_many_keys,
)
from stcon.syntax.json_schema.free_tails import FreeTail, Witnesses
from stcon.syntax.json_schema.object_shape import ObjectShape
from stcon.syntax.json_schema.pairs import Pair, free_pairs, named_pairs
from stcon.syntax.json_schema.presence import Keys, assigned
from stcon.syntax.rules import EMPTY, EPSILON, Expr, concat, either, union

if TYPE_CHECKING:
    from stcon.syntax.json_schema.writer import Writer


class State(NamedTuple):
    """``size`` keys were written, the demands ``met``; ``left``: what must still be
    so of the named keys to come."""

    size: int
    met: Met
    left: Keys


def counted_keys(shape: ObjectShape, writer: Writer, depth: int) -> tuple[bool, Expr]:
    """Whether there may be no key, and the texts of one pair or more."""
    machine = _Machine(shape, writer, depth)
    return machine.can_be_empty(), machine.first_pairs()


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

    def can_be_empty(self) -> bool:
        """Whether the object may end before any pair."""
        state = State(0, frozenset(), self._shape.presence)
        for pair in self._pairs:
            left = assigned(state.left, pair.name, False)
            state = state._replace(left=False if pair.is_required else left)
        return self._can_end(state)

    def _can_end(self, state: State) -> bool:
        """Whether the object may end after all named pairs."""
        is_enough = state.size >= self._shape.least and state.met == self._all
        return is_enough and state.left is True

    def first_pairs(self) -> Expr:
        """One pair or more, no comma before the first."""
        tails = self._tails()
        firsts: list[Expr] = []
        state = State(0, frozenset(), self._shape.presence)
        for pair, after in zip(self._pairs, tails[1:], strict=True):
            firsts += [concat(text, after[to]) for text, to in self._with(state, pair)]
            without = self._without(state, pair)
            if without is None:
                return union(*firsts)
            state = without
        return union(*firsts, self._free_tail(state, EPSILON))

    def _without(self, state: State, pair: Pair) -> State | None:
        """The state after leaving out the next pair; None when that cannot be."""
        left = assigned(state.left, pair.name, False)
        if pair.is_required or left is False:
            return None
        return state._replace(left=left)

    def _with(self, state: State, pair: Pair) -> list[tuple[Expr, State]]:
        """The texts of the next pair, and the state after each."""
        count = state.size + 1
        left = assigned(state.left, pair.name, True)
        if left is False or (self._shape.most is not None and count > self._cap):
            return []
        count = min(count, self._cap)
        return [
            (text, State(count, state.met | met, left))
            for text, met in self._texts_of[id(pair)]
            if text is not EMPTY
        ]

    def _reached(self) -> list[dict[State, None]]:
        """Per number of named pairs behind, the states that can be."""
        levels = [{State(0, frozenset(), self._shape.presence): None}]
        options, total = self._writer.plan.expander.options, 1
        sets: set[State] = set()
        for pair in self._pairs:
            moves = len(self._texts_of[id(pair)]) * len(levels[-1])
            if moves > MOVES_PER_SET * options.max_sets:
                raise too_many_keys(self._shape, options)
            options.work(1 + moves // 2)
            reached: dict[State, None] = {}
            for state in levels[-1]:
                without = self._without(state, pair)
                if without is not None:
                    reached[without] = None
                reached.update((to, None) for _, to in self._with(state, pair))
            levels.append(reached)
            total += len(reached)
            sets.update(reached)
            if len(sets) > options.max_sets or total > NODES_PER_SET * options.max_sets:
                raise too_many_keys(self._shape, options)
        return levels

    def _tails(self) -> list[dict[State, Expr]]:
        """Per number of named pairs behind, and state, what may follow."""
        *levels, last = self._reached()
        tails = [{state: self._end(state) for state in last}]
        for pair, level in zip(reversed(self._pairs), reversed(levels), strict=True):
            after = tails[-1]
            tails.append({state: self._tail(state, pair, after) for state in level})
        return tails[::-1]

    def _tail(self, state: State, pair: Pair, after: dict[State, Expr]) -> Expr:
        """What may follow ``state`` where ``pair`` is the next named pair."""
        without = self._without(state, pair)
        ways = [concat(text, after[to]) for text, to in self._with(state, pair)]
        written = concat(self._comma, union(*ways))
        return either(written, EMPTY if without is None else after[without])

    def _end(self, state: State) -> Expr:
        """What may follow all named pairs, when some pair was written."""
        stop = EPSILON if self._can_end(state) else EMPTY
        return union(stop, self._free_tail(state, self._comma))

    def _free_tail(self, state: State, before: Expr) -> Expr:
        """One free pair or more; ``before`` stands before the first."""
        shape = self._shape
        need = shape.least - state.size
        room = None if shape.most is None else shape.most - state.size
        if room == 0 or self._free is EMPTY or state.left is not True:
            return EMPTY
        if need > 1 and shape.count is not None:
            shape.count.place.need_leave(
                f"{need} of the keys would not be named, and a text may repeat "
                "such a key"
            )
        missing = self._witnesses.enforced(self._all - state.met)
        tail = FreeTail(self._witnesses, self._free, self._comma, missing, need, room)
        options = self._writer.plan.expander.options
        if tail.states > options.max_sets:
            raise too_many_keys(shape, options)
        options.work(tail.states)
        return tail.pairs(before)
