"""Sets of stacks as a graph: what a grammar leaves open after a text.

A *cell* is a state and the set of stacks below it; a set of stacks is some cells, and
perhaps the stack that is empty.  Sets are interned, so equal ones are one object, and
whatever many stacks share is there once: the graph-structured stack of Tomita (1985),
kept by content instead of by position.  Where two cells of a set have the same state
and one is seen to hold all that the other does, the other is dropped.

Cost: a set of n cells is made in n steps.  With real ambiguity there are about as
many cells as a text has bytes, times the states of the grammar, never as many as there
are ways to read it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any
from weakref import WeakValueDictionary

from stcon.errors import LimitError

Cell = tuple[int, "Stacks"]

MAX_CELLS = 1 << 16
_DEEP = 2


class Stacks:
    """A set of stacks; compare with ``is``.

    ``cells``: pairs (state on top, set of the stacks below it).
    ``has_empty``: whether the stack without any state is among them.
    """

    __slots__ = ("__weakref__", "_covered", "_open", "cells", "has_empty")

    def __init__(self, cells: tuple[Cell, ...], has_empty: bool) -> None:
        """Made by ``Graph`` alone, which knows the equal ones."""
        self.cells = cells
        self.has_empty = has_empty
        self._open: tuple[tuple[Cell, ...], bool] | None = None
        self._covered: set[Stacks] | None = None

    def covers(self, other: Stacks, deep: int = _DEEP) -> bool:
        """Whether ``other`` is seen to be a subset, which it may be unseen."""
        if other is self or (self._covered is not None and other in self._covered):
            return True
        if deep == 0 or (other.has_empty and not self.has_empty):
            return False
        for state, below in other.cells:
            if not any(
                own == state and under.covers(below, deep - 1)
                for own, under in self.cells
            ):
                return False
        if self._covered is None:
            self._covered = set()
        self._covered.add(other)
        return True


class Graph:
    """The sets of stacks of one machine that are alive; safe among threads.

    ``ends``: whether a state may be popped.
    """

    def __init__(self, ends: Callable[[int], bool]) -> None:
        self._ends = ends
        self._known: WeakValueDictionary[Any, Stacks] = WeakValueDictionary()
        self._lock = threading.Lock()
        self.none = self.of((), False)
        self.empty = self.of((), True)

    def of(self, cells: Iterable[Cell], has_empty: bool) -> Stacks:
        """The set of these cells.

        Raises LimitError when there are more than 65,536.
        """
        key = (frozenset(cells), has_empty)
        found = self._known.get(key)
        if found is None:
            found = self._new(key[0], has_empty)
            with self._lock:
                found = self._known.setdefault(key, found)
        return found

    def _new(self, cells: frozenset[Cell], has_empty: bool) -> Stacks:
        if len(cells) > MAX_CELLS:
            raise LimitError(
                "the output so far can be read in too many ways",
                what="states",
                limit=MAX_CELLS,
                hint="make the grammar less ambiguous",
            )
        kept = tuple(cells)
        if len(kept) > 1 and len({state for state, _ in kept}) < len(kept):
            kept = tuple(_without_covered(kept))
            if len(kept) < len(cells):
                return self.of(kept, has_empty)
        return Stacks(kept, has_empty)

    def opened(self, stacks: Stacks) -> tuple[tuple[Cell, ...], bool]:
        """The cells of ``stacks`` and those that pops lay open; whether the empty
        stack is among what they lay open."""
        known = stacks._open
        if known is None:
            cells = dict.fromkeys(stacks.cells)
            has_empty = stacks.has_empty
            todo = list(cells)
            for state, below in todo:
                if self._ends(state):
                    has_empty = has_empty or below.has_empty
                    new = [cell for cell in below.cells if cell not in cells]
                    cells |= dict.fromkeys(new)
                    todo += new
            known = stacks._open = tuple(cells), has_empty
        return known


def _without_covered(cells: tuple[Cell, ...]) -> list[Cell]:
    """The cells but those that another one of the same state covers."""
    by_state: dict[int, list[Stacks]] = {}
    for state, below in cells:
        kept = by_state.setdefault(state, [])
        if any(other.covers(below) for other in kept):
            continue
        kept[:] = [other for other in kept if not below.covers(other)]
        kept.append(below)
    return [(state, below) for state, kept in by_state.items() for below in kept]
