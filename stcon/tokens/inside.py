"""Inside free text: what lies below a trie node, without walking there.

Most tokens leave a format's own words at once and are free text from there on: a
key that is none of the declared ones, say.  The standard rule for the rest of a
string is walked once from the root of the trie, and the state at each node is
kept.  Wherever another walk comes to a node in just that state, both go on alike
below, so everything is known: the tokens are those of the first walk, in one range
of depth-first order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stcon.tokens.ranks import Ranks

if TYPE_CHECKING:
    from stcon.tokens.hops import Hop

Nodes = NDArray[np.int32]


@dataclass(eq=False)
class Inside:
    """The walk of a standard state from the root.

    ``state_at``: int16 [nodes], the state at each node; -1 where it is not one
    state alone.  ``row``: bool [tokens], those that the walk reaches.
    ``hop``: that from the root over the state.
    """

    state_at: NDArray[np.int16]
    row: NDArray[np.bool_]
    hop: Hop
    ranks: Ranks

    def below(self, nodes: Nodes) -> tuple[NDArray[np.bool_], Nodes]:
        """bool [tokens], those reached in the subtrees of ``nodes``, and the nodes
        there at which the rule ends."""
        ranks = self.ranks
        nodes = nodes[np.argsort(ranks.rank[nodes])]
        first = ranks.rank[nodes]
        ends = np.maximum.accumulate(first + ranks.size[nodes])
        is_top = np.append(True, first[1:] >= ends[:-1])  # below no other
        nodes, first = nodes[is_top], first[is_top]
        place = np.searchsorted(first, ranks.rank[self.hop.popped], "right") - 1
        inside = (place >= 0) & (
            ranks.rank[self.hop.popped] < (first + ranks.size[nodes])[place]
        )
        return self._tokens(nodes), self.hop.popped[inside]

    def _tokens(self, nodes: Nodes) -> NDArray[np.bool_]:
        """Ranges that are neighbours are one; whichever are fewer, the tokens in
        them or the others, are written one by one."""
        ranks = self.ranks
        first, last = ranks.first_token[nodes], ranks.last_token[nodes]
        starts = np.flatnonzero(np.append(True, first[1:] != last[:-1]))
        first, last = first[starts], last[np.append(starts[1:], len(nodes)) - 1]
        row = np.zeros_like(self.row)
        if 2 * int((last - first).sum()) < len(ranks.order):
            for low, high in zip(first.tolist(), last.tolist(), strict=True):
                tokens = ranks.order[low:high]
                row[tokens] = self.row[tokens]
            return row
        np.copyto(row, self.row)
        gaps = zip(
            [0, *last.tolist()], [*first.tolist(), len(ranks.order)], strict=True
        )
        for low, high in gaps:
            row[ranks.order[low:high]] = False
        return row
