"""A constraint as an mlx-lm logits processor.

Two paths, equal bit for bit.  On the CPU backend the history is read, the state
looked up and a kept numpy row applied (``HostProcessor``).  On a GPU reading a
token would stall the pipeline, in which mlx-lm prepares step n + 1 before step
n is known; there everything is a function of device values (``traced.py``).
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.constraints.constraint import Constraint, LogitsProcessor, State
from stcon.constraints.dfa import DfaConstraint
from stcon.cpu.rows import ClassRows, Rows, shared_rows
from stcon.decode.arguments import check_logits, read_history
from stcon.decode.runs import Runs
from stcon.machines.dfa import DEAD

_numbers = itertools.count()
_MAX_KEYS = 1 << 14


def bind(path: str | None) -> Callable[[Constraint], LogitsProcessor]:
    """What makes the processor of a constraint.

    ``path``: ``"host"``, ``"traced"``, or None for the one that suits mlx's
    default device at the first call.
    """
    return lambda constraint: make_processor(constraint, path)


def make_processor(constraint: Constraint, path: str | None = None) -> LogitsProcessor:
    """The processor of ``constraint``; see ``bind``.

    A pushdown has no traced path yet: on a GPU it runs on the host path.
    """
    from stcon.decode.traced import TracedProcessor

    check_path(path)
    if path == "traced" and not isinstance(constraint, DfaConstraint):
        raise ValueError(f"a {constraint.kind} constraint has only the host path")
    if isinstance(constraint, DfaConstraint) and (path == "traced" or on_gpu(path)):
        return TracedProcessor(constraint)
    return HostProcessor(constraint)


def check_path(path: str | None) -> None:
    """Nothing; raises ValueError for a path that is none."""
    if path not in (None, "host", "traced"):
        raise ValueError(f"path is 'host' or 'traced', not {path!r}")


def on_gpu(path: str | None) -> bool:
    """Whether no path was asked for and mlx computes on a GPU, so that the traced
    path is the better one."""
    import mlx.core as mx

    return path is None and bool(mx.default_device() == mx.gpu)


class HostProcessor:
    """Masks logits after reading the history on the host."""

    def __init__(self, constraint: Constraint, rows: Rows | None = None) -> None:
        self._constraint = constraint
        self._rows = rows or shared_rows()
        self._runs = Runs(constraint)
        self._lock = threading.Lock()
        self._number = next(_numbers)
        self._keys: dict[State, Hashable] = {}
        self._make: Callable[[State, int], NDArray[np.bool_]] = self._of_allowed
        if isinstance(constraint, DfaConstraint):
            table = constraint.table
            maker = ClassRows(constraint.class_of, table.shape[1])
            self._make = lambda state, width: maker.row(table[state] != DEAD, width)

    def __call__(self, tokens: Any, logits: Any) -> Any:
        """``logits`` with -inf where the constraint does not allow a token."""
        import mlx.core as mx

        row = self.row(tokens, check_logits(logits))
        if logits.ndim == 1:
            row = row[0]
        return mx.where(row, logits, mx.array(-np.inf, logits.dtype))

    def row(self, tokens: Any, width: int) -> Any:
        """bool mlx array [1, width]: what may follow the history ``tokens``."""
        history = read_history(tokens)
        with self._lock:
            state = self._runs.state(history)
            key = self._key(state)
        return self._rows.get(
            (self._number, key, width), lambda: self._make(state, width)
        )

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
