"""Random vocabularies, automata and rows: what the cases of the kernels are made of.

Everything is a function of a seed.  Random automata meet more corners than formats
do: bytes that loop, dead rows, states without an end.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NoReturn

import mlx.core as mx
import numpy as np

from stcon.constraints.constraint import Constraint
from stcon.constraints.dfa import DfaConstraint
from stcon.machines.dfa import Dfa
from stcon.metal.tables import NO_GRAMMAR, NO_LIMIT, TokenTables
from stcon.tokens.vocabulary import Vocabulary

BATCHES = (1, 7, 8, 9, 33)
"""Rows: mlx moves inputs of less than 8 entries to another address space."""
FLOATS = (mx.float32, mx.float16, mx.bfloat16)

_GRAMMARS = 16


@cache
def vocabulary(seed: int = 0, tokens: int = 517) -> Vocabulary:
    """Two end tokens, special ones, every byte, and random texts of up to 9 bytes."""
    rng = np.random.default_rng(seed)
    texts: list[bytes | None] = [None, *(bytes([byte]) for byte in range(256)), None]
    while len(texts) < tokens:
        size, letters = int(rng.integers(1, 10)), int(rng.integers(1, 257))
        texts.append(rng.integers(0, letters, size).astype(np.uint8).tobytes())
    return Vocabulary.from_bytes(texts, [0, tokens - 3])


def automaton(seed: int, states: int) -> Dfa:
    """A random automaton: state i goes on to i + 1, the last accepts, so that from
    each state the end is reached."""
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(2, 30))
    byte_class = rng.integers(0, classes, 256).astype(np.uint8)
    byte_class[:classes] = np.arange(classes)
    alive = rng.random((states, classes)) < rng.random()
    after = np.where(alive, rng.integers(1, states, (states, classes)), 0)
    chain = np.arange(1, states - 1)
    after[chain, rng.integers(0, classes, len(chain))] = chain + 1
    after[0] = 0
    accepts = rng.random(states) < 0.1
    accepts[0], accepts[-1] = False, True
    return Dfa(after.astype(np.int32), byte_class, accepts, 1)


def constraint(dfa: Dfa, words: Vocabulary, is_wide: bool = False) -> DfaConstraint:
    """The constraint of ``dfa``, for tables only; ``is_wide``: in 32 bits."""
    made = DfaConstraint.of(dfa, words, _no_processor)
    if is_wide:
        made.table = made.table.astype(np.int32)
        made.class_of = made.class_of.astype(np.int32)
    return made


@cache
def some_tables(is_wide: bool = False) -> TokenTables:
    """Those of 16 random automata of 2 to 40 states."""
    return TokenTables(some_constraints(is_wide), limits=True)


@cache
def some_constraints(is_wide: bool = False) -> tuple[DfaConstraint, ...]:
    """16 random automata of 2 to 40 states, joined with ``vocabulary()``."""
    sizes = np.random.default_rng(0).integers(2, 41, _GRAMMARS).tolist()
    return tuple(
        constraint(automaton(seed, size), vocabulary(), is_wide)
        for seed, size in enumerate(sizes)
    )


def rows_of(
    tables: TokenTables, rows: int, seed: int
) -> tuple[mx.array, mx.array, mx.array]:
    """Grammar, state and tokens left, int32 [rows] each: dead states, ended ones, rows
    without grammar and without limit among them."""
    rng = np.random.default_rng(seed)
    sizes = [one.dfa.states for one in some_constraints()]
    grammar = rng.integers(0, tables.grammars, rows)
    state = [int(rng.integers(0, sizes[g] + 1)) for g in grammar]
    left = np.where(rng.random(rows) < 0.3, NO_LIMIT, rng.integers(0, 12, rows))
    grammar = np.where(rng.random(rows) < 0.2, NO_GRAMMAR, grammar)
    return int32(grammar), int32(state), int32(left)


def int32(values: Any) -> mx.array:
    """``values`` as an int32 array."""
    return mx.array(np.asarray(values, np.int32))


def some_logits(
    rows: int, width: int, kind: mx.Dtype, seed: int, is_sliced: bool
) -> mx.array:
    """[rows, width], infinities and zeros of both signs among them; ``is_sliced``:
    every other column of a larger array, so that rows are not contiguous."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((rows, 2 * width)).astype(np.float32)
    values[rng.random(values.shape) < 0.05] = np.inf
    values[rng.random(values.shape) < 0.05] = -0.0
    whole = mx.array(values).astype(kind)
    return whole[:, ::2] if is_sliced else mx.contiguous(whole[:, :width])


def _no_processor(constraint: Constraint) -> NoReturn:
    raise TypeError("a sample has tables only")
