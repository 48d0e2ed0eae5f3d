"""Mask rows of one constraint as mlx arrays, by state; kept and shared by content."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.constraints.budget import BudgetConstraint
from stcon.constraints.constraint import Constraint, State
from stcon.constraints.dfa import DfaConstraint
from stcon.cpu.rows import ClassRows, Rows, shared_rows
from stcon.decode.pins import Pin

_MAX_KEYS = 1 << 14

_FEW = 128
"""With more tokens open, gathering their rows of the head is no longer a fraction of
reading it whole."""


class Masks:
    """Rows of ``constraint`` from the cache that all constraints share."""

    def __init__(self, constraint: Constraint, rows: Rows | None = None) -> None:
        self._constraint = constraint
        self._rows = rows or shared_rows()
        self._keys: dict[State, Hashable] = {}
        self._few: dict[Hashable, Any] = {}
        self._make: Callable[[State, int], NDArray[np.bool_]] = self._of_allowed
        unlimited = constraint
        if isinstance(constraint, BudgetConstraint):
            unlimited = constraint.inner
        if isinstance(unlimited, DfaConstraint):
            classes = unlimited.table.shape[1]
            self._class_rows = ClassRows(unlimited.class_of, classes)
            self._make = self._of_classes

    def row(self, state: State, width: int, cover: int = 0) -> Any:
        """bool mlx array [1, width]: what may follow in ``state``; tokens of fewer
        than ``cover`` bytes may not."""
        key = (self._constraint.family, self.key(state), width, cover)
        return self._rows.get(key, lambda: self._covered(state, width, cover))

    def pinned(self, pin: Pin, width: int) -> Any:
        """bool mlx array [1, width]: what may come at a place with forced text."""
        import mlx.core as mx

        if pin.token is None:
            return self.row(pin.plan.state, width, pin.plan.cover)
        return mx.arange(width)[None] == pin.token

    def few(self, state: State, width: int, cover: int = 0) -> Any:
        """The tokens of ``row``, mlx int32 [k], if they are few; else None."""
        key = (self.key(state), width, cover)
        if key not in self._few:
            if len(self._few) >= _MAX_KEYS:
                self._few.clear()
            self._few[key] = self._open(state, width, cover)
        return self._few[key]

    def _open(self, state: State, width: int, cover: int) -> Any:
        import mlx.core as mx

        open_ids = np.flatnonzero(self._covered(state, width, cover))
        return mx.array(open_ids.astype(np.int32)) if len(open_ids) <= _FEW else None

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

    def key(self, state: State) -> Hashable:
        """What the row of ``state`` depends on; remembered for states that recur."""
        key = self._keys.get(state)
        if key is None:
            if len(self._keys) >= _MAX_KEYS:
                self._keys.clear()
            key = self._keys[state] = self._constraint.row_key(state)
        return key

    def _of_classes(self, state: State, width: int) -> NDArray[np.bool_]:
        is_open = self._constraint.open_classes(state)
        assert is_open is not None
        return self._class_rows.row(is_open, width)

    def _of_allowed(self, state: State, width: int) -> NDArray[np.bool_]:
        allowed = self._constraint.allowed(state)[:width]
        return np.pad(allowed, (0, width - len(allowed)))
