"""Refuse a format that the vocabulary cannot write to the end.

If every byte the automaton reads has a one-byte token, every state has a way
on and nothing need be searched; all byte-level tokenizers are like that.
Otherwise the states that tokens reach are searched, and the bytes that no
token produces are named: better than logits that are all -inf, out of which a
sampler silently picks token 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stcon.errors import VocabularyError
from stcon.machines.dfa import DEAD, Dfa

if TYPE_CHECKING:
    from stcon.tokens.vocabulary import Vocabulary


def refuse_dead_ends(dfa: Dfa, table: NDArray[Any], vocabulary: Vocabulary) -> None:
    """Nothing; raises VocabularyError when tokens can reach a state from which
    no tokens lead to acceptance.

    ``table``: int [states + 1, classes + 1], with the end-of-text column.
    """
    readable = (dfa.next != DEAD).any(axis=0)[dfa.byte_class]
    missing = readable & (vocabulary.byte_tokens < 0)
    if not missing.any():
        return
    stuck = _reached(table, dfa.start) & ~_finishing(table)
    if stuck.any():
        _refuse(dfa, int(np.argmax(stuck)), missing)


def _reached(table: NDArray[Any], start: int) -> NDArray[np.bool_]:
    """bool [states + 1]: whether tokens lead from the start to a state."""
    reached = np.zeros(len(table), bool)
    ring = np.array([start])
    while ring.size:
        reached[ring] = True
        after = np.unique(table[ring])
        ring = after[(after != DEAD) & ~reached[after]]
    return reached


def _finishing(table: NDArray[Any]) -> NDArray[np.bool_]:
    """bool [states + 1]: whether tokens lead from a state to the end."""
    finishing = np.zeros(len(table), bool)
    finishing[-1] = True
    while True:
        more = finishing[table].any(axis=1)
        if (more <= finishing).all():
            return finishing
        finishing |= more


def _refuse(dfa: Dfa, state: int, missing: NDArray[np.bool_]) -> None:
    bytes_needed = bytes(b for b in dfa.live(state) if missing[b]) or bytes(
        np.flatnonzero(missing).tolist()
    )
    shown = ", ".join(repr(bytes([b]))[1:] for b in bytes_needed[:20])
    more = f" and {len(bytes_needed) - 20} more" if len(bytes_needed) > 20 else ""
    if state == dfa.start:
        place = "at the start of the output"
    else:
        place = f"after {_path_to(dfa, state)!r}"
    raise VocabularyError(
        f"no token of this vocabulary can write the format on {place}: "
        f"it needs a token that starts with one of {shown}{more}",
        hint="use a tokenizer whose vocabulary covers these bytes, or a format "
        "without them",
    )


def _path_to(dfa: Dfa, goal: int) -> bytes:
    """A shortest text that leads to ``goal``."""
    came = {dfa.start: b""}
    ring = [dfa.start]
    for state in ring:
        if state == goal:
            break
        for byte in dfa.live(state):
            after = dfa.step(state, byte)
            if after not in came:
                came[after] = came[state] + bytes([byte])
                ring.append(after)
    return came[goal]
