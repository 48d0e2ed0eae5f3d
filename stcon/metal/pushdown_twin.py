"""What the pushdown kernels are given, and their twins: one stack at a time, in numpy.

The twins step ``DeviceState``, the plain stack of ``machines/device_tables.py``, and
add up costs afresh.  They read the device, so they are for tests, the doctor and small
vocabularies; where mlx computes on the CPU, formats with a stack have the host path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import mlx.core as mx
import numpy as np
from numpy.typing import NDArray

from stcon.machines.device_tables import DeviceState
from stcon.metal.kernel import check
from stcon.metal.samples import FLOATS
from stcon.metal.stacks import (
    DEAD_TOP,
    DEPTH,
    ENDED_TOP,
    Stacks,
    StackTables,
)
from stcon.metal.tables import NO_LIMIT
from stcon.tokens.trie import Trie


class MaskArguments(NamedTuple):
    """See ``mask_stacks``."""

    tables: StackTables
    grammar: mx.array
    stacks: Stacks
    left: mx.array
    logits: mx.array


class AdvanceArguments(NamedTuple):
    """See ``advance_stacks``."""

    tables: StackTables
    grammar: mx.array
    stacks: Stacks
    left: mx.array
    token: mx.array


def checked_mask(
    tables: StackTables,
    grammar: mx.array,
    stacks: Stacks,
    left: mx.array | None,
    logits: mx.array,
) -> MaskArguments:
    """The arguments of ``mask_stacks``, with its errors."""
    check("logits", logits, (-1, -1), *FLOATS)
    found = _checked_rows(tables, grammar, stacks, left, logits.shape[0])
    return MaskArguments(tables, grammar, stacks, found, logits)


def checked_advance(
    tables: StackTables,
    grammar: mx.array,
    stacks: Stacks,
    left: mx.array | None,
    token: mx.array,
) -> AdvanceArguments:
    """The arguments of ``advance_stacks``, with its errors."""
    check("token", token, (-1,), mx.uint32, mx.int32)
    found = _checked_rows(tables, grammar, stacks, left, token.shape[0])
    return AdvanceArguments(tables, grammar, stacks, found, token)


def _checked_rows(
    tables: StackTables,
    grammar: mx.array,
    stacks: Stacks,
    left: mx.array | None,
    rows: int,
) -> mx.array:
    """The tokens left of each row."""
    check("grammar", grammar, (rows,), mx.int32)
    check("stacks.top", stacks.top, (rows,), mx.int32)
    check("stacks.entries", stacks.entries, (rows, DEPTH, 3), mx.int32)
    check("stacks.cost", stacks.cost, (rows,), mx.int32)
    if left is None:
        return mx.full((rows,), NO_LIMIT, mx.int32)
    check("left", left, (rows,), mx.int32)
    if not tables.has_limits:
        raise ValueError("these tables were made without limits=True")
    return left


def mask_twin(a: MaskArguments) -> list[mx.array]:
    """See ``mask_stacks``."""
    rows, width = a.logits.shape
    is_open = np.zeros((rows, max(width, a.tables.tokens)), np.bool_)
    lefts: list[int] = a.left.tolist()  # type: ignore[assignment]
    for row, (grammar, state) in enumerate(states_of(a.tables, a.grammar, a.stacks)):
        if grammar < 0:
            is_open[row] = True
            continue
        ends = list(a.tables.vocabulary.eos_ids)
        is_open[row, ends] = state.top < 0 or state.is_complete
        if state.top >= 0:
            trie, costs = a.tables.vocabulary.trie, a.tables.costs[grammar]
            fits = _tokens(state, trie, lefts[row], costs)
            is_open[row, : a.tables.tokens] |= fits
    return [
        mx.where(
            mx.array(is_open[:, :width]), a.logits, mx.array(-np.inf, a.logits.dtype)
        )
    ]


def _tokens(
    state: DeviceState, trie: Trie, left: int, costs: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """bool [tokens]: those that may be read and leave enough; a trie node at a time."""
    alive = np.zeros(trie.nodes, np.bool_)
    todo = [(0, state)]
    while todo:
        node, before = todo.pop()
        first = int(trie.first_child[node])
        for child in range(first, first + int(trie.child_count[node])):
            after = before.read(trie.byte[child : child + 1].tobytes())
            if after.top >= 0:
                alive[child] = left == NO_LIMIT or cost_of(after, costs) < left
                todo.append((child, after))
    return alive[trie.node_of_token]


def advance_twin(a: AdvanceArguments) -> list[mx.array]:
    """See ``advance_stacks``."""
    top, cost, rest = (np.array(x) for x in (a.stacks.top, a.stacks.cost, a.left))
    entries = np.array(a.stacks.entries)
    tokens: list[int] = a.token.tolist()  # type: ignore[assignment]
    vocabulary = a.tables.vocabulary
    for row, (grammar, state) in enumerate(states_of(a.tables, a.grammar, a.stacks)):
        if grammar < 0:
            continue
        has_limit = rest[row] != NO_LIMIT
        if tokens[row] in vocabulary.eos_ids:
            may_end = state.top < 0 or state.is_complete
            top[row], cost[row] = ENDED_TOP if may_end else DEAD_TOP, 0
            rest[row] = 0 if has_limit else NO_LIMIT
            continue
        text = vocabulary.token_bytes(tokens[row])
        after = state.read(text)
        rest[row] -= has_limit
        top[row], cost[row] = DEAD_TOP, 0
        if not text or after.top < 0:
            continue
        due = cost_of(after, a.tables.costs[grammar])
        if not has_limit or due <= rest[row]:
            top[row], cost[row] = after.top, due
            entries[row, : after.top + 1] = after.entries[: after.top + 1]
    return [mx.array(x) for x in (top, entries, cost, rest)]


def states_of(
    tables: StackTables, grammar: mx.array, stacks: Stacks
) -> Iterator[tuple[int, DeviceState]]:
    """Of each row its grammar and its stack, apart."""
    tops, entries = np.array(stacks.top), np.array(stacks.entries)
    grammars: list[int] = grammar.tolist()  # type: ignore[assignment]
    for row, number in enumerate(grammars):
        state = DeviceState(tables.machines[max(number, 0)])
        state.top = int(tops[row])
        state.entries = entries[row, : state.tables.depth].copy()
        yield number, state


def cost_of(state: DeviceState, costs: NDArray[np.int32]) -> int:
    """The fewest bytes to the end of a stack that is alive; ``costs``: of states."""
    return int(costs[state.entries[: state.top + 1, 0]].sum())
