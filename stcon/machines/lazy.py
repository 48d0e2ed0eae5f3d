"""Deterministic states of frames, made when they are first reached.

A state is the set of frame states, and of places in literals, that the text so
far leads to within one rule.  Sets are numbered as they are met, after the states
of the standard machine, which are shared: its numbers mean the same in all.
Safe among threads: a number is given out under a lock, everything else is a
function of the set.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from stcon.machines.frames import Frames, Window
from stcon.machines.windows import COUNTED_FINAL, FINAL

DEAD = 0
DONE = 1
COUNTED_DONE = 2
"""The states in which a rule has ended and nothing may follow, in one that is not
counted and in one that is."""

Subset = tuple[int, ...]
Call = tuple[int, int, Window | None]
Move = tuple[tuple[int, ...], int]


@dataclass(eq=False, slots=True)
class Node:
    """One state.

    ``subset``: frame states, ascending; places in literals as ``-1 - place``.
    ``may_end``: whether the rule may end without reading more; ``counted``:
    whether its ticks are counted; ``need``: the fewest ticks to its end.
    ``calls``: (first state of a rule, state to return to, window);
    ``tick``: the state after a tick, or DEAD.
    ``moves``: pairs (bytes, state), None until they are asked for.
    """

    subset: Subset
    may_end: bool
    counted: bool
    need: int
    calls: tuple[Call, ...] | None = None
    tick: int = DEAD
    moves: tuple[Move, ...] | None = None


class States:
    """The states of ``frames``; ``standard``: those of the standard rules."""

    def __init__(self, frames: Frames, standard: States | None = None) -> None:
        self.frames = frames
        self.standard = standard
        self.first = standard.count if standard else 0
        self._nodes: list[Node] = []
        self._ids: dict[Subset, int] = {}
        self._closures: dict[int, frozenset[int]] = {}
        self._lock = threading.RLock()
        if standard is None:
            for subset in ((), (FINAL,), (COUNTED_FINAL,)):
                counted = COUNTED_FINAL in subset
                node = Node(subset, bool(subset), counted, 0, (), moves=())
                self._ids[subset] = len(self._nodes)
                self._nodes.append(node)
        else:
            self._ids |= {(): DEAD, (FINAL,): DONE, (COUNTED_FINAL,): COUNTED_DONE}

    @property
    def count(self) -> int:
        """How many states there are so far, the standard ones included."""
        return self.first + len(self._nodes)

    def node(self, state: int) -> Node:
        """What there is to know about a state; its calls are known."""
        if state < self.first:
            assert self.standard is not None
            return self.standard.node(state)
        node = self._nodes[state - self.first]
        if node.calls is None:
            self._find_calls(node)
        return node

    def moves(self, state: int) -> tuple[Move, ...]:
        """Pairs (bytes, state that follows); a byte is in two of them where it may
        close a counted rule."""
        if state < self.first:
            assert self.standard is not None
            return self.standard.moves(state)
        node = self._nodes[state - self.first]
        if node.moves is None:
            node.moves = self._find_moves(node.subset)
        return node.moves

    def only_call(self, state: int) -> Call | None:
        """The call that is the one thing to do in ``state``, if it is."""
        node = self.node(state)
        calls = node.calls or ()
        if len(calls) != 1 or node.may_end or node.tick != DEAD:
            return None
        return None if self.moves(state) else calls[0]

    def entry(self, rule: int) -> int:
        """The first state of a rule; DEAD when it has no text."""
        if rule < 0:
            assert self.standard is not None
            return self.standard.entry(-1 - rule)
        entry = self.frames.entries[rule]
        return self._number(self._closure(entry)) if entry >= 0 else DEAD

    def _number(self, states: frozenset[int]) -> int:
        subset = tuple(sorted(states))
        known = self._ids.get(subset)
        if known is None:
            with self._lock:
                known = self._ids.get(subset)
                if known is None:
                    known = self.count
                    self._nodes.append(self._node_of(subset))
                    self._ids[subset] = known
        return known

    def _node_of(self, subset: Subset) -> Node:
        frames = self.frames
        owners = [s if s >= 0 else frames.goal[-1 - s] for s in subset]
        ends = FINAL in subset or COUNTED_FINAL in subset
        if frames.nullable and not ends:
            ends = any(s in frames.nullable for s in subset)
        needs = [frames.need[s] for s in owners if s in frames.need]
        if COUNTED_FINAL in subset and max(needs) > 1:
            raise ValueError("a counted rule may be closed and go on counting")
        return Node(subset, ends, bool(needs), min(needs, default=0))

    def _find_calls(self, node: Node) -> None:
        """Fills in what calls and ticks lead to."""
        backs: dict[int, set[int]] = {}
        after_tick: set[int] = set()
        for state in node.subset:
            for letter, back in self.frames.calls.get(state, ()) if state >= 0 else ():
                backs.setdefault(letter, set()).update(self._closure(back))
            for to in self.frames.ticks.get(state, ()) if state >= 0 else ():
                after_tick |= self._closure(to)
        if after_tick:
            node.tick = self._number(frozenset(after_tick))
        calls = []
        for letter, states in sorted(backs.items()):
            called = self.frames.letters[letter]
            entry = self.entry(called.rule)
            if entry != DEAD:
                calls.append((entry, self._number(frozenset(states)), called.window))
        node.calls = tuple(calls)

    def _find_moves(self, members_of: Subset) -> tuple[Move, ...]:
        frames = self.frames
        after: dict[int, list[int]] = {}
        for state in members_of:
            if state < 0:
                place = -1 - state
                to = frames.goal[place] if frames.last[place] else state - 1
                after.setdefault(frames.text[place], []).append(to)
                continue
            for mask, to in frames.moves[state]:
                for byte in members(mask):
                    after.setdefault(byte, []).append(to)
        bytes_to: dict[tuple[int, ...], list[int]] = {}
        for byte, states in after.items():
            bytes_to.setdefault(tuple(states), []).append(byte)
        found: dict[int, list[int]] = {}
        for reached, values in bytes_to.items():
            for subset in self._apart(self._closure_of(reached)):
                found.setdefault(self._number(subset), []).extend(values)
        return tuple((tuple(sorted(values)), to) for to, values in found.items())

    def _apart(self, subset: frozenset[int]) -> Iterable[frozenset[int]]:
        """``subset``, or what is closed and what goes on counting apart, where one
        need would not speak for both."""
        if COUNTED_FINAL not in subset or self._need_of(subset) <= 1:
            return (subset,)
        return frozenset((COUNTED_FINAL,)), subset - {COUNTED_FINAL}

    def _need_of(self, subset: Iterable[int]) -> int:
        """The highest need in a subset."""
        frames = self.frames
        owners = (s if s >= 0 else frames.goal[-1 - s] for s in subset)
        return max((frames.need.get(s, 0) for s in owners), default=0)

    def _closure_of(self, states: Iterable[int]) -> frozenset[int]:
        parts = [self._closure(s) if s >= 0 else frozenset((s,)) for s in states]
        return parts[0] if len(parts) == 1 else frozenset().union(*parts)

    def _closure(self, state: int) -> frozenset[int]:
        """What a frame state reaches without reading, kept to what matters."""
        known = self._closures.get(state)
        if known is None:
            known = self._closures[state] = frozenset(self._search(state))
        return known

    def _search(self, state: int) -> Iterable[int]:
        frames = self.frames
        seen, stack = {state}, [state]
        while stack:
            at = stack.pop()
            if (
                at in (FINAL, COUNTED_FINAL)
                or frames.moves[at]
                or frames.calls.get(at)
                or frames.ticks.get(at)
            ):
                yield at
            yield from (-1 - place for place in frames.texts.get(at, ()))
            for to in frames.skips[at]:
                if to not in seen:
                    seen.add(to)
                    stack.append(to)


@lru_cache(maxsize=4096)
def members(mask: int) -> tuple[int, ...]:
    """The bytes of a set given as bits, ascending."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return tuple(found)
