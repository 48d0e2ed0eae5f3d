"""The pairs after the named ones, where keys are counted or must meet demands.

A state is how many such pairs were written and which demands are still to be met,
as far as it matters.  A demand on the key alone is met by a key wherever it comes,
and whether it comes twice; one on the value is met by the last pair, where no
repetition of its key can take its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations
from typing import TYPE_CHECKING

from stcon.syntax.json_schema.demands import (
    Met,
    is_about_key,
    witness_texts,
)
from stcon.syntax.json_schema.object_shape import ObjectShape
from stcon.syntax.rules import EMPTY, TICK, Expr, concat, counted, star, union

if TYPE_CHECKING:
    from stcon.syntax.json_schema.writer import Writer

State = tuple[int, Met]


def subsets(places: Met) -> Iterator[Met]:
    """All subsets, small ones first."""
    sizes = range(len(places) + 1)
    chosen = (combinations(sorted(places), size) for size in sizes)
    return map(frozenset, chain.from_iterable(chosen))


class Witnesses:
    """Of one object: the pairs, not named, that meet demands; each made once."""

    def __init__(self, shape: ObjectShape, writer: Writer, depth: int) -> None:
        self._shape = shape
        self._writer = writer
        self._depth = depth
        self._texts: dict[Met, Expr] = {}
        some = enumerate(shape.some)
        self.by_value = frozenset(n for n, fact in some if not is_about_key(fact))

    def of(self, places: Met) -> Expr:
        """The pairs that meet all demands at ``places``."""
        if places not in self._texts:
            facts = [self._shape.some[place] for place in sorted(places)]
            text = witness_texts(self._shape, facts, self._writer, self._depth)
            self._texts[places] = text
        return self._texts[places]

    def enforced(self, missing: Met) -> Met:
        """``missing``; less, by leave, where values of several keys would have to
        meet demands."""
        left = sorted(missing & self.by_value)
        if len(left) < 2:
            return missing
        self._shape.some[left[0]].place.need_leave(
            "several keys that are not named would have to meet demands"
        )
        return missing.difference(left[1:])


class FreeTail:
    """``need`` to ``room`` pairs (None: no bound) that meet the demands
    ``missing``."""

    def __init__(
        self,
        witnesses: Witnesses,
        free: Expr,
        comma: Expr,
        missing: Met,
        need: int,
        room: int | None,
    ) -> None:
        self._witnesses = witnesses
        self._free = free
        self._comma = comma
        self._keys = missing - witnesses.by_value
        self._value = missing & witnesses.by_value
        self._need = need
        self._room = room
        self._cap = max(need, 1) if room is None else room
        self._after: dict[State, Expr] = {}

    @property
    def states(self) -> int:
        """The number of states."""
        return (self._cap + 1) << len(self._keys) if self._keys else 1

    def pairs(self, before: Expr) -> Expr:
        """One pair or more; ``before`` stands before the first."""
        for count in range(self._cap, 0, -1) if self._keys else ():
            for keys in subsets(self._keys):
                self._after[count, keys] = self._rest(count, keys)
        return self._more(0, self._keys, before)

    def _rest(self, count: int, keys: Met) -> Expr:
        """What may follow ``count`` pairs, where ``keys`` are demands to be met."""
        if not keys:
            return self._end(count)
        if self._room is None and count == self._cap:
            again = star(concat(self._comma, self._free))
            return concat(again, self._more(count, keys, self._comma))
        return self._more(count, keys, self._comma)

    def _more(self, count: int, keys: Met, before: Expr) -> Expr:
        """One pair or more after ``count``; at the cap, one that meets a demand."""
        if self._room is not None and count >= self._room:
            return EMPTY
        after = min(count + 1, self._cap)
        ways: list[Expr] = []
        if after > count:
            ways.append(concat(before, self._free, self._follow(after, keys)))
        for met in subsets(keys):
            if met:
                text = self._witnesses.of(met)
                ways.append(concat(before, text, self._follow(after, keys - met)))
        if self._value and self._need - count <= 1:
            ways.append(concat(before, self._witnesses.of(self._value | keys)))
        return union(*ways)

    def _follow(self, count: int, keys: Met) -> Expr:
        return self._after[count, keys] if keys else self._end(count)

    def _end(self, count: int) -> Expr:
        """What may follow where only the value of the last pair is left to do."""
        need = self._need - count
        room = None if self._room is None else self._room - count
        if not self._value:
            return self._several(max(0, need), room)
        if room == 0:
            return EMPTY
        left = None if room is None else room - 1
        between = self._several(max(0, need - 1), left)
        return concat(between, self._comma, self._witnesses.of(self._value))

    def _several(self, least: int, most: int | None) -> Expr:
        """From ``least`` to ``most`` pairs, a comma before each."""
        if least == 0 and most is None:
            return star(concat(self._comma, self._free))
        return counted(star(concat(self._comma, TICK, self._free)), least, most)
