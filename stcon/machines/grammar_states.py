"""Deterministic states of a network, made when they are first reached.

A state is the set of network states that the text so far leads to within one rule.
Where a rule is entered, that it may match nothing is left out: a call reads.
Safe among threads: a number is given out under a lock, everything else is a function
of the set.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from stcon.machines.follow import following
from stcon.machines.lazy import members
from stcon.machines.network import FINAL, Network
from stcon.machines.nfa import byte_classes
from stcon.syntax.rules import ALL_BYTES

DEAD = 0
DONE = 1
"""The state in which a rule has ended and nothing may follow."""

Subset = tuple[int, ...]
Call = tuple[int, int]
Reading = tuple[int, tuple[tuple[int, int, int], ...]]
"""The state that follows, or DEAD, and calls: (order, first state of a rule, state to
return to).  Callers come before what they call in ascending order."""

_MOST_OF_A_LOOP = 100
"""States; a longer loop is pushed on itself, which costs little."""

_NOTHING: Reading = DEAD, ()


class GrammarStates:
    """The states of ``network``; ``class_of``: the class of each byte."""

    def __init__(self, network: Network) -> None:
        self._network = network
        masks = sorted({mask for moves in network.moves for mask, _ in moves})
        self.class_of, members = byte_classes([ALL_BYTES, *masks])
        self._classes = dict(zip(masks, members[1:], strict=True))
        self.classes = 1 + int(self.class_of.max())
        self._subsets: list[Subset] = []
        self._ids: dict[Subset, int] = {}
        self._may_end: list[bool] = []
        self._absorbs: list[bool | None] = []
        self._readings: list[dict[int, Reading] | None] = []
        self._moves: list[dict[int, int] | None] = []
        self._calls: list[tuple[Call, ...] | None] = []
        self._first: list[int | None] = []
        self._height: list[int] = []
        self._effects: list[dict[int, int] | None] = []
        self._effect_ids: dict[object, int] = {}
        self._closures: dict[int, frozenset[int]] = {}
        self._follow: list[int] | None = None
        self._entries: dict[int, int] = {}
        self._lock = threading.RLock()
        self._number(frozenset())
        self._number(frozenset([FINAL]))
        self.start = DEAD
        if network.start >= 0:
            self.start = self._number(self._closure(network.start))

    @property
    def count(self) -> int:
        """How many states there are so far."""
        return len(self._subsets)

    def may_end(self, state: int) -> bool:
        """Whether the rule of ``state`` may end without reading more."""
        return self._may_end[state]

    def subset(self, state: int) -> Subset:
        """The network states that a state stands for, ascending."""
        return self._subsets[state]

    def numbered(self, subset: Iterable[int]) -> int:
        """The state that stands for network states which are one."""
        return self._number(frozenset(subset))

    def following(self, state: int) -> int:
        """The classes of bytes that may come after the rule of ``state``, as bits, or
        more; 0 where nothing may."""
        if self._follow is None:
            bits = {m: sum(1 << k for k in kinds) for m, kinds in self._classes.items()}
            self._follow = following(self._network, bits)
        found = (1 << self.classes) - 1
        for one in self._subsets[state]:
            if one != FINAL:  # all rules end there
                found &= self._follow[one]
        return found

    def first(self, state: int) -> int:
        """The classes of bytes that may come next before the rule ends, as bits."""
        known = self._first[state]
        return self._look_ahead(state) if known is None else known

    def reads(self, state: int, kind: int) -> Reading:
        """What a byte of class ``kind`` makes of ``state``."""
        readings = self._readings[state]
        if readings is None:
            readings = self._readings[state] = {}
        known = readings.get(kind)
        if known is None:
            known = readings[kind] = self._find_reading(state, kind)
        return known

    def calls(self, state: int) -> tuple[Call, ...]:
        """(first state of a rule, state to return to) of what ``state`` calls."""
        known = self._calls[state]
        if known is None:
            known = self._calls[state] = tuple(self._find_calls(self._subsets[state]))
        return known

    def moves(self, state: int) -> dict[int, int]:
        """Per class of bytes the state that follows within the rule."""
        known = self._moves[state]
        if known is None:
            known = self._moves[state] = self._find_moves(self._subsets[state])
        return known

    def effects(self, state: int) -> dict[int, int]:
        """Per class of bytes a number for all that it does to ``state``, the rules
        that are called and read it included: equal numbers, equal effects."""
        todo = [state]
        while todo:
            at = todo[-1]
            missing = [e for e, _ in self.calls(at) if self._effects[e] is None]
            if missing and self._effects[at] is None:
                todo += missing
                continue
            todo.pop()
            if self._effects[at] is None:
                self._effects[at] = self._find_effects(at)
        return self._effects[state] or {}

    def _find_effects(self, state: int) -> dict[int, int]:
        found = {}
        for kind in members(self.first(state)):
            to, calls = self.reads(state, kind)
            parts = [(e, b, (self._effects[e] or {})[kind]) for _, e, b in calls]
            key = to, tuple(parts)
            found[kind] = self._effect_ids.setdefault(key, len(self._effect_ids))
        return found

    def absorbs_itself(self, state: int) -> bool:
        """Whether pushed on itself a state is no more than once: it is the only state
        of its rule in which that may end, so what it reads may be read again."""
        known = self._absorbs[state]
        if known is None:
            known = self._absorbs[state] = self._may_end[state] and self._is_loop(state)
        return known

    def _is_loop(self, state: int) -> bool:
        todo, seen = [state], {state}
        for at in todo:
            after = {*self.moves(at).values(), *(back for _, back in self.calls(at))}
            if len(seen) > _MOST_OF_A_LOOP:
                return False
            if any(self._may_end[to] and to != state for to in after):
                return False
            todo += after - seen
            seen |= after
        return True

    def _find_reading(self, state: int, kind: int) -> Reading:
        if not self.first(state) >> kind & 1:
            return _NOTHING
        calls = [
            (-self._height[entry], entry, back)
            for entry, back in self.calls(state)
            if self.first(entry) >> kind & 1
        ]
        return self.moves(state).get(kind, DEAD), tuple(calls)

    def _look_ahead(self, state: int) -> int:
        """``first`` of a state and of all that it calls before it reads, deepest
        first: chains of calls may be long."""
        todo = [state]
        while todo:
            at = todo[-1]
            missing = [e for e, _ in self.calls(at) if self._first[e] is None]
            if missing:
                todo += missing
                continue
            todo.pop()
            found, height = 0, 0
            for kind in self.moves(at):
                found |= 1 << kind
            for entry, _ in self.calls(at):
                found |= self._first[entry] or 0
                height = max(height, 1 + self._height[entry])
            self._height[at] = height
            self._first[at] = found
        return self._first[state] or 0

    def _entry(self, rule: int) -> int:
        """The first state of a rule, in which it has not ended."""
        known = self._entries.get(rule)
        if known is None:
            entry = self._network.entries[rule]
            subset = self._closure(entry) - {FINAL} if entry >= 0 else frozenset()
            known = self._entries[rule] = self._number(frozenset(subset))
        return known

    def _number(self, states: frozenset[int]) -> int:
        subset = tuple(sorted(states))
        known = self._ids.get(subset)
        if known is None:
            with self._lock:
                known = self._ids.get(subset)
                if known is None:
                    known = self._add(subset)
        return known

    def _add(self, subset: Subset) -> int:
        known = len(self._subsets)
        self._may_end.append(FINAL in subset)
        self._effects.append(None)
        self._absorbs.append(None)
        self._readings.append(None)
        self._moves.append(None)
        self._calls.append(None)
        self._first.append(None)
        self._height.append(0)
        self._subsets.append(subset)
        self._ids[subset] = known
        return known

    def _find_calls(self, subset: Subset) -> Iterable[Call]:
        backs: dict[int, set[int]] = {}
        for state in subset:
            for rule, back in self._network.calls.get(state, ()):
                entry = self._entry(rule)
                if entry != DEAD:
                    backs.setdefault(entry, set()).update(self._closure(back))
        for entry, states in sorted(backs.items()):
            yield entry, self._number(frozenset(states))

    def _find_moves(self, subset: Subset) -> dict[int, int]:
        after: dict[int, set[int]] = {}
        for state in subset:
            for mask, to in self._network.moves[state]:
                for kind in self._classes[mask]:
                    after.setdefault(kind, set()).add(to)
        numbers: dict[frozenset[int], int] = {}
        found = {}
        for kind, reached in after.items():
            key = frozenset(reached)
            if key not in numbers:
                numbers[key] = self._number(
                    frozenset().union(*(self._closure(s) for s in key))
                )
            found[kind] = numbers[key]
        return found

    def _closure(self, state: int) -> frozenset[int]:
        """What a state reaches without reading, kept to what matters."""
        known = self._closures.get(state)
        if known is None:
            found, seen = [state], {state}
            for at in found:
                for to in self._network.skips[at]:
                    if to not in seen:
                        seen.add(to)
                        found.append(to)
            known = frozenset(s for s in found if self._matters(s))
            self._closures[state] = known
        return known

    def _matters(self, state: int) -> bool:
        network = self._network
        return bool(state == FINAL or network.moves[state] or network.calls.get(state))
