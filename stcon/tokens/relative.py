"""Relative configurations: sets of stacks above one stack symbol.

A stack is what has become of the one cell that is being read: elements, deepest
first, and the ticks taken from that cell's window; the empty stack says that the
cell was popped.  Ticks are kept relative to the least in the set, so that the many
places inside a counted string are one configuration; the difference is summed by
the walk.  Windows above the cell count as far as one token can tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from stcon.errors import LimitError
from stcon.machines.lazy import COUNTED_DONE
from stcon.machines.openings import Element, Options, Stack, ends, state_of, ticked
from stcon.machines.pushdown import MAX_STACKS, Pushdown

DEAD = 0

Ticked = tuple[int, Stack]
Relative = frozenset[Ticked]
Bytes = NDArray[np.uint8]
Ids = NDArray[np.int32]


class Relatives:
    """The relative configurations of one machine met so far, by number.

    ``pops[c]``: ticks at which the cell is popped in configuration c;
    ``need[c]``: the fewest ticks to the end of the rule of the cell, -1 where it
    is popped in any case; ``closings[c]``: the pops that take fewer ticks than
    that, so that a token may end with one and not without.
    ``alone[c]``: the standard state that has taken the place of the cell, -1 where
    c is anything else.
    """

    def __init__(self, machine: Pushdown, longest: float) -> None:
        """``longest``: bytes of the longest token; windows are told apart so far."""
        self._machine = machine
        self._states = machine.state
        # the states of standard rules, which are all there are in their own machine
        self._standards = machine.first or machine.state.count
        deepest = max(machine.frames.need.values(), default=0)
        self._enough = longest + deepest + 1
        self._sets: list[Relative] = []
        self._ids: dict[Relative, int] = {}
        self.pops: list[tuple[int, ...]] = []
        self.closings: list[tuple[int, ...]] = []
        self.alone: list[int] = []
        self.need: list[int] = []
        self._live: list[dict[int, tuple[int, int]] | None] = []
        # few configurations are met where many bytes are alive: only they have rows
        self._row_of = np.full(16, -1, np.int32)
        self._next = np.zeros((16, 256), np.int32)
        self._more = np.zeros((16, 256), np.int16)
        self._rows = 0
        self._ticks = False
        self._intern(frozenset())
        self._live[DEAD] = {}

    @property
    def nbytes(self) -> int:
        """Bytes of the tables."""
        return self._next.nbytes + self._more.nbytes + self._row_of.nbytes

    def start(self, state: int) -> int:
        """The configuration of the cell as it is."""
        return self._intern(frozenset([(0, (state,))]))[0]

    def stacks(self, config: int) -> Relative:
        """The set of stacks of a number."""
        return self._sets[config]

    def live(self, config: int) -> dict[int, tuple[int, int]]:
        """Per live byte the configuration that follows, and the ticks taken."""
        known = self._live[config]
        return self._expand(config) if known is None else known

    def after(self, config: Ids, byte: Bytes) -> tuple[Ids, Ids | None]:
        """The configurations that follow, and the ticks taken, None for none."""
        rows = np.take(self._row_of, config)
        if len(rows) and rows.min() < 0:
            missing = np.zeros(len(self._sets), np.bool_)
            missing[config[rows < 0]] = True
            for one in np.flatnonzero(missing).tolist():
                self._make_row(one)
            rows = np.take(self._row_of, config)
        keys = rows * 256 + byte  # int32: 8 million rows would be 8 GB
        found = np.take(self._next.reshape(-1), keys)
        if not self._ticks:
            return found, None
        return found, np.take(self._more.reshape(-1), keys).astype(np.int32)

    def _make_row(self, config: int) -> None:
        if self._rows == len(self._next):
            self._next = np.concatenate([self._next, np.zeros_like(self._next)])
            self._more = np.concatenate([self._more, np.zeros_like(self._more)])
        for byte, (number, more) in self.live(config).items():
            self._next[self._rows, byte], self._more[self._rows, byte] = number, more
            self._ticks = self._ticks or bool(more)
        self._row_of[config] = self._rows
        self._rows += 1

    def _expand(self, config: int) -> dict[int, tuple[int, int]]:
        live: dict[int, tuple[int, int]] = {}
        for values, after in self._steps(self._sets[config]):
            number, more = self._intern(after)
            if number != DEAD:
                for byte in values:
                    live[byte] = number, more
        self._live[config] = live
        return live

    def _steps(
        self, relative: Relative
    ) -> Iterable[tuple[Iterable[int], frozenset[Ticked]]]:
        """(bytes, what the set becomes)."""
        tops = [ticked_stack for ticked_stack in relative if ticked_stack[1]]
        if len(tops) == 1:
            (ticks, stack), groups = tops[0], self._groups(tops[0])
            for values, options in groups:
                yield values, frozenset(self._pushed(ticks, stack, options))
            return
        by_byte: dict[int, list[tuple[int, int]]] = {}
        all_groups = [self._groups(top) for top in tops]
        for one, groups in enumerate(all_groups):
            for two, (values, _) in enumerate(groups):
                for byte in values:
                    by_byte.setdefault(byte, []).append((one, two))
        together: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for byte, keys in by_byte.items():
            together.setdefault(tuple(keys), []).append(byte)
        for chosen, same in together.items():
            found: set[Ticked] = set()
            for one, two in chosen:
                found.update(self._pushed(*tops[one], all_groups[one][two][1]))
            yield same, frozenset(found)

    def _groups(self, top: Ticked) -> tuple[tuple[tuple[int, ...], Options], ...]:
        return self._machine.reading(state_of(top[1][-1])).groups

    def _pushed(self, ticks: int, stack: Stack, options: Options) -> Iterable[Ticked]:
        top, below = stack[-1], stack[:-1]
        for taken, pushed in options:
            if isinstance(top, int):
                # ticks are those of the cell only while its own state is on top
                yield ticks + taken, (*below, *pushed)
                continue
            after = state_of(pushed[0]) if pushed else COUNTED_DONE
            first = ticked(self._states, top, after, taken)
            if first is not None:
                yield ticks, (*below, first, *pushed[1:]) if pushed else below

    def _intern(self, relative: frozenset[Ticked]) -> tuple[int, int]:
        """The number of a set of stacks, closed under pops, and its least ticks."""
        closed = self._closed(relative)
        least = min((ticks for ticks, _ in closed), default=0)
        whole = frozenset((t - least, stack) for t, stack in closed)
        known = self._ids.get(whole)
        if known is None:
            known = self._ids[whole] = len(self._sets)
            self._add(whole)
        return known, least

    def _closed(self, relative: frozenset[Ticked]) -> set[Ticked]:
        closed = {(ticks, self._clamped(stack)) for ticks, stack in relative}
        todo = list(closed)
        while todo:
            ticks, stack = todo.pop()
            if stack and ends(self._states, stack[-1]):
                item = (ticks, stack[:-1])
                if item not in closed:
                    closed.add(item)
                    todo.append(item)
        if len(closed) > MAX_STACKS:
            raise LimitError(
                f"a token can be read in more than {MAX_STACKS} ways",
                what="states",
                limit=MAX_STACKS,
                hint="make the format less ambiguous",
            )
        return closed

    def _clamped(self, stack: Stack) -> Stack:
        if all(isinstance(item, int) for item in stack):
            return stack
        return tuple(map(self._clamp, stack))

    def _clamp(self, item: Element) -> Element:
        if isinstance(item, int):
            return item
        state, least, most = item
        kept = int(min(least, self._enough))
        return state, kept, min(most, self._enough)

    def _add(self, whole: Relative) -> None:
        self._sets.append(whole)
        self._live.append(None)
        self.pops.append(tuple(sorted({t for t, stack in whole if not stack})))
        need = self._need_of(whole)
        self.need.append(need)
        pops = self.pops[-1]
        self.alone.append(self._alone_in(whole))
        self.closings.append(tuple(t for t in pops if need < 0 or t < need))
        if len(self._sets) > len(self._row_of):
            unknown = np.full_like(self._row_of, -1)
            self._row_of = np.concatenate([self._row_of, unknown])

    def _alone_in(self, whole: Relative) -> int:
        if len(whole) != 1:
            return -1
        ((_, stack),) = whole
        if len(stack) != 1 or not isinstance(stack[0], int):
            return -1
        return stack[0] if stack[0] < self._standards else -1

    def _need_of(self, whole: Relative) -> int:
        """The fewest ticks with which the rule of the cell can still end."""
        node = self._states.node
        needs = [
            ticks + node(stack[0]).need if isinstance(stack[0], int) else ticks
            for ticks, stack in whole
            if stack
        ]
        return min(needs, default=-1)
