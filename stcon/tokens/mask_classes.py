"""Mask classes: tokens that no place of a grammar tells apart.

Two tokens are in one class if every hop has both or neither; then every mask has both
or neither, since masks are unions of hops.  A grammar of a programming language leaves
a few thousand classes of 128,000 tokens, so a mask is some hundred bytes.
From token-space compression (CFGzip), for our own masks: what tokens push does not
matter to them, so there are fewer classes than that paper has.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from stcon.tokens.hops import Hop

_SEED = 0x57C0


class MaskClasses:
    """``class_of``: int32 [tokens]; class 0 is that of tokens no hop has.
    ``first``: int32 [classes], the least token of each."""

    def __init__(self, hops: Iterable[Hop], tokens: int) -> None:
        """Classes of ``hops`` over ``tokens`` ids.

        Tokens are told apart by a sum of random numbers, one a hop, and then every
        hop is looked at again: classes are exact, or ValueError is raised (once in
        2^30 grammars).
        """
        found = {hop.digest: hop for hop in hops if hop.digest}
        sums = np.zeros(tokens, np.uint64)
        rng = np.random.default_rng(_SEED)
        for hop in found.values():
            sums[self._ids(hop, tokens)] += rng.integers(1, 1 << 63, dtype=np.uint64)
        _, first, inverse = np.unique(sums, return_index=True, return_inverse=True)
        self.class_of = inverse.astype(np.int32)
        self.first = first.astype(np.int32)
        self._sizes = np.bincount(self.class_of, minlength=len(first))
        self._rows = {d: self._row(hop, tokens) for d, hop in found.items()}

    @property
    def count(self) -> int:
        """How many classes there are."""
        return len(self.first)

    @property
    def nbytes(self) -> int:
        """Bytes of the masks of all hops by class, and of the class of each token."""
        rows = sum(row.nbytes for row in self._rows.values())
        return rows + self.class_of.nbytes + self.first.nbytes

    def mask(self, digests: Iterable[bytes]) -> NDArray[np.bool_]:
        """bool [tokens]: those of the hops with these digests."""
        whole = np.zeros(-(-self.count // 8), np.uint8)
        for digest in digests:
            if digest:
                whole |= self._rows[digest]
        is_open = np.unpackbits(whole, count=self.count).view(np.bool_)
        return np.take(is_open, self.class_of)

    @staticmethod
    def _ids(hop: Hop, tokens: int) -> NDArray[np.intp]:
        row = np.zeros(tokens, np.bool_)
        hop.paint(row, None)
        return np.flatnonzero(row)

    def _row(self, hop: Hop, tokens: int) -> NDArray[np.uint8]:
        """uint8 [classes / 8]: the classes that a hop has."""
        counts = np.bincount(
            self.class_of[self._ids(hop, tokens)], minlength=self.count
        )
        if not np.array_equal(counts[counts > 0], self._sizes[counts > 0]):
            raise ValueError("two sums of random numbers are equal")
        return np.packbits(counts > 0)
