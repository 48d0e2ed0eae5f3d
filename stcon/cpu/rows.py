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
from collections.abc import Callable, Hashable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LIMIT = 32 << 20
_FEW = 4  # an index pays when it holds less than a quarter of the tokens
_SAMPLE = 16  # one token in so many tells the commonest class


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
        self._common = int(np.bincount(class_of[::_SAMPLE]).argmax())
        rare = np.flatnonzero(class_of != self._common)
        self._is_indexed = len(rare) * _FEW < len(class_of)
        if self._is_indexed:
            of_rare = class_of[rare]
            self._rare = rare[np.argsort(of_rare, kind="stable")].astype(np.int32)
            sizes = np.bincount(of_rare, minlength=classes)
            self._ends = [0, *np.cumsum(sizes).tolist()]

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
        if base:  # pages of zeros that nobody writes cost nothing
            row[:size] = True
        for turned in self._turned(is_open != base):
            if width < len(self._class_of):
                turned = turned[turned < width]
            row[turned] = not base
        return row

    def _turned(self, is_turned: NDArray[np.bool_]) -> Iterator[NDArray[np.int32]]:
        """The tokens of these classes, neighbouring classes at once."""
        classes = np.flatnonzero(is_turned).tolist()
        first = 0
        for at, cls in enumerate(classes, 1):
            if at == len(classes) or classes[at] != cls + 1:
                yield self._rare[self._ends[classes[first]] : self._ends[cls + 1]]
                first = at


def _to_mlx(row: NDArray[np.bool_]) -> Any:
    import mlx.core as mx

    return mx.array(row[None])


@cache
def shared_rows() -> Rows:
    """The cache that all constraints of this process share."""
    return Rows()
