"""Depth-first ranks of a trie: everything below a node is one range."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stcon.tokens.trie import Trie

Nodes = NDArray[np.int32]


class Ranks:
    """``rank[n]``: place of node n in depth-first order; ``size[n]``: how many
    nodes its subtree has; ``node_at[rank]``: the node.  int32 [nodes] each."""

    def __init__(self, trie: Trie) -> None:
        levels = list(pairwise(trie.level_bounds.tolist()))
        self.size = np.ones(trie.nodes, np.int32)
        self.rank = np.zeros(trie.nodes, np.int32)
        for first, last in reversed(levels[1:]):
            parents = trie.parent[first:last]
            below = np.bincount(parents, self.size[first:last], minlength=first)
            self.size[:first] += below[:first].astype(np.int32)
        for first, last in levels[1:]:
            parents = trie.parent[first:last]
            sizes = self.size[first:last]
            before = np.cumsum(sizes, dtype=np.int32) - sizes
            siblings = before - before[trie.first_child[parents] - first]
            self.rank[first:last] = self.rank[parents] + 1 + siblings
        self.node_at = np.empty(trie.nodes, np.int32)
        self.node_at[self.rank] = np.arange(trie.nodes, dtype=np.int32)

    def covered(self, nodes: Nodes) -> NDArray[np.bool_]:
        """bool [nodes], by rank: whether it is in the subtree of one of ``nodes``
        (none of which is below another)."""
        change = np.zeros(len(self.rank) + 1, np.int8)
        first = self.rank[nodes]
        # ends and starts may meet, and cancel, but never pile up
        change[first] += 1
        change[first + self.size[nodes]] -= 1
        return np.cumsum(change[:-1], dtype=np.int8).view(np.bool_)
