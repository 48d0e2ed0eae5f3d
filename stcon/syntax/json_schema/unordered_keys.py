"""Objects whose keys come in any order (``key_order="any"``).

A state is the set of named keys already written, the number of other keys as far
as it is counted, and the demands that are met; one node a state.  n named keys
are 2**n sets, and fewer do not tell which of them may still come.  A key that is
not named counts once towards a minimum, because it may be repeated; one whose
value meets a demand is the last such key, where no repetition can take its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from stcon.syntax.json_schema.demands import (
    MOVES_PER_SET,
    Met,
    pair_texts,
    too_many_keys,
)
from stcon.syntax.json_schema.free_tails import Witnesses, subsets
from stcon.syntax.json_schema.object_shape import ObjectShape
from stcon.syntax.json_schema.pairs import Pair, free_pairs, named_pairs
from stcon.syntax.json_schema.presence import assigned, names_of
from stcon.syntax.rules import EMPTY, EPSILON, Expr, concat, star, union

if TYPE_CHECKING:
    from stcon.syntax.json_schema.writer import Writer


class _State(NamedTuple):
    """``named``: bit i says that named pair i was written; ``free``: number of
    other pairs, capped; ``met``: demands; ``closed``: no other pair may come."""

    named: int = 0
    free: int = 0
    met: Met = frozenset()
    closed: bool = False

    def size(self) -> int:
        """A number that grows with every pair, unless the state stays."""
        return self.named.bit_count() + self.free + len(self.met) + self.closed


Moves = list[tuple[Expr, _State]]


def unordered_keys(shape: ObjectShape, writer: Writer, depth: int) -> tuple[bool, Expr]:
    """Whether there may be no key, and the texts of one pair or more."""
    machine = _Machine(shape, writer, depth)
    return machine.is_complete(_State()), machine.first_pairs()


class _Machine:
    def __init__(self, shape: ObjectShape, writer: Writer, depth: int) -> None:
        self._shape = shape
        self._options = writer.plan.expander.options
        self._comma = writer.layout.comma(depth)
        # a required pair that cannot be written leaves no object
        named = named_pairs(shape, writer, depth)
        pairs = [p for p in named if p.is_required or p.text is not EMPTY]
        if 1 << len(pairs) > self._options.max_sets:
            raise too_many_keys(shape, self._options)
        self._texts = [list(pair_texts(shape, p, writer, depth)) for p in pairs]
        self._bits = {pair.name: 1 << n for n, pair in enumerate(pairs)}
        self._required = sum(1 << n for n, p in enumerate(pairs) if p.is_required)
        self._free = free_pairs(shape, writer, depth)
        self._witnesses = Witnesses(shape, writer, depth)
        self._demands = self._enforced_demands(pairs)
        self._credit = self._free_credit()
        self._cap = self._credit if shape.most is None else shape.most

    def _free_credit(self) -> int:
        """How many of the keys that are not named count towards the minimum."""
        shape = self._shape
        needed = shape.least - self._required.bit_count()
        if self._free is EMPTY or needed <= 1:
            return min(shape.least, 1)
        assert shape.count is not None
        shape.count.place.need_leave(
            f"{needed} of the keys would not be named, and a text may repeat such a key"
        )
        return shape.least

    def _enforced_demands(self, pairs: list[Pair]) -> Met:
        """All demands; less, by leave, where values of several keys without a
        name would have to meet them."""
        every = frozenset(range(len(self._shape.some)))
        if self._free is EMPTY:
            return every
        reached: set[Met] = {frozenset()}
        for pair, texts in zip(pairs, self._texts, strict=True):
            more = {met | meets for met in reached for _, meets in texts}
            reached = more if pair.is_required else reached | more
        left = frozenset[int]()
        for met in reached:
            left |= every - self._witnesses.enforced(every - met) - met
        return every - left

    def is_complete(self, state: _State) -> bool:
        """Whether the object may end."""
        if not self._is_present(state.named):
            return False
        count = state.named.bit_count() + min(state.free, self._credit)
        has_required = state.named & self._required == self._required
        return (
            has_required and count >= self._shape.least and state.met >= self._demands
        )

    def _is_present(self, named: int) -> bool:
        """Whether just these named keys may be there together."""
        keys = self._shape.presence
        for name in dict.fromkeys(names_of(keys)):
            keys = assigned(keys, name, bool(named & self._bits.get(name, 0)))
        return keys is True

    def first_pairs(self) -> Expr:
        """One pair or more, no comma before the first."""
        moves = self._explore()
        tails: dict[_State, Expr] = {}
        for state in sorted(moves, key=_State.size, reverse=True):
            stay = [concat(self._comma, t) for t, s in moves[state] if s == state]
            leave = self._pairs(moves[state], tails)
            end = EPSILON if self.is_complete(state) else EMPTY
            rest = union(end, concat(self._comma, leave))
            tails[state] = concat(star(union(*stay)), rest)
        return self._pairs(moves[_State()], tails)

    @staticmethod
    def _pairs(moves: Moves, tails: dict[_State, Expr]) -> Expr:
        """One pair, and what may follow it."""
        return union(*(concat(t, tails[s]) for t, s in moves if s in tails))

    def _explore(self) -> dict[_State, Moves]:
        start = _State()
        found: dict[_State, Moves] = {}
        todo = [start]
        moves = 0
        while todo:
            state = todo.pop()
            if state in found:
                continue
            if len(found) >= self._options.max_sets:
                raise too_many_keys(self._shape, self._options)
            found[state] = list(self._moves(state))
            moves += len(found[state])
            if moves > MOVES_PER_SET * self._options.max_sets:
                raise too_many_keys(self._shape, self._options)
            self._options.work(1 + len(found[state]) // 2)
            todo.extend(after for _, after in found[state])
        return found

    def _moves(self, state: _State) -> Iterator[tuple[Expr, _State]]:
        """The pairs that may come next, and where each leads."""
        named, free, met, closed = state
        most = self._shape.most
        if most is not None and named.bit_count() + free >= most:
            return
        for place, texts in enumerate(self._texts):
            if not named >> place & 1:
                for text, meets in texts:
                    after = met | (meets & self._demands)
                    yield text, _State(named | 1 << place, free, after, closed)
        if closed:
            return
        free = min(free + 1, self._cap)
        yield self._free, _State(named, free, met)
        missing = self._demands - met
        for keys in subsets(missing - self._witnesses.by_value):
            if keys:
                yield self._witnesses.of(keys), _State(named, free, met | keys)
            for value in sorted(missing & self._witnesses.by_value):
                done = keys | {value}
                yield self._witnesses.of(done), _State(named, free, met | done, True)
