"""A slow, obvious mask: each token's bytes are tried, one after the other."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from stcon.constraints.constraint import Constraint, State
from stcon.machines.dfa import DEAD


def slow_mask(
    constraint: Constraint, state: State, tokens: Iterable[int] | None = None
) -> np.ndarray:
    """bool [tokens]: which of ``tokens`` (all, if None) may come in ``state``, that
    of an output which has not ended.

    Nothing is used but steps of one byte, remembered by what was read.
    """
    vocabulary = constraint.vocabulary
    chosen = range(vocabulary.size) if tokens is None else tokens
    after: dict[bytes, State] = {b"": state}

    def allows(token: int) -> bool:
        if token in vocabulary.eos_ids:
            return constraint.is_complete(state)
        data = vocabulary.token_bytes(token)
        for end in range(1, len(data) + 1):
            read = data[:end]
            if read not in after:
                after[read] = constraint.read(after[read[:-1]], read[-1:])
            if after[read] == DEAD:
                return False
        return bool(data)

    return np.array([allows(int(token)) for token in chosen], bool)
