"""The state after every token, by walking its bytes: no token table at all.

A thread a token and row reads the token's bytes through the row's automaton and stops
where it is dead, mostly at the first byte.  A grammar costs its automaton and nothing
is worked out ahead, so this is the path for automata too large to have classes, or
used once.  The row of states is mask and step in one: ``mask_walked`` compares it with
0, ``step_walked`` looks the sampled token up in it.
Source: few-paths paper, mechanism 1 and D.2 (Theorem 18).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import mlx.core as mx
import numpy as np
from numpy.typing import NDArray

from stcon.constraints.dfa import DfaConstraint
from stcon.machines.dfa import DEAD, Dfa
from stcon.metal.kernel import Call, Case, Kernel, check
from stcon.metal.samples import BATCHES, rows_of, some_constraints, some_tables
from stcon.metal.tables import NO_LIMIT, check_vocabulary, joined, starts
from stcon.tokens.vocabulary import Vocabulary

_SOURCE = """
    uint t = thread_position_in_grid.x;
    uint b = thread_position_in_grid.y;
    if (t >= uint(W)) { return; }
    int g = grammar[b];
    int s = 0;
    if (g >= 0 && t < uint(N)) {
        int base = places[3 * g];
        int classes = places[3 * g + 1];
        uint i = offsets[t];
        uint end = offsets[t + 1];
        s = state[b];
        if (i == end) {
            bool is_end = false;
            for (uint k = 0; k < uint(E); ++k) { is_end = is_end || ends[k] == int(t); }
            s = is_end ? int(step[base + s * classes + classes - 1]) : 0;
        }
        while (s != 0 && i < end) {
            s = step[base + s * classes + int(byte_class[256 * g + int(data[i])])];
            ++i;
        }
    }
    after[b * uint(W) + t] = static_cast<S>(s);
