"""Masked logits of a batch, each row by its own grammar, state and tokens left.

A thread a token and row: the token's common class, the grammar's own class, the state
after it; the logit is kept or -inf is written.  Reads 2 bytes a token beside the
logits; the row of the table stays in the cache.
Source: few-paths paper, mechanism 1 and Theorem 21, by token classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import mlx.core as mx
import numpy as np

from stcon.metal.kernel import Call, Case, Kernel, check
from stcon.metal.samples import BATCHES, FLOATS, rows_of, some_logits, some_tables
from stcon.metal.tables import NO_LIMIT, PLACE, TokenTables

_SOURCE = """
    uint t = thread_position_in_grid.x;
    uint b = thread_position_in_grid.y;
    if (t >= uint(W)) { return; }
    int g = grammar[b];
    bool is_open = g < 0;
    if (!is_open && t < uint(N)) {
        int classes = places[4 * g + 1];
        int cls = own[places[4 * g + 3] + int(class_of[t])];
        int after = table[places[4 * g] + state[b] * classes + cls];
        int most = left[b];
        is_open = after != 0;
        if (most != 2147483647 && cls != classes - 1) {
            is_open = is_open && least[places[4 * g + 2] + after] < most;
        }
    }
    uint at = b * uint(W) + t;
    out[at] = is_open ? logits[at] : static_cast<T>(-INFINITY);
"""


class Arguments(NamedTuple):
    """See ``mask``."""

    tables: TokenTables
    grammar: mx.array
    state: mx.array
    left: mx.array
    logits: mx.array


def mask(
    tables: TokenTables,
    grammar: mx.array,
    state: mx.array,
    left: mx.array | None,
    logits: mx.array,
) -> mx.array:
    """``logits`` with -inf where a row's grammar does not allow the token.

    ``grammar``: int32 [rows], places in ``tables``, NO_GRAMMAR for a row that passes
    as it is.  ``state``: int32 [rows].  ``left``: int32 [rows], tokens that may come,
    NO_LIMIT for any number; None for no limits.  ``logits``: float32, float16 or
    bfloat16 [rows, width]; logits beyond the vocabulary become -inf.
    The bits of kept logits are kept.  Raises ValueError for other shapes or dtypes.
    """
    return KERNEL(checked(tables, grammar, state, left, logits))[0]


def checked(
    tables: TokenTables,
    grammar: mx.array,
    state: mx.array,
    left: mx.array | None,
    logits: mx.array,
) -> Arguments:
    """The arguments of ``mask``, with its errors."""
    check("logits", logits, (-1, -1), *FLOATS)
    rows = logits.shape[0]
    check("grammar", grammar, (rows,), mx.int32)
    check("state", state, (rows,), mx.int32)
    return Arguments(tables, grammar, state, limits(tables, left, rows), logits)


def limits(tables: TokenTables, left: mx.array | None, rows: int) -> mx.array:
    """``left``, or no limit for each of ``rows``; raises ValueError for tables that
    know no limits."""
    if left is None:
        return mx.full((rows,), NO_LIMIT, mx.int32)
    check("left", left, (rows,), mx.int32)
    if not tables.has_limits:
        raise ValueError("these tables were made without limits=True")
    return left


def _plan(a: Arguments) -> Call:
    rows, width = a.logits.shape
    tables = a.tables
    return Call(
        [
            *(a.logits, a.grammar, a.state, a.left, tables.places),
            *(tables.table, tables.least, tables.own, tables.class_of),
        ],
        [("T", a.logits.dtype), ("W", width), ("N", tables.tokens)],
        (width, rows, 1),
        (min(width, 256), 1, 1),
        [a.logits.shape],
        [a.logits.dtype],
    )


def _twin(a: Arguments) -> list[mx.array]:
    is_open = open_tokens(a.tables, a.grammar, a.state, a.left)
    missing = a.logits.shape[1] - a.tables.tokens
    is_open = mx.pad(is_open, [(0, 0), (0, max(missing, 0))])[:, : a.logits.shape[1]]
    is_open = is_open | (a.grammar < 0)[:, None]
    return [mx.where(is_open, a.logits, mx.array(-np.inf, a.logits.dtype))]


def open_tokens(
    tables: TokenTables, grammar: mx.array, state: mx.array, left: mx.array
) -> mx.array:
    """bool [rows, tokens]: what the grammars allow; no matter what without one."""
    place = tables.places[mx.maximum(grammar, 0)][:, :, None]
    cls = tables.own[place[:, 3] + tables.class_of.astype(mx.int32)].astype(mx.int32)
    after = tables.table[place[:, 0] + state[:, None] * place[:, 1] + cls]
    most = left[:, None]
    is_end = cls == place[:, 1] - 1
    fits = (most == NO_LIMIT) | is_end
    if tables.has_limits:
        fits = fits | (tables.least[place[:, 2] + after.astype(mx.int32)] < most)
    return (after != 0) & fits


def cases() -> Iterator[Case]:
    """Random grammars in every dtype and batch; widths that no threadgroup divides."""
    for batch, rows in enumerate(BATCHES):
        for kind in FLOATS:
            tables = some_tables(is_wide=kind == mx.float16)
            width = tables.tokens + (3 * batch - 4)
            seed = 10 * batch
            grammar, state, left = rows_of(tables, rows, seed)
            logits = some_logits(rows, width, kind, seed, is_sliced=batch % 2 == 1)
            name = f"{rows} rows, {str(kind).split('.')[-1]}, {width} logits"
            yield Case(name, checked(tables, grammar, state, left, logits))
            free = checked(tables, grammar, state, None, logits)
            yield Case(f"{name}, no limits", free)


KERNEL: Kernel[Arguments] = Kernel(
    "stcon_mask",
    (
        *("logits", "grammar", "state", "left", "places"),
        *("table", "least", "own", "class_of"),
    ),
    ("out",),
    _SOURCE,
    _plan,
    _twin,
    cases,
)
assert PLACE == 4  # what the text counts with
