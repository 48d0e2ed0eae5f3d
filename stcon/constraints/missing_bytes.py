"""Refuse a grammar that a vocabulary may leave stuck.

If every byte the grammar reads has a one-byte token there is nothing to search; all
byte-level tokenizers are like that.  Otherwise every state that bytes of tokens reach
must come to its end by bytes that are tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from stcon.errors import VocabularyError
from stcon.machines.grammar_shortest import GrammarShortest
from stcon.machines.network import Network

if TYPE_CHECKING:
    from stcon.tokens.vocabulary import Vocabulary


def usable_bytes(vocabulary: Vocabulary) -> int:
    """The bytes that are a token of their own, as bits."""
    return sum(1 << b for b in np.flatnonzero(vocabulary.byte_tokens >= 0).tolist())


def missing_bytes(network: Network, usable: int) -> list[int]:
    """The bytes that ``network`` reads and that are not ``usable``."""
    found = 0
    for moves in network.moves:
        for mask, _ in moves:
            found |= mask
    found &= ~usable
    return [byte for byte in range(256) if found >> byte & 1]


def gets_stuck(
    network: Network, shortest: GrammarShortest, vocabulary: Vocabulary
) -> bool:
    """Whether a state that bytes of tokens reach cannot end its rule by one-byte
    tokens."""
    occurring = sum(1 << b for b in np.unique(vocabulary.data).tolist())
    todo = [network.start] if network.start >= 0 else []
    seen = set(todo)
    for at in todo:
        if at not in shortest.length:
            return True
        after = {to for mask, to in network.moves[at] if mask & occurring}
        after.update(network.skips[at])
        for rule, back in network.calls.get(at, ()):
            after |= {network.entries[rule], back}
        todo += after - seen
        seen |= after
    return False


def refuse_missing(lacking: list[int]) -> NoReturn:
    """Never returns: VocabularyError, for these bytes without a token."""
    shown = ", ".join(repr(bytes([b]))[1:] for b in lacking[:20])
    raise VocabularyError(
        f"no token of this vocabulary is just the byte {shown}, and without "
        "it the format may get stuck",
        hint="a format that contains itself needs one-byte tokens to finish "
        "from everywhere; use a byte-level tokenizer",
    )
