"""Hashes of histories that had to be forgotten, so that one that goes on is an error
and not taken for a new prompt."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

from stcon.errors import HistoryError

WIDTH = 4
"""Bytes of one token in a history, an unsigned little-endian number."""

_MAX_FORGOTTEN = 1 << 15


class Forgotten:
    """The last 32,768 of them."""

    def __init__(self) -> None:
        self._hashes: dict[bytes, int] = {}
        self._lengths: Counter[int] = Counter()

    def __len__(self) -> int:
        """How many hashes are kept."""
        return len(self._hashes)

    def has_length(self, length: int) -> bool:
        """Whether one of ``length`` tokens was forgotten."""
        return self._lengths[length] > 0

    def add(self, history: bytes) -> None:
        """Nothing; ``history`` is forgotten."""
        key, length = _digest(history), len(history) // WIDTH
        self._drop(key)
        self._hashes[key] = length
        self._lengths[length] += 1
        while len(self._hashes) > _MAX_FORGOTTEN:
            self._drop(next(iter(self._hashes)))

    def _drop(self, key: bytes) -> None:
        """Nothing; ``key`` is not known any more."""
        length = self._hashes.pop(key, None)
        if length is None:
            return
        self._lengths[length] -= 1
        if not self._lengths[length]:
            del self._lengths[length]

    def refuse(self, history: bytes, held: int) -> None:
        """Nothing; raises HistoryError when ``history`` is a forgotten one and one
        token more.  ``held``: the tokens that are remembered."""
        length = len(history) // WIDTH
        if not self.has_length(length - 1):
            return
        if _digest(history[:-WIDTH]) not in self._hashes:
            return
        raise HistoryError(
            f"a history of {length:,} tokens goes on that had to be forgotten: the "
            f"rows of this object hold more than {held:,} tokens",
            position=length - 1,
            hint="give each group of rows a constraint.fresh() of its own",
        )


def _digest(history: bytes) -> bytes:
    return blake2b(history, digest_size=16).digest()
