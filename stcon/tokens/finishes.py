"""What each token makes of a stack symbol, told apart by what is left to finish.

The walk of the transducer, but it keeps at each token the relative configuration it
leads to, with whole windows: from that and the cells below follows what finishing
costs after the token.  Needed where a limit on tokens is near; a hop costs about
twice what it does for a mask.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stcon.machines.openings import Stack
from stcon.machines.pushdown import Pushdown
from stcon.tokens.hops import Hop, TokensAt
from stcon.tokens.transducer import Transducer
from stcon.tokens.trie import Trie

Way = tuple[tuple[int, Stack], ...]
"""(ticks taken from the window of the symbol, what is above it now), alternatives."""


@dataclass(frozen=True, eq=False)
class Finish:
    """``tokens``: int32 [n], ids that are alive above the symbol or end where it is
    popped; ``way``: int32 [n], the number of the way of each; ``hop``: tells what
    goes on below."""

    hop: Hop
    tokens: NDArray[np.int32]
    way: NDArray[np.int32]
    ways: list[Way]


class Finishes:
    """Those of one machine over one vocabulary, filled as they are asked for."""

    def __init__(
        self, machine: Pushdown, trie: Trie, standard: Finishes | None = None
    ) -> None:
        """``standard``: those of ``machine.standard``, for the same trie."""
        self._machine = machine
        self._trie = trie
        self._standard = standard
        shared = standard._transducer if standard else None
        self._transducer: Transducer = Transducer(machine, trie, shared, True)
        self._tokens: TokensAt = standard._tokens if standard else TokensAt(trie)
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
        hop = ends.hop(self._trie, self._tokens, self._transducer.pending, None)
        nodes, config, ticks = ends.reached()
        tokens, places = self._tokens.few(nodes)
        keys = config[places].astype(np.int64) << 32 | ticks[places]
        distinct, way = np.unique(keys, return_inverse=True)
        stacks = self._transducer.stacks
        ways = [
            tuple((key % (1 << 32) + t, stack) for t, stack in stacks(key >> 32))
            for key in distinct.tolist()
        ]
        return Finish(hop, tokens, way.astype(np.int32), ways)
