"""Mask rows of one constraint as mlx arrays, by state; kept and shared by content."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.constraints.constraint import Constraint, State
from stcon.constraints.dfa import DfaConstraint
from stcon.cpu.rows import ClassRows, Rows, shared_rows
from stcon.machines.dfa import DEAD

_numbers = itertools.count()
_MAX_KEYS = 1 << 14


class Masks:
    """Rows of ``constraint`` from the cache that all constraints share."""

    def __init__(self, constraint: Constraint, rows: Rows | None = None) -> None:
        self._constraint = constraint
        self._rows = rows or shared_rows()
        self._number = next(_numbers)
        self._keys: dict[State, Hashable] = {}
        self._make: Callable[[State, int], NDArray[np.bool_]] = self._of_allowed
        if isinstance(constraint, DfaConstraint):
            table = constraint.table
            maker = ClassRows(constraint.class_of, table.shape[1])
            self._make = lambda state, width: maker.row(table[state] != DEAD, width)

    def row(self, state: State, width: int, cover: int = 0) -> Any:
        """bool mlx array [1, width]: what may follow in ``state``; tokens of fewer
        than ``cover`` bytes may not."""
        key = (self._number, self._key(state), width, cover)
        return self._rows.get(key, lambda: self._covered(state, width, cover))

    def _covered(self, state: State, width: int, cover: int) -> NDArray[np.bool_]:
        row = self._make(state, width)
        if cover > 0:
            size = min(width, len(self._lengths))
            row[:size] &= self._lengths[:size] >= cover
        return row

    @cached_property
    def _lengths(self) -> NDArray[np.int32]:
        """int32 [vocabulary size]: bytes of each token; very many for the end."""
        vocabulary = self._constraint.vocabulary
        lengths = np.diff(vocabulary.offsets).astype(np.int32)
        lengths[list(vocabulary.eos_ids)] = np.iinfo(np.int32).max
        return lengths

    def _key(self, state: State) -> Hashable:
        """The key of the row of ``state``; remembered for states that recur."""
        key = self._keys.get(state)
        if key is None:
            if len(self._keys) >= _MAX_KEYS:
                self._keys.clear()
            key = self._keys[state] = self._constraint.row_key(state)
        return key

    def _of_allowed(self, state: State, width: int) -> NDArray[np.bool_]:
        allowed = self._constraint.allowed(state)[:width]
        return np.pad(allowed, (0, width - len(allowed)))
