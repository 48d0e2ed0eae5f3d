"""Displacement classes: tokens that do the same to every stack.

Mask classes only say which tokens may come; here tokens are one class if they also pop
and push the same, so that after either of them a grammar is in the same place.  Another
engine that is asked about one token of each class then knows of all: that is the token
space compression of CFGzip.  Read off the automata: of every set P of trie nodes and
stack symbol that an output can meet, the set of stacks that each token makes of the
symbol, by its number.  Sets are compared by content, so classes are never too coarse.
Source: token-space-compression paper, section 3; without Greibach normal form, which
guesses what a rule ends with.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stcon.tokens.grammar_hops import GrammarTransducer
from stcon.tokens.hops import Ends

_MIX = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)


class DisplacementClasses:
    """``class_of``: int32 [tokens]; special tokens are in the class of those that are
    never read.  ``first``: int32 [classes], the least token of each class."""

    def __init__(self, class_of: NDArray[np.int32]) -> None:
        """``class_of``: numbers without gaps."""
        self.class_of = class_of
        self.first = np.unique(class_of, return_index=True)[1].astype(np.int32)

    def with_class_of_ends(self, ids: Sequence[int]) -> DisplacementClasses:
        """These classes, but for the tokens ``ids``, which are one of their own."""
        class_of = self.class_of.copy()
        class_of[list(ids)] = self.count
        numbers = np.unique(class_of, return_inverse=True)[1]
        return DisplacementClasses(numbers.reshape(-1).astype(np.int32))

    @property
    def count(self) -> int:
        """How many classes there are."""
        return len(self.first)

    def expanded(self, of_first: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """bool [tokens]: the mask of all tokens from that of ``first``."""
        return np.take(of_first, self.class_of)


class DisplacementSums:
    """What tells tokens apart, summed while the trie is walked for each hop.

    Two sums of hashes of 64 bits a token: two of a billion pairs of sums are equal by
    chance once in 2^68 grammars.
    """

    def __init__(self, transducer: GrammarTransducer) -> None:
        self._tokens = transducer.tokens
        self._sums = np.zeros((2, transducer.tokens.size), np.uint64)
        self._walks = 0

    def add(self, ends: Ends) -> None:
        """Nothing; ``ends`` are of one more set of nodes and symbol."""
        nodes, config, _ = ends.reached()
        tokens, places = self._tokens.few(nodes)
        keys = config[places].astype(np.uint64) | np.uint64(self._walks << 32)
        for row, more in zip(self._sums, (_mixed(keys), _mixed(~keys)), strict=True):
            # a token may be read from two places of P: its hashes are added
            np.add.at(row, tokens, more)
        self._walks += 1

    def classes(self) -> DisplacementClasses:
        """Those of all that was added."""
        sums = np.ascontiguousarray(self._sums.T)
        pairs = sums.view([("a", np.uint64), ("b", np.uint64)])
        inverse = np.unique(pairs, return_inverse=True)[1]
        return DisplacementClasses(inverse.reshape(-1).astype(np.int32))


def _mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """splitmix64 (Steele, Lea and Flood 2014)."""
    keys = keys + _MIX[0]
    keys = (keys ^ (keys >> np.uint64(30))) * _MIX[1]
    keys = (keys ^ (keys >> np.uint64(27))) * _MIX[2]
    mixed: NDArray[np.uint64] = keys ^ (keys >> np.uint64(31))
    return mixed
