"""Mask rows on the CPU backend: made once in numpy, kept as mlx arrays.

A form of 96 fields has 2,300 states but 54 distinct sets of open classes, so
rows are kept by set: kept by state they would need 570 MB and never be met
again.  One cache serves all constraints, least recently used rows go first, 32
MB at most.

A row of 248k tokens is one ``np.take``, 0.3 ms (an mlx gather needs 1.6 ms on
this backend).  But of a form nine tokens in ten fall into one class, and a row
that starts as that class and turns over what differs takes 0.05 ms.
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
_FEW = 4  # an index pays when it holds less than a quarter of the tokens


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


class ClassRows:
    """Makes rows of a class table.  ``class_of``: [tokens], class of each.

    Keeps the tokens that are not of the commonest class, sorted by class: four
    bytes each, 0.1 MB for a form and 248k tokens.  Building takes 0.5 ms.
    """

    def __init__(self, class_of: NDArray[Any], classes: int) -> None:
        self._class_of = class_of
        sizes = np.bincount(class_of, minlength=classes)
        self._common = int(sizes.argmax())
        rare = np.flatnonzero(class_of != self._common)
        self._is_indexed = len(rare) * _FEW < len(class_of)
        if self._is_indexed:
            order = np.argsort(class_of[rare], kind="stable")
            self._rare = rare[order].astype(np.int32)
            sizes[self._common] = 0
            self._ends = np.concatenate([[0], np.cumsum(sizes)])

    def row(self, is_open: NDArray[np.bool_], width: int) -> NDArray[np.bool_]:
        """bool [width]: the tokens whose class is open, False past the tokens.

        ``is_open``: bool [classes].
        """
        size = min(width, len(self._class_of))
        row = np.zeros(width, bool)
        if not self._is_indexed:
            np.take(is_open, self._class_of[:size], out=row[:size])
            return row
        base = bool(is_open[self._common])
        row[:size] = base
        edges = np.flatnonzero(np.diff(is_open != base, prepend=False, append=False))
        bounds = self._ends[edges].tolist()
        for first, last in zip(bounds[::2], bounds[1::2], strict=True):
            turned = self._rare[first:last]
            if width < len(self._class_of):
                turned = turned[turned < width]
            row[turned] = not base
        return row


def _to_mlx(row: NDArray[np.bool_]) -> Any:
    import mlx.core as mx

    return mx.array(row[None])


@cache
def shared_rows() -> Rows:
    """The cache that all constraints of this process share."""
    return Rows()
