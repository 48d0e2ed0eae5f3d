"""Masks and steps of formats with a stack: the walk of few-paths, with a stack.

A thread a token and row reads the token's bytes.  It never writes to the row's stack:
what it pushes goes to entries of its own, ``low`` and above, and below ``low`` it reads
the row's.  Most tokens end at their first byte.  No token tables, so that a grammar
costs what its machine does, and rows of a batch may have different ones.
Source: few-paths paper, mechanism 5 and D.4, where batches of recursive formats and
their walk without tables are an outlook.
"""

from __future__ import annotations

import mlx.core as mx

from stcon.metal.kernel import Call, Kernel
from stcon.metal.pushdown_cases import advance_cases, mask_cases
from stcon.metal.pushdown_twin import (
    AdvanceArguments,
    MaskArguments,
    advance_twin,
    checked_advance,
    checked_mask,
    mask_twin,
)
from stcon.metal.stacks import COLUMNS, DEPTH, Stacks, StackTables

_COUNT = len(COLUMNS)
_PLACE = "\n".join(
    f"    int at_{name} = places[{_COUNT} * g + {column}];"
    for column, name in enumerate(COLUMNS)
)

# Reads the bytes i to end. A byte looks for an entry that takes it, from the top down;
# entries above that have ended their rules. An option replaces the entry by others, the
# first of which takes over what is left of its window of ticks.
_READ = """
    while (i < end && top >= 0) {
        int cls = small[at_byte_class + int(data[i])];
        int at = top;
        top = -1;
        while (at >= 0) {
            int here = (int(b) * D + at) * 3;
            int s = at < low ? entries[here] : mine[3 * at];
            int lo = at < low ? entries[here + 1] : mine[3 * at + 1];
            int hi = at < low ? entries[here + 2] : mine[3 * at + 2];
            int o = small[at_option + s * at_classes + cls];
            int size = small[at_size + o];
            int ticks = words[at_ticks + o];
            bool fits = o != 0 && at + size <= at_depth;
            int lo_after = lo > ticks ? lo - ticks : 0;
            int hi_after = hi == 2147483647 ? hi : hi - ticks;
            if (fits && hi != -1) {
                int first = size != 0 ? int(small[at_pushed + o * at_widest]) : 2;
                fits = words[at_need + first] <= hi_after;
                fits = fits && (first != 2 || lo_after == 0);
            }
            if (fits) {
                for (int k = 0; k < size; ++k) {
                    int from = o * at_widest + k;
                    bool keeps = k == 0 && hi != -1;
                    mine[3 * (at + k)] = small[at_pushed + from];
                    mine[3 * (at + k) + 1] = keeps ? lo_after : words[at_least + from];
                    mine[3 * (at + k) + 2] = keeps ? hi_after : words[at_most + from];
                }
                low = at < low ? at : low;
                sum += words[at_gain + o] - words[at_cost + s];
                top = at + size - 1;
                if (top < 0) { mine[0] = 1; mine[1] = -1; mine[2] = -1; top = 0; }
                at = -1;
            } else {
                at = small[at_may_end + s] != 0 && lo <= 0 ? at - 1 : -1;
            }
        }
        ++i;
    }
"""

# Whether the text may end: all entries have ended their rules.
_COMPLETE = """
    bool is_end = false;
    for (uint k = 0; k < uint(E); ++k) { is_end = is_end || ends[k] == int(t); }
    bool is_complete = is_end;
    for (int at = top; at >= 0 && is_complete; --at) {
        int here = (int(b) * D + at) * 3;
        is_complete = small[at_may_end + entries[here]] != 0 && entries[here + 1] <= 0;
    }
"""

_MASK = f"""
    uint t = thread_position_in_grid.x;
    uint b = thread_position_in_grid.y;
    if (t >= uint(W)) {{ return; }}
    int g = grammar[b];
    uint place = b * uint(W) + t;
    if (g < 0 || t >= uint(N)) {{
        out[place] = g < 0 ? logits[place] : static_cast<T>(-INFINITY);
        return;
    }}
{_PLACE}
    int mine[3 * D];
    int top = tops[b];
    int low = top + 1;
    int sum = costs[b];
    uint i = offsets[t];
    uint end = offsets[t + 1];
{_COMPLETE}
    bool is_open = is_complete;
    if (i != end && top >= 0) {{
{_READ}
        is_open = top >= 0 && (left[b] == 2147483647 || sum < left[b]);
    }}
    out[place] = is_open ? logits[place] : static_cast<T>(-INFINITY);
"""

