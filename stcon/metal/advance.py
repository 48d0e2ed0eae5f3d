"""The next state of each row of a batch, from the sampled tokens, on the device.

A thread a row: so the step after a sampled token can be enqueued before anybody has
read that token.  A limit on tokens is counted down along with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import mlx.core as mx
import numpy as np

from stcon.metal.kernel import Call, Case, Kernel, check
from stcon.metal.mask import limits
from stcon.metal.samples import BATCHES, rows_of, some_tables
from stcon.metal.tables import NO_LIMIT, TokenTables

_SOURCE = """
    uint b = thread_position_in_grid.x;
    int g = grammar[b];
    int after = state[b];
    int most = left[b];
    if (g >= 0) {
        uint t = uint(token[b]);
        int classes = places[4 * g + 1];
        int cls = t < uint(N) ? int(own[places[4 * g + 3] + int(class_of[t])]) : 0;
        after = table[places[4 * g] + after * classes + cls];
        if (most != 2147483647) {
            most = cls == classes - 1 ? 0 : most - 1;
            if (least[places[4 * g + 2] + after] > most) { after = 0; }
        }
    }
    next[b] = after;
    rest[b] = most;
"""


class Arguments(NamedTuple):
    """See ``advance``."""

    tables: TokenTables
    grammar: mx.array
    state: mx.array
    left: mx.array
    token: mx.array


def advance(
    tables: TokenTables,
    grammar: mx.array,
    state: mx.array,
    left: mx.array | None,
    token: mx.array,
) -> tuple[mx.array, mx.array]:
    """The states int32 [rows] after ``token``, and the tokens left int32 [rows].

    ``grammar``, ``state``, ``left``: as for ``mask``.  ``token``: uint32 or int32
    [rows].  0 is the state after a token that is not allowed; after an end token no
    tokens are left.  Rows without grammar keep both.  Raises ValueError for other
    shapes or dtypes.
    """
    state, rest = KERNEL(checked(tables, grammar, state, left, token))
    return state, rest


def checked(
    tables: TokenTables,
    grammar: mx.array,
    state: mx.array,
    left: mx.array | None,
    token: mx.array,
) -> Arguments:
    """The arguments of ``advance``, with its errors."""
    check("token", token, (-1,), mx.uint32, mx.int32)
    rows = token.shape[0]
    check("grammar", grammar, (rows,), mx.int32)
    check("state", state, (rows,), mx.int32)
    return Arguments(tables, grammar, state, limits(tables, left, rows), token)


def _plan(a: Arguments) -> Call:
    tables, rows = a.tables, a.token.shape[0]
    return Call(
        [
            *(a.token, a.grammar, a.state, a.left, tables.places),
            *(tables.table, tables.least, tables.own, tables.class_of),
        ],
        [("N", tables.tokens)],
        (rows, 1, 1),
        (1, 1, 1),
        [(rows,), (rows,)],
        [mx.int32, mx.int32],
    )


def _twin(a: Arguments) -> list[mx.array]:
    tables = a.tables
    place = tables.places[mx.maximum(a.grammar, 0)]
    token = a.token.astype(mx.uint32)
    is_known = token < tables.tokens
    common = tables.class_of[mx.where(is_known, token, 0)].astype(mx.int32)
    own = tables.own[place[:, 3] + common].astype(mx.int32)
    cls = mx.where(is_known, own, 0)
    after = tables.table[place[:, 0] + a.state * place[:, 1] + cls].astype(mx.int32)
    has_limit = a.left != NO_LIMIT
    is_end = cls == place[:, 1] - 1
    rest = mx.where(has_limit, mx.where(is_end, 0, a.left - 1), a.left)
    if tables.has_limits:
        late = tables.least[place[:, 2] + after] > rest
        after = mx.where(has_limit & late, 0, after)
    is_free = a.grammar < 0
    after = mx.where(is_free, a.state, after)
    return [after, mx.where(is_free, a.left, rest)]


def cases() -> Iterator[Case]:
    """Random grammars; tokens of every kind, end tokens and some beyond the
    vocabulary more often."""
    for seed, rows in enumerate((*BATCHES, 33, 33, 33)):
        for kind in (mx.uint32, mx.int32):
            tables = some_tables(is_wide=kind == mx.int32)
            grammar, state, left = rows_of(tables, rows, seed)
            rng = np.random.default_rng(seed)
            some = rng.integers(0, tables.tokens + 2, rows)
            odd = (0, tables.tokens - 3, tables.tokens, tables.tokens + 7)
            chosen = np.where(rng.random(rows) < 0.5, rng.choice(odd, rows), some)
            token = mx.array(chosen, kind)
            name = f"{rows} rows, {str(kind).split('.')[-1]}"
            yield Case(name, checked(tables, grammar, state, left, token))
            free = checked(tables, grammar, state, None, token)
            yield Case(f"{name}, no limits", free)


KERNEL: Kernel[Arguments] = Kernel(
    "stcon_advance",
    (
        *("token", "grammar", "state", "left", "places"),
        *("table", "least", "own", "class_of"),
    ),
    ("next", "rest"),
    _SOURCE,
    _plan,
    _twin,
    cases,
)
