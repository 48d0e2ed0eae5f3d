"""The mask of a pushdown without parsing: a transducer that reads the stack.

What a token may do depends only on the stack symbols it pops.  Let P be the trie
nodes at which a token still has bytes to read; at the top of the stack P is the
root.  Reading one stack symbol r, ``delta(P, r)`` gives the tokens that end while r
is still at the bottom, and the next P: the nodes at which r was popped and tokens
go on.  The mask is the union of those token sets from the top of the stack down,
until P is empty: one hop for most tokens, two or three around brackets.

``delta`` depends on the machine and the vocabulary alone and is remembered.  A
*relative configuration* is the set of stacks with r at the bottom that a trie node
leads to; they are interned, and what one becomes after each byte is worked out
once.  Where few bytes are alive the trie is walked node by node; where many are,
a level at a time in numpy.  If the rule of r counts, ticks are summed along the
way, so one pass serves every window (``hops.py``).
Joins few-paths Theorem 22 with the displacement of token-space compression.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from stcon.machines.pushdown import Pushdown
from stcon.tokens.hops import ROOT, Ends, Hop, Pending, TokensAt
from stcon.tokens.inside import Inside
from stcon.tokens.ranks import Ranks
from stcon.tokens.relative import Relative, Relatives
from stcon.tokens.trie import Trie

Nodes = NDArray[np.int32]
Seeds = list[tuple[int, int, int]]

NARROW = 8
"""With more live bytes than this, or more nodes than ``_FEW``, numpy is faster."""
_FEW = 32
MOST_NARROW = 2_000
"""Nodes walked one by one before numpy takes over; 2 µs each."""


class Transducer:
    """``delta`` of one pushdown over one vocabulary, filled as it is asked."""

    def __init__(
        self,
        pushdown: Pushdown,
        trie: Trie,
        standard: Transducer | None = None,
    ) -> None:
        """``standard``: that of ``pushdown.standard``, for the same trie."""
        self._machine = pushdown
        self.trie = trie
        self._standard = standard
        self._relatives = self._new_relatives()
        self.pending: Pending = standard.pending if standard else Pending()
        self.tokens: TokensAt = standard.tokens if standard else TokensAt(trie)
        self.inside: Inside | None = standard.inside if standard else None
        self._hops: dict[tuple[int, int], Hop] = {}
        self._lock = threading.Lock()
        self._first = memoryview(trie.first_child.data)
        self._count = memoryview(trie.child_count.data)
        self._byte = memoryview(trie.byte.data)

    def _new_relatives(self) -> Relatives:
        return Relatives(self._machine, self.trie.levels)

    def _new_ends(self, state: int) -> Ends:
        return Ends(self._relatives, self._machine.state.node(state).counted)

    def _with_live(self, nodes: Nodes, config: int) -> Nodes:
        """``nodes`` without some below which nothing is alive in ``config``."""
        return nodes

    def with_whole_windows(self) -> Transducer:
        """One for walks that tell apart also what no token can; it has the same
        numbers for sets of nodes."""
        twin = copy(self)
        twin._relatives = Relatives(self._machine, math.inf)
        twin._hops, twin._lock, twin.inside = {}, threading.Lock(), None
        return twin

    @property
    def nbytes(self) -> int:
        """Bytes of what is remembered, without what the standard rules share."""
        return sum(hop.nbytes for hop in self._hops.values()) + self._relatives.nbytes

    def delta(self, pending: int, state: int) -> Hop:
        """The hop over stack symbol ``state`` for the nodes of ``pending``."""
        if self._standard is not None and state < self._machine.first:
            return self._standard.delta(pending, state)
        key = (pending, state)
        hop = self._hops.get(key)
        if hop is None:
            with self._lock:
                hop = self._hops.get(key)
                if hop is None:
                    nodes = self.pending.nodes(pending)
                    hop = self._hops[key] = self._walk(nodes, state)
        return hop

    def put(self, pending: int, state: int, hop: Hop) -> None:
        """Nothing; ``hop`` is what ``delta(pending, state)`` gives."""
        self._hops[pending, state] = hop

    def find_inside(self) -> None:
        """Nothing; notes the walk that is in its first state at the most nodes: that
        of free text.  Only for standard rules, whose hops from the root are known."""
        most, best = 0, None
        for (pending, state), hop in list(self._hops.items()):
            if pending != ROOT or hop.bits is None:
                continue
            ends = Ends(self._relatives, False)
            self._walk_into(ends, self.pending.nodes(ROOT), state)
            nodes, config, _ = ends.reached()
            states = np.array(self._relatives.alone, np.int16)[config]
            back = int((states == state).sum())
            if back > most:
                state_at = np.full(self.trie.nodes, -1, np.int16)
                state_at[nodes] = states
                most, best = back, (state_at, hop)
        if best is not None:
            self.put_inside(*best)

    def put_inside(self, state_at: NDArray[np.int16], hop: Hop) -> None:
        """Nothing; notes a walk from the root, and its hop."""
        row = np.zeros(self.tokens.size, np.bool_)
        hop.paint(row, None)
        self.inside = Inside(state_at, row, hop, Ranks(self.trie))

    def walk(self, pending: int, state: int) -> Ends:
        """Where tokens end and ``state`` is popped; kept by the caller."""
        ends = self._new_ends(state)
        with self._lock:
            self._walk_into(ends, self.pending.nodes(pending), state)
        return ends

    def stacks(self, config: int) -> Relative:
        """The relative configuration of a number."""
        return self._relatives.stacks(config)

    def _walk(self, nodes: Nodes, state: int) -> Hop:
        ends = self._new_ends(state)
        self._walk_into(ends, nodes, state)
        return self._hop(ends)

    def _hop(self, ends: Ends) -> Hop:
        return ends.hop(self.trie, self.tokens, self.pending, self.inside)

    def _walk_into(self, ends: Ends, nodes: Nodes, state: int) -> None:
        relatives = self._relatives
        first = relatives.start(state)
        ends.pop(nodes, first)
        nodes = self._with_live(nodes, first)
        if len(nodes) > _FEW:
            columns = np.zeros((3, len(nodes)), np.int32)
            columns[0], columns[1] = nodes, first
            seeds = self._walk_levels(columns, ends)
        else:
            seeds = [(node, first, 0) for node in nodes.tolist()]
        while seeds := sorted(self._walk_narrow(seeds, ends)):
            columns = np.array(seeds, np.int32).reshape(-1, 3).T
            seeds = self._walk_levels(columns, ends)

    def _walk_narrow(self, todo: Seeds, ends: Ends) -> Seeds:
        """Walks below the nodes while few bytes are alive or there; the rest comes
        back."""
        first, count, byte = self._first, self._count, self._byte
        relatives = self._relatives
        seeds: Seeds = []
        visits = MOST_NARROW
        while todo:
            node, config, ticks = todo.pop()
            low = first[node]
            high = low + count[node]
            after = relatives.live(config)
            if min(len(after), high - low) > NARROW or visits < 0:
                seeds.append((node, config, ticks))
                continue
            visits -= 1
            found: Iterator[tuple[int, tuple[int, int] | None]]
            if high - low <= len(after):
                found = ((child, after.get(byte[child])) for child in range(low, high))
            else:
                found = _children_with(after, byte, low, high)
            for child, moved in found:
                if moved is not None:
                    to, more = moved[0], ticks + moved[1]
                    ends.add_one(child, to, more)
                    todo.append((child, to, more))
        return seeds

    def _walk_levels(self, columns: NDArray[np.int32], ends: Ends) -> Seeds:
        """One pass a level, from seeds (nodes ascending, configurations, ticks;
        [3, n]); below free text nothing is walked again.  A few nodes that are left
        deep down come back."""
        seeds, seed_config, seed_ticks = columns
        inside = None if ends.counts else self.inside
        bounds = self.trie.level_bounds
        at, config, ticks = (np.zeros(0, np.int32) for _ in range(3))
        level = int(np.searchsorted(bounds, seeds[0], "right"))
        taken = 0
        while taken < len(seeds) or len(at):
            upto = int(np.searchsorted(seeds, bounds[level])) if level else 0
            if upto > taken:
                at = np.concatenate([at, seeds[taken:upto]])
                config = np.concatenate([config, seed_config[taken:upto]])
                ticks = np.concatenate([ticks, seed_ticks[taken:upto]])
                taken = upto
            at, config, ticks = self._children(at, config, ticks, ends.counts)
            if inside is not None:
                alone = np.array(self._relatives.alone, np.int16)[config]
                known = (alone == inside.state_at[at]) & (alone >= 0)
                ends.add_below(at[known])
                new = ~known
                at, config, ticks = at[new], config[new], ticks[new]
            ends.add(at, config, ticks)
            level += 1
            if len(at) <= _FEW and taken == len(seeds):
                left = (at.tolist(), config.tolist(), ticks.tolist())
                return list(zip(*left, strict=True))
        return []

    def _children(
        self,
        at: Nodes,
        config: NDArray[np.int32],
        ticks: NDArray[np.int32],
        counts_ticks: bool,
    ) -> tuple[Nodes, NDArray[np.int32], NDArray[np.int32]]:
        """The children of ``at`` that are alive, with configurations and ticks."""
        counts = self.trie.child_count[at]
        ends = np.cumsum(counts, dtype=np.int32)
        parent = np.repeat(np.arange(len(at), dtype=np.int32), counts)
        children = np.arange(len(parent), dtype=np.int32)
        children += np.take(self.trie.first_child[at] - (ends - counts), parent)
        after, more = self._relatives.after(
            np.take(config, parent), np.take(self.trie.byte, children)
        )
        alive = np.flatnonzero(after)
        if len(alive) < len(after):
            children, after = np.take(children, alive), np.take(after, alive)
        if not counts_ticks:  # all of them are zero
            return children, after, np.zeros(len(after), np.int32)
        ticks = np.take(ticks, np.take(parent, alive))
        if more is not None:
            ticks = ticks + np.take(more, alive)
        return children, after, ticks


def _children_with(
    after: dict[int, tuple[int, int]], byte: Sequence[int], low: int, high: int
) -> Iterator[tuple[int, tuple[int, int] | None]]:
    """The children ``low`` to ``high`` whose byte is alive, by binary search."""
    for value, moved in after.items():
        child = bisect_left(byte, value, low, high)
        if child < high and byte[child] == value:
            yield child, moved
