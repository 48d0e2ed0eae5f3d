"""How many ticks the states of counted rules still need.

The *need* of a state is the fewest ticks on any way to the end of its rule.  A
count can be kept as one number if from every state of the rule each number of
ticks from its need on is possible: then a window (least, most) of ticks still to
come can be met from there iff need <= most.  By induction that holds iff from every
state a tick can be reached, and one after which one tick fewer is needed (or none,
where none was).  ``(ab)*`` is not like that: from its start 1 is impossible, 2 is
possible.  Where least is 0 it does not matter: need <= most says all.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stcon.machines.frames import Frames

FINAL = 0
COUNTED_FINAL = 1
"""Where a rule ends; rules that are counted have a final state of their own."""

Before = dict[int, list[int]]


class Needs:
    """Of the rule that starts at ``entry``: ``need[s]``, and ``next_tick[s]``, the
    fewest ticks on a way that has one."""

    def __init__(self, frames: Frames, entry: int) -> None:
        self._frames = frames
        self._entry = entry
        self._states = within(frames, entry)
        before: Before = {s: [] for s in self._states}
        tick_before: Before = {s: [] for s in self._states}
        ticks: list[tuple[int, int]] = []
        for state in self._states:
            for to in (*frames.skips[state], *_next(frames, state)):
                before[to].append(state)
            for to in frames.ticks.get(state, ()):
                tick_before[to].append(state)
                ticks.append((state, to))
        finals = [(0, s) for s in (FINAL, COUNTED_FINAL) if s in self._states]
        self.need = _fewest(finals, before, tick_before)
        first = [(1 + self.need[to], s) for s, to in ticks if to in self.need]
        self.next_tick = _fewest(first, before, {})

    def is_free(self, close: int) -> bool:
        """Whether the count of the rule is one number until it is closed, from the
        state ``close`` on.

        Looked at where something has just been read; what is passed without
        reading counts with the state it is reached from.
        """
        need, next_tick = self.need, self.next_tick
        return all(
            s in next_tick and (need[s] > 0 or next_tick[s] == 1)
            for s in {self._entry, *self._read_to(close)}
            if s in need
        )

    def _read_to(self, close: int) -> Iterator[int]:
        """The states before ``close`` in which something has just been read or
        counted."""
        closing = within(self._frames, close)
        for state in self._states - closing:
            yield from _next(self._frames, state)
            yield from self._frames.ticks.get(state, ())


def within(frames: Frames, entry: int) -> set[int]:
    """The states of the rule that starts at ``entry``; calls return."""
    seen = {entry}
    todo = [entry]
    while todo:
        at = todo.pop()
        for to in (*frames.skips[at], *_next(frames, at), *frames.ticks.get(at, ())):
            if to not in seen:
                seen.add(to)
                todo.append(to)
    return seen


def _next(frames: Frames, state: int) -> Iterator[int]:
    """The states after something is read."""
    yield from (to for _, to in frames.moves[state])
    yield from (frames.goal[place] for place in frames.texts.get(state, ()))
    yield from (to for _, to in frames.calls.get(state, ()))


def _fewest(
    first: list[tuple[int, int]], before: Before, tick_before: Before
) -> dict[int, int]:
    """Per state the least number at ``first``, plus one a tick on the way there."""
    best: dict[int, int] = {}
    heap = list(first)
    heapq.heapify(heap)
    while heap:
        cost, state = heapq.heappop(heap)
        if state in best:
            continue
        best[state] = cost
        for above in before[state]:
            if above not in best:
                heapq.heappush(heap, (cost, above))
        for above in tick_before.get(state, ()):
            if above not in best:
                heapq.heappush(heap, (cost + 1, above))
    return best
