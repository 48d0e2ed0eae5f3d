"""The mask of a pushdown without parsing: a transducer that reads the stack.

What a token may do depends only on the stack symbols it pops.  Let P be the trie
nodes at which a token still has bytes to read; at the top of the stack P is the
root.  Reading one stack symbol r, ``delta(P, r)`` gives the tokens that end while r
is still at the bottom, and the next P: the nodes at which r was popped and tokens
go on.  The mask is the union of those token sets from the top of the stack down,
until P is empty: one hop for most tokens, two or three around brackets.

``delta`` depends on the machine and the vocabulary alone and is remembered.  It
is one level pass over the trie, like the token classes: a *relative
configuration* is the set of stacks with r at the bottom that a node leads to;
they are interned, and what one becomes after a byte class is worked out once.
Joins few-paths Theorem 22 with the displacement of token-space compression.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stcon.errors import LimitError
from stcon.machines.pushdown import Pushdown, Stack
from stcon.tokens.trie import Trie

Nodes = NDArray[np.int32]
Relative = frozenset[Stack]

_DEAD = 0
_MAX_STACKS = 256
ROOT = 0
"""The number of the P that holds the root alone."""
NOTHING = -1
"""The number of the empty P."""


@dataclass(frozen=True)
class Hop:
    """``tokens``: int32, ids that end above the symbol; ``rest``: number of the
    next P, or NOTHING."""

    tokens: NDArray[np.int32]
    rest: int


class Transducer:
    """``delta`` of one pushdown over one vocabulary, filled as it is asked."""

    def __init__(self, pushdown: Pushdown, trie: Trie) -> None:
        self._machine = pushdown
        self._trie = trie
        self._class_at = pushdown.byte_class[trie.byte]
        self._width = pushdown.next.shape[1]
        self._pending: list[Nodes] = []
        self._pending_ids: dict[bytes, int] = {}
        self._hops: dict[tuple[int, int], Hop] = {}
        self._relatives: list[Relative] = []
        self._relative_ids: dict[Relative, int] = {}
        self._poppable = np.zeros(64, np.bool_)
        self._memo = np.full((64, self._width), -1, np.int32)
        self._intern(frozenset())
        self._memo[_DEAD] = _DEAD
        self._number(np.zeros(1, np.int32))
        order = np.argsort(trie.node_of_token, kind="stable").astype(np.int32)
        self._order = order[np.searchsorted(trie.node_of_token[order], 1) :]
        self._node_order = trie.node_of_token[self._order]

    @property
    def nbytes(self) -> int:
        """Bytes of what is remembered."""
        hops = sum(hop.tokens.nbytes for hop in self._hops.values())
        return hops + self._memo.nbytes + sum(p.nbytes for p in self._pending)

    def delta(self, pending: int, state: int) -> Hop:
        """The hop over stack symbol ``state`` for the nodes of ``pending``."""
        key = (pending, state)
        hop = self._hops.get(key)
        if hop is None:
            hop = self._hops[key] = self._walk(self._pending[pending], state)
        return hop

    def _walk(self, nodes: Nodes, state: int) -> Hop:
        """One level pass, from all of ``nodes`` in the stack (state)."""
        first = self._intern(frozenset([(state,)]))
        bounds = self._trie.level_bounds
        ended: list[Nodes] = []
        popped: list[Nodes] = [nodes] if self._poppable[first] else []
        at, config = nodes[:0], np.zeros(0, np.int32)
        level = int(np.searchsorted(bounds, nodes[0], "right"))
        taken = 0
        while taken < len(nodes) or len(at):
            upto = int(np.searchsorted(nodes, bounds[level])) if level else 0
            if upto > taken:
                at = np.concatenate([at, nodes[taken:upto]])
                config = np.concatenate(
                    [config, np.full(upto - taken, first, np.int32)]
                )
                taken = upto
            at, config = self._children(at, config)
            ended.append(at)
            popped.append(at[self._poppable[config]])
            level += 1
        rest = np.concatenate(popped)
        rest = rest[self._trie.child_count[rest] > 0]
        return Hop(self._tokens_at(ended), self._number(np.unique(rest)))

    def _children(self, at: Nodes, config: NDArray[np.int32]) -> tuple[Nodes, Nodes]:
        """The children of ``at`` that are alive, with their configurations."""
        counts = self._trie.child_count[at]
        total = int(counts.sum())
        starts = np.cumsum(counts, dtype=np.int32) - counts
        offsets = self._trie.first_child[at] - starts
        children = np.repeat(offsets, counts) + np.arange(total, dtype=np.int32)
        after = self._after(np.repeat(config, counts), self._class_at[children])
        alive = after != _DEAD
        return children[alive], after[alive]

    def _after(
        self, config: NDArray[np.int32], cls: NDArray[np.uint8]
    ) -> NDArray[np.int32]:
        keys = config.astype(np.int64) * self._width + cls
        found = self._memo.reshape(-1)[keys]
        missing = keys[found < 0]
        if len(missing):
            wanted = np.zeros(self._memo.size, np.bool_)
            wanted[missing] = True
            for key in np.flatnonzero(wanted).tolist():
                one, byte_class = divmod(key, self._width)
                number = self._intern(self._step(self._relatives[one], byte_class))
                self._memo[one, byte_class] = number
            found = self._memo.reshape(-1)[keys]
        return np.asarray(found, np.int32)

    def _step(self, relative: Relative, cls: int) -> Relative:
        """What a set of stacks becomes after a byte class."""
        moves = self._machine.moves
        return frozenset(
            (*stack[:-1], *pushed)
            for stack in relative
            if stack
            for pushed in moves(stack[-1]).get(cls, ())
        )

    def _intern(self, relative: Relative) -> int:
        """The number of a set of stacks, closed under pops; ``()`` in it says
        that the bottom symbol was popped."""
        closed = set(relative)
        todo = list(relative)
        while todo:
            stack = todo.pop()
            if stack and self._machine.pops[stack[-1]] and stack[:-1] not in closed:
                closed.add(stack[:-1])
                todo.append(stack[:-1])
        whole = frozenset(closed)
        if len(whole) > _MAX_STACKS:
            raise LimitError(
                f"a token can be read in more than {_MAX_STACKS} ways",
                what="states",
                limit=_MAX_STACKS,
                hint="make the format less ambiguous",
            )
        number = self._relative_ids.get(whole)
        if number is None:
            number = self._relative_ids[whole] = len(self._relatives)
            self._relatives.append(whole)
            if number == len(self._memo):
                self._memo = np.vstack([self._memo, np.full_like(self._memo, -1)])
                more = np.zeros_like(self._poppable)
                self._poppable = np.concatenate([self._poppable, more])
            self._poppable[number] = () in whole
        return number

    def _number(self, nodes: Nodes) -> int:
        """The number of a P; NOTHING for the empty one."""
        if not len(nodes):
            return NOTHING
        key = nodes.tobytes()
        number = self._pending_ids.get(key)
        if number is None:
            number = self._pending_ids[key] = len(self._pending)
            self._pending.append(nodes)
        return number

    def _tokens_at(self, parts: list[Nodes]) -> NDArray[np.int32]:
        """The tokens that end at the nodes of ``parts``; int32, ascending."""
        nodes = np.concatenate(parts) if parts else np.zeros(0, np.int32)
        if len(nodes) > len(self._node_order) // 8:
            alive = np.zeros(self._trie.nodes, np.bool_)
            alive[nodes] = True
            alive[0] = False
            return np.flatnonzero(alive[self._trie.node_of_token]).astype(np.int32)
        first = np.searchsorted(self._node_order, nodes)
        last = np.searchsorted(self._node_order, nodes, "right")
        counts = last - first
        offsets = np.repeat(first - np.cumsum(counts) + counts, counts)
        found = self._order[offsets + np.arange(int(counts.sum()))]
        return np.unique(found)
