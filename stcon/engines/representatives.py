"""One token of each class, as the whole vocabulary of another engine.

Tokens of a displacement class do the same to every stack, so an engine that is given
their representatives for a vocabulary masks, and goes on, as with all tokens.
Source: token-space-compression paper, section 3.3.  Two kinds beside its classes: ids
that end an output, and ids that are no text, which no representative stands for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stcon.cpu.rows import ClassRows
from stcon.tokens.displacement import DisplacementClasses
from stcon.tokens.vocabulary import Vocabulary


class Representatives:
    """The vocabulary of an engine that speaks classes.

    ``kind_of``: int32 [vocabulary size], the id of each token in that vocabulary; more
    than ``end`` for special and unknown ids, which never come.
    ``texts``: the bytes of its ids, the shortest of their class; the last one, of the
    id ``end``, are empty.
    """

    def __init__(self, classes: DisplacementClasses, vocabulary: Vocabulary) -> None:
        """``classes``: of a grammar, after ``build``, with ``vocabulary``."""
        lengths = np.diff(vocabulary.offsets)
        text = np.flatnonzero(lengths)
        order = text[np.argsort(lengths[text], kind="stable")]
        found, first, kinds = np.unique(
            classes.class_of[order], return_index=True, return_inverse=True
        )
        self.end = len(found)
        self.texts = [vocabulary.token_bytes(t) for t in order[first].tolist()]
        self.texts.append(b"")
        self.kind_of = np.full(vocabulary.size, self.end + 1, np.int32)
        self.kind_of[order] = kinds.reshape(-1)
        self.kind_of[list(vocabulary.eos_ids)] = self.end
        self._rows = ClassRows(self.kind_of, self.end + 2)

    @property
    def nbytes(self) -> int:
        """Bytes of the map from tokens to classes, and of the texts."""
        return self.kind_of.nbytes + sum(map(len, self.texts))

    def expanded(self, mask: bytes, width: int) -> NDArray[np.bool_]:
        """bool [width]: the mask of all tokens from the packed mask of the engine,
        whose lowest bits come first."""
        bits = np.frombuffer(mask, np.uint8)
        is_open = np.unpackbits(bits, bitorder="little", count=self.end + 1)
        return self._rows.row(np.append(is_open.view(np.bool_), False), width)
