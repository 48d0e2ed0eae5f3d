"""What engines that fill a packed bitmask have in common: one timed step."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from stcon.bench.engines import Engine, Walk
from stcon.bench.timing import Clock


class Matcher(Protocol):
    """A run of a grammar, from its start."""

    def advance(self, token: int) -> bool:
        """Whether ``token`` was allowed; it has been read."""

    def fill(self) -> NDArray[np.int32]:
        """int32 [1, words]: the packed mask of what may come next."""


class BitmaskEngine(Engine):
    """An engine whose grammars give a Matcher; ``width``: how many tokens it knows."""

    ways = ("packed", "bool")

    def __init__(self, width: int, clock: Clock) -> None:
        super().__init__(clock)
        self.width = width

    @abstractmethod
    def matcher(self, grammar: Any) -> Matcher:
        """A run of ``grammar`` from its start."""

    def first_mask(self, grammar: Any) -> None:
        """Nothing; the mask before the first token has been computed."""
        self.matcher(grammar).fill()

    def walk(self, grammar: Any, prompt: list[int], tokens: list[int]) -> Walk:
        """Nanoseconds of each step: read a token, fill the mask, upload it.

        The token comes as an int: reading it from mlx is not counted.
        """
        import mlx.core as mx

        mx.set_default_device(mx.cpu)
        matcher, width, clock = self.matcher(grammar), self.width, self.clock
        packed_ns, bool_ns = [], []
        for token in (None, *tokens):
            started = clock()
            if token is not None:
                matcher.advance(token)
            mask = matcher.fill()
            filled = clock()
            mx.array(mask)
            packed = clock()
            mx.array(unpacked(mask, width))
            unpacked_at = clock()
            packed_ns.append(packed - started)
            bool_ns.append(filled - started + unpacked_at - packed)
        return {"packed": packed_ns, "bool": bool_ns}

    def first_wrong(self, grammar: Any, tokens: list[int]) -> int | None:
        """The place of the first token the grammar does not allow, or None."""
        matcher = self.matcher(grammar)
        for place, token in enumerate(tokens):
            is_allowed = unpacked(matcher.fill(), self.width)[0, token]
            if not is_allowed or not matcher.advance(token):
                return place
        return None


def unpacked(mask: NDArray[np.int32], width: int) -> NDArray[np.bool_]:
    """bool [1, width] of a packed mask."""
    bits = np.unpackbits(mask.view(np.uint8), axis=1, bitorder="little", count=width)
    return bits.view(np.bool_)
