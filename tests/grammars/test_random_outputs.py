"""What random choices write under a grammar and a limit, other parsers read."""

from __future__ import annotations

import random

import numpy as np
import pytest

from stcon import constrain, grammars
from tests.grammars import braces
from tests.grammars.test_bython import is_python
from tests.grammars.test_grammars import JUDGES
from tests.tiny import end_id, tokenizer

READERS = {**JUDGES, "BYTHON": lambda text: is_python(braces.to_python(text))}


def written(name: str, limit: int, seed: int) -> str:
    """A text of at most ``limit`` tokens, chosen at random."""
    grammar = getattr(grammars, name)
    limited = constrain(
        tokenizer(), grammar=grammar, eos_token_ids=[end_id()], max_tokens=limit
    )
    rng = random.Random(seed)
    place, out = limited.start, b""
    for _ in range(limit + 1):
        allowed = np.flatnonzero(limited.allowed(place)).tolist()
        token = rng.choice(allowed)
        if token == end_id():
            break
        out += limited.vocabulary.token_bytes(token)
        place = limited.advance(place, token)
    return out.decode()


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("seed", range(30))
def test_other_parsers_read_it(name: str, seed: int) -> None:
    text = written(name, 30 + 5 * seed, seed)
    assert READERS[name](text), text
