"""Formats with a stack on the device: their tables, and the stacks of a batch.

A row is a pointer, 64 entries of (state, least, most) and, for limits on tokens, the
sum of what its entries still cost.  The tables are those of
``stcon/machines/device_tables.py``, all grammars in two arrays.

What a stack costs is counted in bytes, the fewest to the end of each state's rule:
the few-paths paper's Proposition 2.  Each byte can be a token, so what fits in bytes
fits in tokens; limits that only longer tokens could keep are refused (the host path,
``constraints/pushdown_costs.py``, knows those).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import mlx.core as mx
import numpy as np
from numpy.typing import NDArray

from stcon.machines.device_tables import DeviceTables, device_tables
from stcon.machines.limits import Meter
from stcon.machines.pushdown import Pushdown
from stcon.metal.tables import starts
from stcon.tokens.vocabulary import Vocabulary

DEPTH = 64
"""Entries of a stack."""
DEAD_TOP = -1
ENDED_TOP = -2
"""The pointer of a row after a token that was not allowed, and after the end."""
NEVER = 1 << 30

_HEAD = ("classes", "widest", "depth")
_SMALL = ("byte_class", "option", "size", "pushed", "may_end")
_WORDS = ("ticks", "least", "most", "need", "cost", "gain")
COLUMNS = (*_HEAD, *_SMALL, *_WORDS)
"""What ``places`` says of a grammar: three numbers, and where each array begins."""


class Stacks(NamedTuple):
    """The stacks of a batch.

    ``top``: int32 [rows], the place of the top entry, DEAD_TOP or ENDED_TOP.
    ``entries``: int32 [rows, 64, 3].  ``cost``: int32 [rows], bytes to the end.
    """

    top: mx.array
    entries: mx.array
    cost: mx.array


def fitted(machine: Pushdown, meter: Meter | None = None) -> DeviceTables:
    """The tables of ``machine`` for stacks of 64 entries; a machine that may nest
    deeper than its stacks ever do gets them too.

    Raises NotDeterministic when a text may be read in several ways (compile the rules
    with ``one_stack=True`` then), LimitError for too many states, and ValueError when
    stacks can be higher.  Cost: 3 to 100 ms, for 60 to 1,300 states.
    """
    tables = device_tables(machine, meter)
    if tables.depth <= DEPTH:
        return tables
    if tables.height(DEPTH) is None:
        raise ValueError(f"stacks of this format can have more than {DEPTH} entries")
    return replace(tables, depth=DEPTH)


class StackTables:
    """The machines of several grammars over one vocabulary; never changes.

    ``places``: int32 [grammars, columns], see COLUMNS.
    ``small``: int16 or int32, states and sizes; ``words``: int32, ticks and costs.
    ``offsets``: uint32 [tokens + 1]; ``data``: uint8; ``ends``: int32, the end tokens.
    ``costs``: of each grammar int32 [states], bytes to the end; numpy.
    """

    def __init__(
        self,
        machines: Sequence[DeviceTables],
        vocabulary: Vocabulary,
        limits: bool = False,
    ) -> None:
        """``limits``: whether rows may have a limit on tokens.

        Raises ValueError without machines, for one deeper than 64 entries, and with
        ``limits`` for one that counts (maxLength, maxItems) or reads a byte that is
        no token.
        """
        if not machines:
            raise ValueError("tables are of one machine at least")
        for machine in machines:
            if machine.depth > DEPTH:
                raise ValueError(
                    f"a stack has {DEPTH} entries here, not {machine.depth}"
                )
            if limits:
                _check_countable(machine, vocabulary)
        self.has_limits = limits
        self.machines = tuple(machines)
        self.vocabulary = vocabulary
        self.costs = [costs_of(machine) for machine in machines]
        parts = list(map(_parts, machines, self.costs))
        begins = [starts(_arrays(parts, name)) for name in (*_SMALL, *_WORDS)]
        firsts = {True: 0, False: 0}
        packed: dict[bool, list[NDArray[Any]]] = {True: [], False: []}
        columns = [[part[name] for part in parts] for name in _HEAD]
        for name, begin in zip((*_SMALL, *_WORDS), begins, strict=True):
            is_small = name in _SMALL
            columns.append((begin + firsts[is_small]).tolist())
            packed[is_small] += [array.reshape(-1) for array in _arrays(parts, name)]
            firsts[is_small] += sum(array.size for array in _arrays(parts, name))
        self.places = mx.array(np.stack(columns, axis=1).astype(np.int32))
        small = np.concatenate(packed[True])
        self.small = mx.array(
            small.astype(np.int16 if small.max() < 1 << 15 else np.int32)
        )
        self.words = mx.array(np.concatenate(packed[False]).astype(np.int32))
        self.offsets = mx.array(vocabulary.offsets.astype(np.uint32))
        self.data = mx.array(np.append(vocabulary.data, np.uint8(0)))
        self.ends = mx.array(list(vocabulary.eos_ids) or [-1], mx.int32)
        self.grammars = len(parts)
        self.tokens = vocabulary.size

    @property
    def nbytes(self) -> int:
        """Bytes on the device of the grammars, without those of the vocabulary."""
        return sum(array.nbytes for array in (self.places, self.small, self.words))

    @cached_property
    def starts(self) -> Stacks:
        """The stacks before the first token: a row for each grammar."""
        entries = np.zeros((self.grammars, DEPTH, 3), np.int32)
        for row, machine in zip(entries, self.machines, strict=True):
            row[: len(machine.start)] = machine.start
        top = [len(machine.start) - 1 for machine in self.machines]
        costs = [
            int(cost[machine.start[:, 0]].sum())
            for cost, machine in zip(self.costs, self.machines, strict=True)
        ]
        return Stacks(
            mx.array(top, mx.int32), mx.array(entries), mx.array(costs, mx.int32)
        )


def _arrays(parts: Sequence[dict[str, Any]], name: str) -> list[NDArray[Any]]:
    return [part[name] for part in parts]


def _parts(machine: DeviceTables, cost: NDArray[np.int32]) -> dict[str, Any]:
    """What the kernels read of a machine, by name."""
    return {
        "classes": machine.option.shape[1],
        "widest": machine.pushed.shape[1],
        "depth": machine.depth,
        "byte_class": machine.byte_class.astype(np.int32),
        "may_end": machine.may_end.astype(np.int32),
        "cost": cost,
        "gain": _pushed_costs(machine, cost),
        **{name: getattr(machine, name) for name in ("option", "size", "pushed")},
        **{name: getattr(machine, name) for name in ("ticks", "least", "most", "need")},
    }


def costs_of(machine: DeviceTables) -> NDArray[np.int32]:
    """int32 [states]: the fewest bytes to the end of the state's rule, NEVER where a
    rule has no end; counts left aside."""
    cost = np.where(machine.may_end, 0, NEVER)
    reads = machine.option
    while True:
        after = np.minimum(1 + _pushed_costs(machine, cost).astype(np.int64), NEVER)
        after[0] = NEVER
        less = np.minimum(cost, after[reads].min(axis=1))
        if (less == cost).all():
            found: NDArray[np.int32] = less.astype(np.int32)
            return found
        cost = less


def _pushed_costs(machine: DeviceTables, cost: NDArray[Any]) -> NDArray[np.int32]:
    """int32 [options]: the costs of the entries that an option puts on the stack."""
    is_used = np.arange(machine.pushed.shape[1]) < machine.size[:, None]
    total = np.where(is_used, cost[machine.pushed], 0).astype(np.int64).sum(axis=1)
    found: NDArray[np.int32] = np.minimum(total, NEVER).astype(np.int32)
    return found


def _check_countable(machine: DeviceTables, vocabulary: Vocabulary) -> None:
    if machine.counted[1:].any() and _is_counted(machine):
        raise ValueError(
            "a limit on tokens is kept on the host for formats with maxLength, "
            "minLength, maxItems or minItems"
        )
    is_read = (machine.option != 0).any(axis=0)[machine.byte_class]
    missing = np.flatnonzero(is_read & (vocabulary.byte_tokens < 0))
    if len(missing):
        raise ValueError(
            f"a limit on tokens is kept on the host here: the byte {missing[0]} of "
            "the format is no token"
        )


def _is_counted(machine: DeviceTables) -> bool:
    """Whether any entry that can come onto a stack has a window."""
    return bool((machine.most >= 0)[1:].any() or (machine.start[:, 2] >= 0).any())
