"""How long a launch takes at the size of a real vocabulary; on GPUs only."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import mlx.core as mx
import numpy as np

from stcon.api import constrain
from stcon.bench.cases import form
from stcon.constraints.dfa import DfaConstraint
from stcon.machines.limits import Limits
from stcon.metal import advance, mask, pushdown, sparse_head, walk
from stcon.metal.kernel import Kernel
from stcon.metal.pushdown_cases import machine, some_stacks
from stcon.metal.pushdown_twin import checked_mask
from stcon.metal.samples import int32
from stcon.metal.stacks import StackTables
from stcon.metal.tables import TokenTables
from stcon.tokens.vocabulary import Vocabulary

TOKENS = 248_000
_LAUNCHES = 50


@cache
def large_vocabulary() -> Vocabulary:
    """As many random tokens as Qwen3.5 has, of 1 to 12 letters, and every byte."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 13, TOKENS)
    letters = rng.integers(32, 127, int(sizes.sum())).astype(np.uint8).tobytes()
    ends = np.cumsum(sizes).tolist()
    words = [letters[end - size : end] for end, size in zip(ends, sizes, strict=True)]
    single = [bytes([byte]) for byte in range(256)]
    return Vocabulary.from_bytes([None, *single, *words], [0])


def launches() -> Iterator[tuple[str, Kernel[Any], Any]]:
    """What is timed: a name, the kernel, and arguments of the size of a real model."""
    patient = Limits(seconds=60)
    one = constrain(large_vocabulary(), form(48), path="traced", limits=patient)
    assert isinstance(one, DfaConstraint)
    tables, automata = TokenTables([one]), walk.ByteTables([one])
    stack_tables = StackTables([machine(1)], large_vocabulary())
    for rows in (1, 16):
        grammar = int32([0] * rows)
        state = int32(np.arange(rows) * 7 + 1)
        logits = mx.zeros((rows, one.vocabulary.size), mx.bfloat16)
        masked = mask.checked(tables, grammar, state, None, logits)
        yield f"mask, {rows} rows", mask.KERNEL, masked
        walked = walk.checked(automata, grammar, state, one.vocabulary.size)
        yield f"walk, {rows} rows", walk.KERNEL, walked
        stepped = advance.checked(tables, grammar, state, None, state)
        yield f"advance, {rows} rows", advance.KERNEL, stepped
        grammar, stacks = some_stacks(stack_tables, rows, 0)
        held = checked_mask(stack_tables, grammar, stacks, None, logits)
        yield f"mask with stacks, {rows} rows", pushdown.MASK, held
    weight = mx.zeros((4096, 2048), mx.bfloat16)
    packed = mx.quantize(weight, group_size=64, bits=4)
    for count in (10, 1000):
        chosen = int32(np.arange(count) * 4)
        x = mx.ones((2048,), mx.bfloat16)
        head = sparse_head.checked_quantised(x, chosen, *packed, 4, 64)
        yield f"head, {count} tokens of 2,048, 4 bits", sparse_head.QUANTISED, head


def timings() -> Iterator[tuple[str, float]]:
    """Of each launch its name and microseconds: the best of 50, enqueued in fives so
    that the cost of waiting is shared."""
    for name, kernel, arguments in launches():
        best = float("inf")
        for _ in range(_LAUNCHES // 5):
            began = time.perf_counter_ns()
            mx.eval([kernel.launch(arguments) for _ in range(5)])
            best = min(best, (time.perf_counter_ns() - began) / 5e3)
        yield name, best
