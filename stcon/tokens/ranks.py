"""Depth-first ranks of a trie: everything below a node is one range."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stcon.tokens.trie import Trie

Nodes = NDArray[np.int32]


class Ranks:
    """``rank[n]``: place of node n in depth-first order; ``size[n]``: how many
    nodes its subtree has.  ``order``: the tokens in that order; those of the subtree
    of n are ``order[first_token[n] : last_token[n]]``.  int32 all."""

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
        node_of_token = trie.node_of_token
        tokens = np.flatnonzero(node_of_token).astype(np.int32)
        ranks = self.rank[node_of_token[tokens]]
        self.order = tokens[np.argsort(ranks, kind="stable")]
        ranks.sort()
        self.first_token = np.searchsorted(ranks, self.rank).astype(np.int32)
        ends = self.rank + self.size
        self.last_token = np.searchsorted(ranks, ends).astype(np.int32)
