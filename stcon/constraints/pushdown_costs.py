"""Costs for a pushdown: what one certain text to the end takes, in tokens.

The text of a stack is the cheapest of the state on top, then that of each state
below, and so on.  Whatever way it is cut into tokens, each of them is allowed; so it
costs the fewest tokens of all ways, over the ends of rules too (``":"``, ``"}]``).
That is sound, and mostly the truth: a cheaper end would be another text.
Source: few-paths paper, Proposition 2, which counts bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stcon.constraints.costs import Costs
from stcon.errors import LimitError
from stcon.machines.edges import Measure
from stcon.machines.lazy import DEAD
from stcon.machines.openings import ticked
from stcon.machines.shortest import Shortest
from stcon.tokens.fewest import NEVER, Text
from stcon.tokens.finishes import Finish, Finishes, Way

if TYPE_CHECKING:
    from stcon.constraints.constraint import State
    from stcon.machines.frames import Window
    from stcon.machines.pushdown import Cell, Pushdown
    from stcon.tokens.transducer import Transducer
    from stcon.tokens.vocabulary import Vocabulary

_LONG = 4096
"""Tokens; the text of a state that takes more is not cut anew where it is met."""
_MOST_KEPT = 1 << 14
_FEW_STATES = 64


@dataclass(eq=False, slots=True)
class _Tail:
    """A text to the end as far as it is cut anew, and the fewest tokens from each of
    its places on, [len(text) + 1].  ``latest``: the text that was put before it last;
    the next one mostly ends as that did."""

    text: Text
    counts: list[int]
    latest: _Tail | None = None


class PushdownCosts(Costs):
    """See Costs; states are configurations, DEAD and END."""

    is_exact = False

    def __init__(
        self,
        machine: Pushdown,
        vocabulary: Vocabulary,
        masks: Transducer,
        reads: Callable[[State], list[tuple[int, Cell]]],
    ) -> None:
        """``masks``, ``reads``: the transducer of the masks, and the pairs (P, cell)
        that it meets while it reads the stacks from the top."""
        shared = vocabulary.finishes(machine.standard) if machine.standard else None
        self._machine = machine
        self._reads = reads
        self._vocabulary = vocabulary
        self._fewest = vocabulary.fewest
        single = np.flatnonzero(vocabulary.byte_tokens >= 0).tolist()
        usable = sum(1 << byte for byte in single)
        measure = Measure(self._fewest.of, usable)
        self._texts = Shortest(machine.state, measure=measure)
        self._finishes = Finishes(machine, masks, shared)
        self._end = _Tail((), [0])
        self._measures: dict[tuple[int, Window | None], int] = {}
        self._sums: dict[Cell, int] = {}
        self._tails: dict[Cell, _Tail] = {}
        self._after: dict[tuple[int, Cell], NDArray[np.int64]] = {}
        self._dearest: dict[tuple[int, int, Window | None], int] = {}
        self._plain: dict[int, int | None] = {}

    def least(self, state: State) -> int:
        """See Costs."""
        if not isinstance(state, frozenset):
            return 0
        return min(self._tail(cell).counts[0] for cell in state)

    def most(self, state: State) -> int:
        """See Costs; the texts of the states of a stack added up, not cut anew."""
        if not isinstance(state, frozenset):
            return 0
        return min(map(self._sum, state))

    def text(self, state: State) -> bytes:
        """See Costs."""
        if not isinstance(state, frozenset):
            return b""
        plan = self.plan(state)
        return self._fewest.spelled(plan, self._fewest.counts(plan))

    def plan(self, state: State) -> Text:
        """See Costs."""
        if not isinstance(state, frozenset):
            return ()
        options = ((self._tail(cell).counts[0], self._written(cell)) for cell in state)
        return min(options)[1]

    def is_roomy(self, state: State, left: int) -> bool:
        """See Costs; what is pushed and what is below is added up, not cut anew."""
        for pending, cell in self._reads(state):
            symbol, below, _, window = cell
            dearest = self._plain_of(symbol, window)
            if dearest is None:
                dearest = self._dearest_of(pending, symbol, window)
            if dearest < 0 or dearest + self._sum(below) < left:
                continue
            if dearest + self._tail(below).counts[0] >= left:
                return False
        return True

    def allowed(self, state: State, left: int) -> NDArray[np.bool_]:
        """See Costs."""
        row = np.zeros(self._vocabulary.size, np.bool_)
        for pending, cell in self._reads(state):
            finish = self._finishes.of(pending, cell[0])
            fits = self._costs_after(pending, finish, cell) < left
            row[finish.tokens[fits[finish.way]]] = True
        is_complete = not isinstance(state, frozenset)
        is_complete = is_complete or self._machine.is_complete(state)
        row[list(self._vocabulary.eos_ids)] = is_complete
        return row

    def _costs_after(
        self, pending: int, finish: Finish, cell: Cell
    ) -> NDArray[np.int64]:
        """int64 [ways]: what it costs to finish after a token of each way."""
        known = self._after.get((pending, cell))
        if known is None:
            below = self._tail(cell[1])
            costs = [
                min(
                    (self._onto(stack, below) for stack in self._valid(way, cell[3])),
                    default=2 * NEVER,
                )
                for way in finish.ways
            ]
            known = np.array(costs, np.int64)
            if len(self._after) >= _MOST_KEPT:
                self._after.clear()
            self._after[pending, cell] = known
        return known

    def _dearest_of(self, pending: int, symbol: int, window: Window | None) -> int:
        """The most that anything a token makes of ``symbol`` costs; -1 if no token
        is read there."""
        key = (pending, symbol, window)
        known = self._dearest.get(key)
        if known is None:
            known = max(
                (
                    sum(self._measure(*item) for item in stack)
                    for way in self._finishes.of(pending, symbol).ways
                    for stack in self._valid(way, window)
                ),
                default=-1,
            )
            if len(self._dearest) >= _MOST_KEPT:
                self._dearest.clear()
            self._dearest[key] = known
        return known

    def _plain_of(self, symbol: int, window: Window | None) -> int | None:
        """The most that ``symbol`` costs whatever is read, where nothing is called
        and few states follow, as in free text: no token need be looked at.  None
        elsewhere, and where a count must still be reached."""
        if window is not None and window[0] > 0:
            return None
        if symbol not in self._plain:
            self._plain[symbol] = self._most_of(symbol, window is not None)
        return self._plain[symbol]

    def _most_of(self, symbol: int, is_counted: bool) -> int | None:
        states = self._machine.state
        todo, seen = [symbol], {symbol}
        most = 0
        for state in todo:
            node = states.node(state)
            if node.calls or len(todo) > _FEW_STATES:
                return None
            most = max(
                most, self._measure(state, (0, math.inf) if is_counted else None)
            )
            if is_counted:
                most = max(most, self._measure(state, (0, node.need)))
            after = {to for _, to in states.moves(state)} | {node.tick}
            todo += sorted(after - seen - {DEAD})
            seen |= after
        return most

    def _valid(
        self, way: Way, window: Window | None
    ) -> Iterator[list[tuple[int, Window | None]]]:
        """The stacks of a way that fit the window of the symbol, deepest first."""
        for ticks, stack in way:
            whole = [_with_window(item) for item in stack]
            if window is None:
                yield whole
            elif not stack:
                if window[0] <= ticks <= window[1]:
                    yield whole
            else:
                base = (whole[0][0], *window)
                moved = ticked(self._machine.state, base, whole[0][0], ticks)
                if moved is not None and not isinstance(moved, int):
                    yield [(moved[0], moved[1:]), *whole[1:]]

    def _onto(self, stack: list[tuple[int, Window | None]], below: _Tail) -> int:
        """What it costs to finish ``stack`` above what is below."""
        for item in stack:
            below = self._put(*item, below)
        return below.counts[0]

    def _tail(self, cell: Cell | None) -> _Tail:
        if cell is None:
            return self._end
        known = self._tails.get(cell)
        if known is None:
            known = self._put(cell[0], cell[3], self._tail(cell[1]))
            if len(self._tails) >= _MOST_KEPT:
                self._tails.clear()
            self._tails[cell] = known
        return known

    def _put(self, state: int, window: Window | None, below: _Tail) -> _Tail:
        """``below`` with the text of a state before it."""
        tokens = self._measure(state, window)
        if tokens > _LONG:
            return _Tail((), [tokens + below.counts[0]])
        text = self._texts.choices(state, window)
        if not text:
            return below
        whole, last = text + below.text, below.latest or below
        same = _common_end(whole, last.text)
        head, rest = whole[: len(whole) - same], whole[len(whole) - same :]
        counts = last.counts[len(last.text) - same :]
        tail = _Tail(whole, self._fewest.extended(head, rest, counts))
        below.latest = tail
        return tail

    def _measure(self, state: int, window: Window | None) -> int:
        """What the text of a state takes alone."""
        key = (state, window)
        known = self._measures.get(key)
        if known is None:
            try:
                known = self._texts.measured(state, window)
            except LimitError:
                known = NEVER
            if len(self._measures) >= _MOST_KEPT:
                self._measures.clear()
            self._measures[key] = known
        return known

    def _sum(self, cell: Cell | None) -> int:
        """What the texts of the states of a stack take, each alone."""
        if cell is None:
            return 0
        known = self._sums.get(cell)
        if known is None:
            known = self._measure(cell[0], cell[3]) + self._sum(cell[1])
            if len(self._sums) >= _MOST_KEPT:
                self._sums.clear()
            self._sums[cell] = known
        return known

    def _written(self, cell: Cell) -> Text:
        """The text of a stack."""
        tail = self._tail(cell)
        if tail.counts[-1] == 0:
            self._fewest.keep(tail.text, tail.counts)
            return tail.text
        found: list[bytes] = []
        at: Cell | None = cell
        while at is not None:
            state, at, _, window = at
            found += self._texts.choices(state, window)
        return tuple(found)


def _with_window(item: int | tuple[int, int, float]) -> tuple[int, Window | None]:
    return (item, None) if isinstance(item, int) else (item[0], item[1:])


def _common_end(one: Text, two: Text) -> int:
    """How many places at the end are the same."""
    most = min(len(one), len(two))
    for same in range(most):
        if one[-1 - same] != two[-1 - same]:
            return same
    return most
