"""Texts that differ from a given one in one place."""

from __future__ import annotations

import random
from collections.abc import Iterator


def mutants(text: str, count: int, seed: int = 0) -> Iterator[str]:
    """``count`` texts with one character left out, doubled or put elsewhere."""
    rng = random.Random(seed)
    places = [at for at, char in enumerate(text) if not char.isspace()]
    for _ in range(count):
        at, other = rng.choice(places), rng.choice(places)
        kind = rng.randrange(3)
        put = "" if kind == 0 else text[at] * 2 if kind == 1 else text[other]
        yield text[:at] + put + text[at + 1 :]
