"""A pushdown as arrays for a device: a byte is a few loads and no allocation.

Where a text can be read in one way only, a configuration is one stack, and fits a
device: a pointer and ``depth`` entries of (state, ticks still to come at least, at
most).  A byte replaces the top entry by a few others (``options``), or lays open
the one below.  Which is known from the top alone if no state that may end its rule
reads a byte that something below it reads as well; that is looked at once, for
every pair of states that can be neighbours on a stack.
Source: few-paths paper, mechanism 5 and D.4; ticks are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stcon.errors import StconError
from stcon.machines.frames import Window
from stcon.machines.lazy import COUNTED_DONE, DEAD, DONE
from stcon.machines.limits import Meter
from stcon.machines.openings import Element, Options, settled, state_of
from stcon.machines.pushdown import Pushdown

Ids = NDArray[np.int32]

NOT_COUNTED = -1
ENDLESS = (1 << 31) - 1
"""Stands for every number of ticks from here on: no output is that long."""


class NotDeterministic(StconError):
    """A text of the format may be read in several ways at once."""


@dataclass(frozen=True)
class DeviceTables:
    """``byte_class``: uint8 [256].  ``option``: int32 [states, classes], the
    number of what a byte makes of a state on top; 0 for nothing.
    ``ticks``: int32 [options], taken from the window of the entry replaced.
    ``size``: int32 [options], how many entries replace it.
    ``pushed``, ``least``, ``most``: int32 [options, largest size], the entries,
    deepest first; a first entry in the same rule takes over the window.
    ``may_end``: bool [states]; ``need``: int32 [states], ticks to the end of the
    rule; ``counted``: bool [states].  ``start``: int32 [entries, 3].
    """

    byte_class: NDArray[np.uint8]
    option: Ids
    ticks: Ids
    size: Ids
    pushed: Ids
    least: Ids
    most: Ids
    may_end: NDArray[np.bool_]
    need: Ids
    counted: NDArray[np.bool_]
    start: Ids
    depth: int

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        arrays = (v for v in vars(self).values() if isinstance(v, np.ndarray))
        return sum(array.nbytes for array in arrays)

    def height(self, most: int) -> int | None:
        """How many entries a stack can have; None if more than ``most``."""
        places = np.arange(self.pushed.shape[1])
        is_used = places < self.size[:, None]
        above = np.zeros(len(self.option), np.int64)  # entries over each state
        while above.max() <= most:
            after = np.where(is_used, places + above[self.pushed], 0).max(axis=1)
            higher = np.maximum(above, after[self.option].max(axis=1))
            if (higher == above).all():
                first = np.arange(1, len(self.start) + 1)
                height = int((first + above[self.start[:, 0]]).max())
                return height if height <= most else None
            above = higher
        return None


def device_tables(machine: Pushdown, meter: Meter | None = None) -> DeviceTables:
    """The tables of ``machine``, all its states made; compile it for one stack.

    Raises NotDeterministic when a text may be read in several ways, LimitError
    when there are too many states.
    """
    return _Maker(machine, meter or Meter()).tables()


class _Maker:
    def __init__(self, machine: Pushdown, meter: Meter) -> None:
        self._machine = machine
        self._states = machine.state
        self._meter = meter
        self._numbers: dict[int, int] = {DEAD: 0, DONE: 1, COUNTED_DONE: 2}
        self._met: list[int] = [DEAD, DONE, COUNTED_DONE]

    def tables(self) -> DeviceTables:
        """Everything that the start reaches, numbered as it is met."""
        start = settled(self._states, (self._machine.start_state,))
        for item in start:
            self._number(item)
        readings: list[dict[int, Options]] = []
        for state in self._met:
            self._meter.states(len(self._met))
            readings.append(self._options(state))
        self._refuse_ambiguous(start, readings)
        return self._packed(start, readings)

    def _number(self, item: Element) -> int:
        state = state_of(item)
        if state not in self._numbers:
            self._numbers[state] = len(self._met)
            self._met.append(state)
        return self._numbers[state]

    def _options(self, state: int) -> dict[int, Options]:
        found: dict[int, Options] = {}
        for values, options in self._machine.reading(state).groups:
            if len(options) > 1:
                raise NotDeterministic(f"byte {values[0]} may be read in two ways")
            for item in options[0][1]:
                self._number(item)
            found |= dict.fromkeys(values, options)
        return found

    def _refuse_ambiguous(
        self, start: tuple[Element, ...], readings: list[dict[int, Options]]
    ) -> None:
        under = _neighbours(
            [self._number(item) for item in start], self._as_numbers(readings)
        )
        own = [frozenset(reading) for reading in readings]
        ends = [self._states.node(state).may_end for state in self._met]
        below = _exposed(own, ends, under)
        for number, reads in enumerate(own):
            both = reads & below[number] if ends[number] else ()
            if both:
                raise NotDeterministic(
                    f"byte {min(both)} may go on with a rule or come after it"
                )

    def _as_numbers(
        self, readings: list[dict[int, Options]]
    ) -> list[set[tuple[int, ...]]]:
        return [
            {
                tuple(self._numbers[state_of(item)] for item in options[0][1])
                for options in reading.values()
            }
            for reading in readings
        ]

    def _packed(
        self, start: tuple[Element, ...], readings: list[dict[int, Options]]
    ) -> DeviceTables:
        kinds: dict[Options, int] = {}
        whole = np.zeros((len(readings), 256), np.int32)
        for number, reading in enumerate(readings):
            for byte, options in reading.items():
                whole[number, byte] = kinds.setdefault(options, len(kinds) + 1)
        columns, byte_class = np.unique(whole, axis=1, return_inverse=True)
        nodes = [self._states.node(state) for state in self._met]
        widest = max((len(options[0][1]) for options in kinds), default=1)
        entries = np.zeros((3, len(kinds) + 1, max(widest, 1)), np.int32)
        entries[1:] = NOT_COUNTED
        for options, kind in kinds.items():
            for place, item in enumerate(options[0][1]):
                entries[:, kind, place] = self._entry(item)
        return DeviceTables(
            byte_class.reshape(-1).astype(np.uint8),
            np.ascontiguousarray(columns),
            np.array([0, *(options[0][0] for options in kinds)], np.int32),
            np.array([0, *(len(options[0][1]) for options in kinds)], np.int32),
            entries[0],
            entries[1],
            entries[2],
            np.array([node.may_end for node in nodes], np.bool_),
            np.array([node.need for node in nodes], np.int32),
            np.array([node.counted for node in nodes], np.bool_),
            np.array([self._entry(item) for item in start], np.int32),
            self._machine.depth,
        )

    def _entry(self, item: Element) -> tuple[int, int, int]:
        """(number of the state, least, most)."""
        if isinstance(item, int):
            return self._numbers[item], NOT_COUNTED, NOT_COUNTED
        window: Window = item[1:]
        least, most = (int(min(end, ENDLESS)) for end in window)
        return self._numbers[item[0]], least, most


def _neighbours(start: list[int], after: list[set[tuple[int, ...]]]) -> list[set[int]]:
    """Per state those that can lie directly under it on a stack."""
    under: list[set[int]] = [set() for _ in after]
    same: list[set[int]] = [set() for _ in after]
    for stacks in ({tuple(start)}, *after):
        for stack in stacks:
            for below, above in pairwise(stack):
                under[above].add(below)
    for state, stacks in enumerate(after):
        same[state] = {stack[0] for stack in stacks if stack}
    todo = [state for state, found in enumerate(under) if found]
    while todo:
        state = todo.pop()
        for to in same[state]:
            if not under[state] <= under[to]:
                under[to] |= under[state]
                todo.append(to)
    return under


def _exposed(
    own: list[frozenset[int]], ends: list[bool], under: list[set[int]]
) -> list[frozenset[int]]:
    """Per state the bytes that may be read below it once its rule has ended."""
    below = [frozenset[int]()] * len(own)
    while True:
        more = [
            frozenset().union(
                *(own[r] | (below[r] if ends[r] else frozenset()) for r in found)
            )
            for found in under
        ]
        if more == below:
            return below
        below = more


class DeviceState:
    """One stack, as a device keeps it; the slow, plain twin of a kernel.

    ``entries``: int32 [depth, 3] of (state, least, most); ``top``: place of the
    top entry, -1 when dead.
    """

    def __init__(self, tables: DeviceTables) -> None:
        self.tables = tables
        self.entries = np.zeros((tables.depth, 3), np.int32)
        self.entries[: len(tables.start)] = tables.start
        self.top = len(tables.start) - 1

    def copy(self) -> DeviceState:
        """The same stack, apart."""
        twin = object.__new__(DeviceState)
        twin.tables, twin.top = self.tables, self.top
        twin.entries = self.entries.copy()
        return twin

    def read(self, data: bytes) -> DeviceState:
        """The state after ``data``; dead if it may not be read."""
        state = self.copy()
        for byte in data:
            state._step(byte)
        return state

    @cached_property
    def is_complete(self) -> bool:
        """Whether the output may end here."""
        at = self.top
        while at > 0 and self._may_pop(at):
            at -= 1
        return at == 0 and self._may_pop(0)

    def _may_pop(self, at: int) -> bool:
        state, least, _ = self.entries[at].tolist()
        return bool(self.tables.may_end[state]) and least <= 0

    def _step(self, byte: int) -> None:
        cls = self.tables.byte_class[byte]
        at = self.top
        while at >= 0:
            option = int(self.tables.option[self.entries[at, 0], cls])
            if option and self._replace(at, option):
                return
            at = at - 1 if self._may_pop(at) else -1
        self.top = -1

    def _replace(self, at: int, option: int) -> bool:
        """Whether the entry at ``at`` could be replaced."""
        tables = self.tables
        size, ticks = int(tables.size[option]), int(tables.ticks[option])
        _, least, most = self.entries[at].tolist()
        if at + size > tables.depth:
            return False
        first = int(tables.pushed[option, 0]) if size else COUNTED_DONE
        if most != NOT_COUNTED:
            left = most if most == ENDLESS else most - ticks
            least = max(least - ticks, 0)
            if int(tables.need[first]) > left or (first == COUNTED_DONE and least):
                return False
        for place in range(size):
            self.entries[at + place, 0] = tables.pushed[option, place]
            self.entries[at + place, 1] = tables.least[option, place]
            self.entries[at + place, 2] = tables.most[option, place]
        if size and most != NOT_COUNTED:
            self.entries[at, 1:] = least, left
        self.top = at + size - 1
        if self.top < 0:
            self.entries[0] = DONE, NOT_COUNTED, NOT_COUNTED
            self.top = 0
        return True
