"""Inside free text: what lies below a trie node, without walking there.

Most tokens leave a format's own words at once and are free text from there on: a
key that is none of the declared ones, say.  The standard rule for the rest of a
string is walked once from the root of the trie.  Wherever another walk comes to a
node in that very configuration, and the first walk was in it there too, both go
on alike below, so everything is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stcon.tokens.ranks import Ranks

Nodes = NDArray[np.int32]


@dataclass(eq=False)
class Inside:
    """The walk of the standard state ``state`` from the root.

    ``is_back``: bool [nodes], whether it is in ``state`` again there.
    ``is_alive``: bool [nodes], by rank: whether the walk reaches the node.
    ``popped``: the nodes at which the rule ends and tokens go on.
    """

    state: int
    is_back: NDArray[np.bool_]
    is_alive: NDArray[np.bool_]
    popped: Nodes
    ranks: Ranks

    def below(self, nodes: Nodes) -> tuple[Nodes, Nodes]:
        """The nodes reached in the subtrees of ``nodes``, themselves included, and
        those at which the rule ends."""
        covered = self.ranks.covered(nodes)
        reached = self.ranks.node_at[covered & self.is_alive]
        return reached, self.popped[covered[self.ranks.rank[self.popped]]]