_ADVANCE = f"""
    uint b = thread_position_in_grid.x;
    int g = grammar[b];
    int mine[3 * D];
    int top = tops[b];
    int low = top + 1;
    int sum = costs[b];
    int most = left[b];
    int last = top;
    if (g >= 0) {{
{_PLACE}
    uint t = uint(token[b]);
    bool is_known = t < uint(N);
    uint i = is_known ? offsets[t] : 0u;
    uint end = is_known ? offsets[t + 1] : 0u;
{_COMPLETE}
    if (is_end) {{
        top = is_complete ? -2 : -1;
        sum = 0;
        most = most == 2147483647 ? most : 0;
    }} else {{
        top = i == end || top < 0 ? -1 : top;
{_READ}
        if (most != 2147483647) {{
            most -= 1;
            top = sum > most ? -1 : top;
        }}
        sum = top < 0 ? 0 : sum;
    }}
    last = top;
    }}
    for (int k = 0; k < 3 * D; ++k) {{
        int place = k / 3;
        bool is_mine = place >= low && place <= last;
        after[int(b) * 3 * D + k] = is_mine ? mine[k] : entries[int(b) * 3 * D + k];
    }}
    next[b] = top;
    total[b] = sum;
    rest[b] = most;
"""


def mask_stacks(
    tables: StackTables,
    grammar: mx.array,
    stacks: Stacks,
    left: mx.array | None,
    logits: mx.array,
) -> mx.array:
    """``logits`` with -inf where a row's grammar does not allow the token.

    ``grammar``: int32 [rows], places in ``tables``, NO_GRAMMAR for a row that passes
    as it is.  ``stacks``: of [rows]; dead ones leave the end tokens open.  ``left``:
    int32 [rows], tokens that may come, NO_LIMIT for any number; None for no limits.
    ``logits``: float32, float16 or bfloat16 [rows, width].
    Begin with ``left`` at least ``stacks.cost``: then some token is always open.
    A token that would nest beyond the depth is not allowed.  The bits of kept logits
    are kept.  Raises ValueError for other shapes or dtypes.
    """
    return MASK(checked_mask(tables, grammar, stacks, left, logits))[0]


def advance_stacks(
    tables: StackTables,
    grammar: mx.array,
    stacks: Stacks,
    left: mx.array | None,
    token: mx.array,
) -> tuple[Stacks, mx.array]:
    """The stacks after ``token`` (uint32 or int32 [rows]), and the tokens left.

    The other arguments are those of ``mask_stacks``.  A token that is not allowed makes
    a dead stack; after an end token no tokens are left.  Rows without grammar keep all.
    """
    arguments = checked_advance(tables, grammar, stacks, left, token)
    top, entries, cost, rest = ADVANCE(arguments)
    return Stacks(top, entries, cost), rest


def _shared(a: MaskArguments | AdvanceArguments) -> list[mx.array]:
    tables, stacks = a.tables, a.stacks
    return [
        *(a.grammar, stacks.top, stacks.entries, stacks.cost, a.left),
        *(tables.places, tables.small, tables.words),
        *(tables.offsets, tables.data, tables.ends),
    ]


def _plan_mask(a: MaskArguments) -> Call:
    rows, width = a.logits.shape
    sizes = [("W", width), ("N", a.tables.tokens), ("E", a.tables.ends.shape[0])]
    return Call(
        [a.logits, *_shared(a)],
        [("T", a.logits.dtype), *sizes, ("D", DEPTH)],
        (width, rows, 1),
        (min(width, 256), 1, 1),
        [a.logits.shape],
        [a.logits.dtype],
    )


def _plan_advance(a: AdvanceArguments) -> Call:
    rows = a.token.shape[0]
    return Call(
        [a.token, *_shared(a)],
        [("N", a.tables.tokens), ("E", a.tables.ends.shape[0]), ("D", DEPTH)],
        (rows, 1, 1),
        (1, 1, 1),
        [(rows,), (rows, DEPTH, 3), (rows,), (rows,)],
        [mx.int32] * 4,
    )


_INPUTS = (
    *("grammar", "tops", "entries", "costs", "left"),
    *("places", "small", "words", "offsets", "data", "ends"),
)

MASK: Kernel[MaskArguments] = Kernel(
    "stcon_mask_stacks",
    ("logits", *_INPUTS),
    ("out",),
    _MASK,
    _plan_mask,
    mask_twin,
    mask_cases,
)
ADVANCE: Kernel[AdvanceArguments] = Kernel(
    "stcon_advance_stacks",
    ("token", *_INPUTS),
    ("next", "after", "total", "rest"),
    _ADVANCE,
    _plan_advance,
    advance_twin,
    advance_cases,
)
