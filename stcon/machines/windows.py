"""How many ticks the states of counted rules still need.

The *need* of a state is the fewest ticks on any way to the end of its rule.  A
count can be kept as one number if from every state of the rule each number of
ticks from its need on is possible: then a window (least, most) of ticks still to
come can be met from there iff need <= most.  By induction that holds iff from every
state a tick can be reached, and one after which one tick fewer is needed (or none,
where none was).  ``(ab)*`` is not like that: from its start 1 is impossible, 2 is
possible.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stcon.machines.frames import Frames

NEVER = 1 << 62
"""The need of a state from which the end is not reached."""

Before = list[list[int]]


class Needs:
    """``need[s]``; ``next_tick[s]``: the fewest ticks on a way that has one."""

    def __init__(self, frames: Frames, finals: tuple[int, ...]) -> None:
        self._frames = frames
        before = _before(frames)
        ticks = [(s, to) for s, after in frames.ticks.items() for to in after]
        tick_before: Before = [[] for _ in frames.skips]
        for state, to in ticks:
            tick_before[to].append(state)
        self.need = _fewest([(0, s) for s in finals], before, tick_before)
        first = [(1 + self.need[to], s) for s, to in ticks if self.need[to] < NEVER]
        self.next_tick = _fewest(first, before, None)

    def is_free(self, entry: int) -> bool:
        """Whether the count of the rule that starts at ``entry`` is one number.

        Looked at where something has just been read; what is passed without
        reading counts with the state it is reached from.
        """
        need, next_tick = self.need, self.next_tick
        return all(
            next_tick[s] < NEVER and (need[s] > 0 or next_tick[s] == 1)
            for s in {entry, *_read_to(self._frames, entry)}
            if need[s] < NEVER
        )


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


def _read_to(frames: Frames, entry: int) -> Iterator[int]:
    """The states of a rule in which something has just been read or counted."""
    for state in within(frames, entry):
        yield from _next(frames, state)
        yield from frames.ticks.get(state, ())


def _next(frames: Frames, state: int) -> Iterator[int]:
    """The states after something is read."""
    yield from (to for _, to in frames.moves[state])
    yield from (frames.goal[place] for place in frames.texts.get(state, ()))
    yield from (to for _, to in frames.calls.get(state, ()))


def _before(frames: Frames) -> Before:
    """Per state those that lead to it without a tick."""
    before: Before = [[] for _ in frames.skips]
    for state, skips in enumerate(frames.skips):
        for to in (*skips, *_next(frames, state)):
            before[to].append(state)
    return before


def _fewest(
    first: list[tuple[int, int]], before: Before, tick_before: Before | None
) -> list[int]:
    """Per state the least number at ``first``, plus one a tick on the way there."""
    best = [NEVER] * len(before)
    heap = list(first)
    heapq.heapify(heap)
    while heap:
        cost, state = heapq.heappop(heap)
        if cost >= best[state]:
            continue
        best[state] = cost
        for above in before[state]:
            if cost < best[above]:
                heapq.heappush(heap, (cost, above))
        for above in tick_before[state] if tick_before else ():
            if cost + 1 < best[above]:
                heapq.heappush(heap, (cost + 1, above))
    return best
