"""What each token makes of a stack symbol, told apart by what is left to finish.

The walk of the transducer, but it keeps at each token the relative configuration it
leads to, with whole windows: from that and the cells below follows what finishing
costs after the token.  Needed where a limit on tokens is near; free text, of which
the mask knows without a walk, takes 60 ms for 248k tokens.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stcon.machines.openings import Stack
from stcon.machines.pushdown import Pushdown
from stcon.tokens.transducer import Transducer

Ids = NDArray[np.int32]

_LARGE = 64  # more than one token in so many, and all of them are looked at

Way = tuple[tuple[int, Stack], ...]
"""(ticks taken from the window of the symbol, what is above it now), alternatives."""


@dataclass(frozen=True, eq=False)
class Finish:
    """``tokens``: int32 [n], ids that are alive above the symbol or end where it is
    popped; ``way``: int32 [n], the number of the way of each."""

    tokens: Ids
    way: Ids
    ways: list[Way]


class Finishes:
    """Those of one machine over one vocabulary, filled as they are asked for."""

    def __init__(
        self,
        machine: Pushdown,
        masks: Transducer,
        standard: Finishes | None = None,
    ) -> None:
        """``masks``: the transducer of the masks of ``machine``; ``standard``: the
        finishes of ``machine.standard``, for the same trie."""
        self._machine = machine
        self._standard = standard
        self._transducer = masks.with_whole_windows()
        self._trie = masks.trie
        self._tokens = masks.tokens
        self._found: dict[tuple[int, int], Finish] = {}
        self._lock = threading.Lock()

    def of(self, pending: int, state: int) -> Finish:
        """What is over stack symbol ``state`` for the nodes of ``pending``."""
        if self._standard is not None and state < self._machine.first:
            return self._standard.of(pending, state)
        known = self._found.get((pending, state))
        if known is None:
            with self._lock:
                known = self._found.get((pending, state))
                if known is None:
                    known = self._found[pending, state] = self._make(pending, state)
        return known

    def _make(self, pending: int, state: int) -> Finish:
        ends = self._transducer.walk(pending, state)
        nodes, config, ticks = ends.reached()
        most = int(ticks.max(initial=0)) + 1
        way, distinct = _numbered(config * most + ticks)
        stacks = self._transducer.stacks
        ways = [
            tuple((key % most + t, stack) for t, stack in stacks(key // most))
            for key in distinct
        ]
        return Finish(*self._at_tokens(nodes, way), ways)

    def _at_tokens(self, nodes: Ids, way: Ids) -> tuple[Ids, Ids]:
        """The tokens that end at ``nodes``, and the way of each."""
        if len(nodes) * _LARGE > self._tokens.size:
            at = np.full(self._trie.nodes, -1, np.int32)
            at[nodes] = way
            if np.count_nonzero(at >= 0) == len(nodes):  # none is there twice
                of_token = at[self._trie.node_of_token]
                alive = np.flatnonzero(of_token >= 0)
                return alive.astype(np.int32), of_token[alive]
        tokens, places = self._tokens.few(nodes)
        return tokens, way[places]


def _numbered(keys: Ids) -> tuple[Ids, list[int]]:
    """Small numbers for keys that are not large, and the keys by number."""
    is_used = np.zeros(int(keys.max(initial=0)) + 1, np.bool_)
    is_used[keys] = True
    number = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
    return number[keys], np.flatnonzero(is_used).tolist()
