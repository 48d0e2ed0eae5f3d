"""Costs for a finite automaton: the fewest tokens to the end, exactly.

Shortest paths over token classes.  A token is allowed iff the output can still be
finished after it, so no mask with this guarantee is less restrictive.
Source: few-paths paper, mechanism 4, Theorem 21.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.constraints.costs import Costs
from stcon.machines.dfa import DEAD
from stcon.tokens.fewest import NEVER
from stcon.tokens.vocabulary import Vocabulary

_CHUNK = 1 << 22  # entries of the table that are looked at together


class DfaCosts(Costs):
    """``least_tokens``: int32 [states + 1], NEVER for the dead state."""

    is_exact = True

    def __init__(
        self,
        table: NDArray[Any],
        class_of: NDArray[Any],
        accepts: NDArray[np.bool_],
        vocabulary: Vocabulary,
    ) -> None:
        """``table``: int [states + 1, classes + 1], the last class that of the
        end-of-text ids; ``class_of``: [tokens]; ``accepts``: bool [states]."""
        self._table = table
        self._class_of = class_of
        self._vocabulary = vocabulary
        self.least_tokens = least_tokens(table[:, :-1], np.append(accepts, True))

    def least(self, state: int) -> int:
        """See Costs."""
        return int(self.least_tokens[state])

    def text(self, state: int) -> bytes:
        """See Costs; of several tokens the first of the first class."""
        out = b""
        while (left := self.least(state)) > 0:
            after = self.least_tokens[self._table[state, :-1]]
            cls = int(np.argmax(after == left - 1))
            token = int(np.argmax(self._class_of == cls))
            out += self._vocabulary.token_bytes(token)
            state = int(self._table[state, cls])
        return out

    def is_roomy(self, state: int, left: int) -> bool:
        """See Costs."""
        after = self._table[state, :-1]
        return bool((self.least_tokens[after[after != DEAD]] < left).all())

    def allowed(self, state: int, left: int) -> NDArray[np.bool_]:
        """See Costs."""
        row: NDArray[np.bool_] = np.take(self.open_classes(state, left), self._class_of)
        return row

    def open_classes(self, state: int, left: int) -> NDArray[np.bool_]:
        """See Costs."""
        after = self._table[state]
        is_open: NDArray[np.bool_] = self.least_tokens[after] < left
        is_open[-1] = after[-1] != DEAD
        return is_open


def least_tokens(table: NDArray[Any], ends: NDArray[np.bool_]) -> NDArray[np.int32]:
    """int32 [states]: the fewest tokens to a state that ``ends``.

    ``table``: int [states, classes], the state after a token of a class.
    Backwards from the ends, a token at a time; linear in the table.
    """
    sources, first = _edges_into(table)
    least = np.full(len(table), NEVER, np.int32)
    ring = np.flatnonzero(ends)
    steps = 0
    while len(ring):
        least[ring] = steps
        steps += 1
        counts = first[ring + 1] - first[ring]
        offsets = np.repeat(first[ring] - np.cumsum(counts) + counts, counts)
        before = np.unique(sources[offsets + np.arange(len(offsets))])
        ring = before[least[before] == NEVER]
    return least


def _edges_into(table: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The states before each state: ``sources[first[s] : first[s + 1]]``."""
    states, classes = table.shape
    rows = max(_CHUNK // max(classes, 1), 1)
    parts = [np.zeros(0, np.int64)]
    for at in range(0, states, rows):
        goals = table[at : at + rows].astype(np.int64)
        pairs = goals * states + np.arange(at, at + len(goals))[:, None]
        parts.append(np.unique(pairs[goals != DEAD]))
    goals, sources = np.divmod(np.sort(np.concatenate(parts)), states)
    return sources, np.searchsorted(goals, np.arange(states + 1))