"""


class ByteTables:
    """The automata of ``constraints`` and the bytes of their tokens; never changes.

    ``places``: int32 [grammars, 3]: where the grammar's automaton begins, how many
    byte classes a row of it has (the last is the end of the text), where its entries
    of ``least`` begin.
    ``step``: int16 or int32 [entries], the state after a byte class, 0 for dead; row
    0 opens the end tokens: a row that went wrong ends.
    ``byte_class``: uint8 [256 * grammars].  ``least``: as of TokenTables.
    ``ended``: int32 [grammars], the state after an end token.
    ``offsets``: uint32 [tokens + 1]; ``data``: uint8; ``ends``: int32, the end tokens.
    """

    def __init__(
        self, constraints: Sequence[DfaConstraint], limits: bool = False
    ) -> None:
        """``limits``: whether rows may have a limit on tokens; needs the token tables
        of the constraints.  Raises ValueError as TokenTables does."""
        check_vocabulary(constraints)
        self.has_limits = limits
        steps = [_with_end(one.dfa) for one in constraints]
        least = [one.costs.least_tokens for one in constraints] if limits else []
        begins = starts(least) if limits else np.zeros(len(steps), np.int32)
        widths = [step.shape[1] for step in steps]
        places = np.stack([starts(steps), widths, begins], axis=1)
        self.places = mx.array(places.astype(np.int32))
        self.step = mx.array(joined(steps))
        classes = [one.dfa.byte_class[:256].astype(np.uint8) for one in constraints]
        self.byte_class = mx.array(joined(classes))
        self.least = mx.array(joined(least) if limits else np.zeros(1, np.int32))
        self.starts = mx.array([one.start for one in constraints], mx.int32)
        self.ended = mx.array([one.dfa.states for one in constraints], mx.int32)
        vocabulary: Vocabulary = constraints[0].vocabulary
        self.offsets = mx.array(vocabulary.offsets.astype(np.uint32))
        self.data = mx.array(np.append(vocabulary.data, np.uint8(0)))
        self.ends = mx.array(list(vocabulary.eos_ids) or [-1], mx.int32)
        self.longest = int(np.diff(vocabulary.offsets).max(initial=0))
        self.grammars = len(steps)
        self.tokens = vocabulary.size

    @property
    def nbytes(self) -> int:
        """Bytes on the device of the grammars, without those of the vocabulary."""
        own = (self.places, self.step, self.byte_class, self.least, self.ended)
        return sum(array.nbytes for array in own)


def _with_end(dfa: Dfa) -> NDArray[Any]:
    """[states + 1, byte classes + 1]: the automaton with the end of the text as a
    last class, and the state after it as a last row."""
    states, classes = dfa.next.shape
    kind = np.int16 if states < (1 << 15) - 1 else np.int32
    step = np.zeros((states + 1, classes + 1), kind)
    step[:states, :classes] = dfa.next
    step[:states, classes] = np.where(dfa.accepts, states, DEAD)
    step[[DEAD, states], classes] = states
    return step


class Arguments(NamedTuple):
    """See ``walk``."""

    tables: ByteTables
    grammar: mx.array
    state: mx.array
    width: int


def walk(
    tables: ByteTables, grammar: mx.array, state: mx.array, width: int
) -> mx.array:
    """The state after each token, [rows, width], of the dtype of ``tables.step``;
    0 for dead.

    ``grammar``: int32 [rows], places in ``tables``; NO_GRAMMAR gives a row of 0.
    ``state``: int32 [rows].  ``width``: how many logits there are; those beyond the
    vocabulary are dead.  Raises ValueError for other shapes or dtypes.
    """
    return KERNEL(checked(tables, grammar, state, width))[0]


def checked(
    tables: ByteTables, grammar: mx.array, state: mx.array, width: int
) -> Arguments:
    """The arguments of ``walk``, with its errors."""
    check("grammar", grammar, (-1,), mx.int32)
    check("state", state, (grammar.shape[0],), mx.int32)
    if width < 1:
        raise ValueError(f"width is a number of logits, not {width}")
    return Arguments(tables, grammar, state, width)


def mask_walked(
    tables: ByteTables,
    grammar: mx.array,
    after: mx.array,
    left: mx.array | None,
    logits: mx.array,
) -> mx.array:
    """``logits`` with -inf where a row's grammar does not allow the token; the bits of
    ``mask``.  ``after``: what ``walk`` gave.  ``left``: as for ``mask``."""
    if left is not None and not tables.has_limits:
        raise ValueError("these tables were made without limits=True")
    is_open = after != DEAD
    if left is not None:
        place = tables.places[mx.maximum(grammar, 0)]
        least = tables.least[place[:, 2:] + after.astype(mx.int32)]
        is_ended = after == tables.ended[mx.maximum(grammar, 0)][:, None]
        most = left[:, None]
        is_open = is_open & ((most == NO_LIMIT) | is_ended | (least < most))
    is_open = is_open | (grammar < 0)[:, None]
    return mx.where(is_open, logits, mx.array(-np.inf, logits.dtype))


def step_walked(
    tables: ByteTables,
    grammar: mx.array,
    state: mx.array,
    left: mx.array | None,
    after: mx.array,
    token: mx.array,
) -> tuple[mx.array, mx.array]:
    """The states int32 [rows] after ``token``, and the tokens left; what ``advance``
    gives.  ``after``: what ``walk`` gave for ``state``.  ``token``: [rows]."""
    if left is not None and not tables.has_limits:
        raise ValueError("these tables were made without limits=True")
    width = after.shape[1]
    is_known = token.astype(mx.uint32) < width
    place = mx.where(is_known, token, 0).astype(mx.int32)[:, None]
    found = mx.take_along_axis(after, place, axis=1)[:, 0].astype(mx.int32)
    found = mx.where(is_known, found, DEAD)
    is_free = grammar < 0
    if left is None:
        rest = mx.full(grammar.shape, NO_LIMIT, mx.int32)
        return mx.where(is_free, state, found), rest
    has_limit = left != NO_LIMIT
    is_end = (token.astype(mx.int32)[:, None] == tables.ends).any(axis=1)
    rest = mx.where(has_limit, mx.where(is_end, 0, left - 1), left)
    first = tables.places[mx.maximum(grammar, 0)][:, 2]
    found = mx.where(has_limit & (tables.least[first + found] > rest), DEAD, found)
    return mx.where(is_free, state, found), mx.where(is_free, left, rest)


def _plan(a: Arguments) -> Call:
    tables, rows = a.tables, a.grammar.shape[0]
    return Call(
        [
            *(a.grammar, a.state, tables.places, tables.step, tables.byte_class),
            *(tables.offsets, tables.data, tables.ends),
        ],
        [
            *(("S", tables.step.dtype), ("W", a.width), ("N", tables.tokens)),
            ("E", tables.ends.shape[0]),
        ],
        (a.width, rows, 1),
        (min(a.width, 256), 1, 1),
        [(rows, a.width)],
        [tables.step.dtype],
    )


def _twin(a: Arguments) -> list[mx.array]:
    tables, count = a.tables, min(a.width, a.tables.tokens)
    grammar = mx.maximum(a.grammar, 0)
    place = tables.places[grammar]
    base, classes = place[:, :1], place[:, 1:2]
    begin, end = tables.offsets[:count], tables.offsets[1 : count + 1]
    at_end = tables.step[base[:, 0] + (a.state + 1) * classes[:, 0] - 1]
    is_end = (mx.arange(count)[:, None] == tables.ends).any(axis=1)
    state = mx.broadcast_to(a.state[:, None], (a.state.shape[0], count))
    for read in range(tables.longest):
        goes_on = begin + read < end
        byte = tables.data[mx.where(goes_on, begin + read, 0)].astype(mx.int32)
        cls = tables.byte_class[256 * grammar[:, None] + byte].astype(mx.int32)
        moved = tables.step[base + state * classes + cls].astype(mx.int32)
        state = mx.where(goes_on, mx.where(state == DEAD, DEAD, moved), state)
    empty = mx.where(is_end, at_end[:, None].astype(mx.int32), DEAD)
    state = mx.where(begin == end, empty, state)
    state = mx.where((a.grammar < 0)[:, None], DEAD, state)
    state = mx.pad(state, [(0, 0), (0, a.width - count)])
    return [state.astype(tables.step.dtype)]


def cases() -> Iterator[Case]:
    """Random grammars with 16 and 32 bits a state; widths around the vocabulary's."""
    for seed, rows in enumerate(BATCHES):
        for is_wide in (False, True):
            tables = some_bytes(is_wide)
            grammar, state, _ = rows_of(some_tables(), rows, seed)
            width = tables.tokens + (3 * seed - 4)
            kind = "int32" if is_wide else "int16"
            arguments = checked(tables, grammar, state, width)
            yield Case(f"{rows} rows, {kind}, {width} logits", arguments)


def some_bytes(is_wide: bool = False) -> ByteTables:
    """The automata of ``some_constraints``; ``is_wide``: in 32 bits."""
    tables = ByteTables(some_constraints(), limits=True)
    if is_wide:
        tables.step = tables.step.astype(mx.int32)
    return tables


KERNEL: Kernel[Arguments] = Kernel(
    "stcon_walk",
    (
        *("grammar", "state", "places", "step", "byte_class"),
        *("offsets", "data", "ends"),
    ),
    ("after",),
    _SOURCE,
    _plan,
    _twin,
    cases,
)
