"""The laws every constraint obeys, as functions of a constraint.

The slow twin reads a token byte by byte from the bytes of the output so far;
nothing of the token tables is used.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from stcon.constraints.constraint import Constraint
from stcon.machines.dfa import DEAD


def slow_mask(constraint: Constraint, state: int, ended: bool) -> np.ndarray:
    """bool [size]: allowed tokens, one byte at a time."""
    vocabulary = constraint.vocabulary
    mask = np.zeros(vocabulary.size, bool)
    for token in range(vocabulary.size):
        if token in vocabulary.eos_ids:
            mask[token] = ended or constraint.is_complete(state)
        elif vocabulary.is_text(token) and not ended:
            at = state
            for byte in vocabulary.token_bytes(token):
                at = constraint.read(at, bytes([byte]))
                if at == DEAD:
                    break
            mask[token] = at != DEAD
    return mask


def walk(constraint: Constraint, rng: random.Random, longest: int) -> Iterator[int]:
    """The states of one random run, the state after the end included."""
    state = constraint.start
    eos = constraint.vocabulary.eos_ids[0]
    for _ in range(longest):
        yield state
        allowed = np.flatnonzero(constraint.allowed(state))
        assert len(allowed), "a reachable state without an allowed token"
        state = constraint.advance(state, int(rng.choice(allowed)))
        if constraint.allowed(state)[eos] and not constraint.live(state):
            yield state
            state = constraint.advance(state, eos)
            yield state
            return


def check_mask_is_accept(
    constraint: Constraint, seed: int, runs: int = 3, longest: int = 60
) -> None:
    """Law 1 and 2 on the states of some random runs."""
    rng = random.Random(seed)
    seen: dict[int, None] = {}
    for _ in range(runs):
        seen.update(dict.fromkeys(walk(constraint, rng, longest)))
    eos = constraint.vocabulary.eos_ids[0]
    for state in seen:
        ended = constraint.advance(state, eos) == state
        have = constraint.allowed(state)
        assert np.array_equal(have, slow_mask(constraint, state, ended))
        after = [constraint.advance(state, t) for t in np.flatnonzero(~have)[:50]]
        assert set(after) <= {DEAD}


def check_outputs_are_valid(constraint: Constraint, seed: int, runs: int = 5) -> None:
    """What random choices among allowed tokens write, ended at the first end
    they are offered after 40 tokens or by a shortest completion, is accepted."""
    rng = random.Random(seed)
    vocabulary = constraint.vocabulary
    for _ in range(runs):
        state, output = constraint.start, b""
        for _ in range(40):
            allowed = np.flatnonzero(constraint.allowed(state))
            token = int(rng.choice(allowed))
            if token in vocabulary.eos_ids:
                break
            output += vocabulary.token_bytes(token)
            state = constraint.advance(state, token)
        output += constraint.shortest(state)
        assert constraint.matches(output), constraint.explain(output)


def check_forced(constraint: Constraint, seed: int) -> None:
    """Forced text is what every continuation starts with, and no longer."""
    rng = random.Random(seed)
    for state in walk(constraint, rng, 30):
        at = state
        for byte in constraint.forced(state):
            assert constraint.live(at) == (byte,) and not constraint.is_complete(at)
            at = constraint.read(at, bytes([byte]))
        assert len(constraint.live(at)) != 1 or constraint.is_complete(at)
