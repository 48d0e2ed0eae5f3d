"""The fewest tokens in which a text can be written, of all ways to split it."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache

import numpy as np

from stcon.tokens.trie import Trie

NEVER = 1 << 30
"""More tokens than any text has: there is no such split."""


class Fewest:
    """Splits over the tokens of one trie; 5 µs a byte."""

    def __init__(self, trie: Trie) -> None:
        is_token = np.zeros(trie.nodes, np.bool_)
        is_token[trie.node_of_token] = True
        is_token[0] = False
        self._is_token = memoryview(is_token.data)
        self._first = memoryview(trie.first_child.data)
        self._count = memoryview(trie.child_count.data)
        self._byte = memoryview(trie.byte.data)
        self._longest = trie.levels
        self.of = lru_cache(maxsize=4096)(self._of)

    def _of(self, text: bytes) -> int:
        """The fewest tokens of ``text``; NEVER or more where no tokens write it."""
        return self.extended(text, b"", [0])[0]

    def extended(self, head: bytes, text: bytes, counts: list[int]) -> list[int]:
        """The fewest tokens of ``head + text`` from each place on.

        ``counts``: those of ``text``, [len(text) + 1]; the last may be more than 0.
        """
        whole = head + text[: self._longest]
        found = [NEVER] * len(head)
        for place in range(len(head) - 1, -1, -1):
            found[place] = self._from(whole, place, found, counts)
        return found + counts

    def nodes(self, text: bytes) -> list[int]:
        """The trie nodes of the beginnings of ``text``, as far as there are any."""
        node, found = 0, []
        for byte in text:
            low = self._first[node]
            high = low + self._count[node]
            node = bisect_left(self._byte, byte, low, high)
            if node == high or self._byte[node] != byte:
                break
            found.append(node)
        return found

    def _from(
        self, whole: bytes, place: int, found: list[int], counts: list[int]
    ) -> int:
        """The fewest tokens from ``place`` on, those of later places being known."""
        node, best, size = 0, NEVER, len(found)
        first, count, byte, is_token = (
            *(self._first, self._count),
            *(self._byte, self._is_token),
        )
        for at in range(place, len(whole)):
            low = first[node]
            high = low + count[node]
            node = bisect_left(byte, whole[at], low, high)
            if node == high or byte[node] != whole[at]:
                break
            if is_token[node]:
                after = at + 1
                rest = found[after] if after < size else counts[after - size]
                best = min(best, rest + 1)
        return best
