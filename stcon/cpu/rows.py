"""Mask rows on the CPU backend: made once in numpy, kept as mlx arrays.

A form of 96 fields has a hundred distinct sets of allowed tokens, and a run
meets most of them many times.  A row is one ``np.take`` (0.15 ms for 248k
tokens; an mlx gather needs 1.6 ms on this backend), a kept row is a lookup.  One
cache serves all constraints, least recently used rows go first, 32 MB at most.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LIMIT = 32 << 20


class Rows:
    """A cache of mask rows, bool mlx arrays [1, width], bounded in bytes."""

    def __init__(self, limit: int = _LIMIT) -> None:
        self.limit = limit
        self.nbytes = 0
        self._rows: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], NDArray[np.bool_]]) -> Any:
        """The row of ``key``; ``make`` gives it as numpy bool [width]."""
        with self._lock:
            row = self._rows.get(key)
            if row is not None:
                self._rows.move_to_end(key)
                return row
        row = _to_mlx(make())
        with self._lock:
            if key not in self._rows:
                self._rows[key] = row
                self.nbytes += row.nbytes
            while self.nbytes > self.limit and len(self._rows) > 1:
                self.nbytes -= self._rows.popitem(last=False)[1].nbytes
        return row

    def clear(self) -> None:
        """Nothing; forgets all rows."""
        with self._lock:
            self._rows.clear()
            self.nbytes = 0


def _to_mlx(row: NDArray[np.bool_]) -> Any:
    import mlx.core as mx

    return mx.array(row[None])


@cache
def shared_rows() -> Rows:
    """The cache that all constraints of this process share."""
    return Rows()
