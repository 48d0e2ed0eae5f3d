"""The fewest tokens in which a text can be written, of all ways to split it.

A text may leave bytes open: at each place stands one of some bytes, whichever makes
the tokens longest.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.tokens.trie import Trie

NEVER = 1 << 30
"""More tokens than any text has: there is no such split."""

Text = tuple[bytes, ...]
"""The bytes that may stand at each place, ascending."""

_KEPT = 256  # texts whose counts are kept
_BEAM = 16  # beginnings of tokens that are followed where bytes are open


def exactly(data: bytes) -> Text:
    """The text that is ``data``."""
    return tuple(data[at : at + 1] for at in range(len(data)))


class Fewest:
    """Splits over the tokens of one trie; 5 µs a byte.

    Where bytes are open not all tokens are tried: there the numbers are what some
    split takes, the fewest mostly.
    """

    def __init__(self, trie: Trie) -> None:
        is_token = np.zeros(trie.nodes, np.bool_)
        is_token[trie.node_of_token] = True
        is_token[0] = False
        self._trie = trie
        self._is_token = memoryview(is_token.data)
        self._first = memoryview(trie.first_child.data)
        self._count = memoryview(trie.child_count.data)
        self._byte = memoryview(trie.byte.data)
        self._known: OrderedDict[Text, list[int]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, text: bytes) -> int:
        """The fewest tokens of ``text``; NEVER or more where no tokens write it."""
        return self.counts(exactly(text))[0]

    def counts(self, text: Text) -> list[int]:
        """The fewest tokens from each place of ``text`` to its end."""
        known = self._known.get(text)
        if known is None:
            known = self.extended(text, (), [0])
            self.keep(text, known)
        return known

    def keep(self, text: Text, counts: list[int]) -> None:
        """Nothing; ``counts(text)`` is known from now on, or for a while."""
        with self._lock:
            self._known[text] = counts
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)

    def rest(self, text: Text, size: int) -> Text:
        """``text`` without its first ``size`` places; its counts are kept."""
        rest = text[size:]
        self.keep(rest, self.counts(text)[size:])
        return rest

    def extended(self, head: Text, text: Text, counts: list[int]) -> list[int]:
        """The fewest tokens of ``head + text`` from each place to the end.

        ``counts``: those of ``text``, [len(text) + 1]; the last may be more than 0.
        """
        whole = head + text[: self._trie.levels]
        all_counts = [NEVER] * len(head) + counts
        for place in range(len(head) - 1, -1, -1):
            ends = (all_counts[end] + 1 for end, _ in self._tokens(whole, place))
            all_counts[place] = min(ends, default=NEVER)
        return all_counts

    def spelled(self, text: Text, counts: list[int]) -> bytes:
        """``text`` with bytes chosen such that it takes ``counts[0]`` tokens."""
        out = b""
        while len(out) < len(text) and counts[len(out)] < NEVER:
            at = len(out)
            for end, node in self._tokens(text, at):
                if counts[end] + 1 == counts[at]:
                    out += self._spelling(node)
                    break
        return out

    def tokens_along(self, text: Text, ends: list[bool]) -> NDArray[np.intp]:
        """The tokens that a beginning of ``text`` is, of all that may be; those of
        n bytes only if ``ends[n]``."""
        trie = self._trie
        at: NDArray[Any] = np.zeros(1, np.int32)
        found: list[NDArray[Any]] = [np.zeros(0, np.int32)]
        for place, options in enumerate(text, 1):
            counts = trie.child_count[at]
            offsets = np.repeat(
                trie.first_child[at] - np.cumsum(counts) + counts, counts
            )
            at = offsets + np.arange(len(offsets))
            is_option = np.zeros(256, np.bool_)
            is_option[list(options)] = True
            at = at[is_option[trie.byte[at]]]
            if not len(at):
                break
            if ends[place]:
                found.append(at)
        return np.flatnonzero(np.isin(trie.node_of_token, np.concatenate(found)))

    def _tokens(self, text: Text, place: int) -> Iterator[tuple[int, int]]:
        """(end, trie node) of tokens that may stand at ``place``; one for each end."""
        nodes = [0]
        for at in range(place, len(text)):
            nodes = self._below(nodes, text[at])
            if not nodes:
                return
            for node in nodes:
                if self._is_token[node]:
                    yield at + 1, node
                    break

    def _below(self, nodes: list[int], options: bytes) -> list[int]:
        """The children of ``nodes`` by a byte of ``options``, some of them."""
        first, count, byte = self._first, self._count, self._byte
        found: list[int] = []
        for node in nodes:
            low = first[node]
            high = low + count[node]
            if len(options) == 1:
                child = bisect_left(byte, options[0], low, high)
                if child < high and byte[child] == options[0]:
                    found.append(child)
                continue
            found += [child for child in range(low, high) if byte[child] in options]
            if len(found) >= _BEAM:
                return found[:_BEAM]
        return found

    def _spelling(self, node: int) -> bytes:
        out = bytearray()
        while node:
            out.append(self._byte[node])
            node = int(self._trie.parent[node])
        return bytes(reversed(out))
