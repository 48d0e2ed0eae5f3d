"""Mask rows on the CPU backend: made once in numpy, kept as mlx arrays.

A form of 96 fields has 2,300 states but 54 distinct sets of open classes, so
rows are kept by set: kept by state they would need 570 MB and never be met
again.  One cache serves all constraints, least recently used rows go first, 32
MB at most.

A row of 248k tokens is one ``np.take``, 0.3 ms (an mlx gather needs 1.6 ms on
this backend).  But most tokens fall into a few classes, and a row that starts as
what most tokens are takes 0.05 ms.
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
_SAMPLE = 16  # one token in so many tells how large the classes are
_LARGE = 64  # a class with more than a 64th of the tokens is large
_MOST_COMPARED = 6  # with more, np.take is the faster way


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

    A row starts as what most tokens are, open or closed; then the other classes
    are turned: large ones by a comparison with all tokens (0.02 ms each), small
    ones by their tokens, which are kept sorted by class (four bytes each, 0.1 MB
    for a form).  Building takes 0.5 ms.
    """

    def __init__(self, class_of: NDArray[Any], classes: int) -> None:
        self._class_of = class_of
        # sizes, from a sample: they choose the way to a row, not the row
        self._sampled = np.bincount(class_of[::_SAMPLE], minlength=classes)
        self._is_large = self._sampled * _LARGE > self._sampled.sum()
        is_small = np.ones(len(class_of), bool)
        for cls in np.flatnonzero(self._is_large).tolist():
            is_small &= class_of != cls
        small = np.flatnonzero(is_small)
        of_small = class_of[small]
        self._small = small[np.argsort(of_small, kind="stable")].astype(np.int32)
        self._ends = [0, *np.cumsum(np.bincount(of_small, minlength=classes)).tolist()]

    def row(self, is_open: NDArray[np.bool_], width: int) -> NDArray[np.bool_]:
        """bool [width]: the tokens whose class is open, False past the tokens.

        ``is_open``: bool [classes].
        """
        class_of = self._class_of[:width]
        row = np.zeros(width, bool)
        within = row[: len(class_of)]
        most = bool(self._sampled[is_open].sum() * 2 > self._sampled.sum())
        is_turned = is_open != most
        large = np.flatnonzero(is_turned & self._is_large).tolist()
        if len(large) > _MOST_COMPARED:
            np.take(is_open, class_of, out=within, mode="clip")
            return row
        if most:  # pages of zeros that nobody writes cost nothing
            within[:] = True
        for cls in large:
            np.logical_xor(within, class_of == cls, out=within)
        for turned in self._runs_of_small(is_turned):
            if width < len(self._class_of):
                turned = turned[turned < width]
            within[turned] = not most
        return row

    def _runs_of_small(
        self, is_turned: NDArray[np.bool_]
    ) -> Iterator[NDArray[np.int32]]:
        """The tokens of these classes but the large, neighbouring classes at once."""
        classes = np.flatnonzero(is_turned).tolist()
        first = 0
        for at, cls in enumerate(classes, 1):
            if at == len(classes) or classes[at] != cls + 1:
                yield self._small[self._ends[classes[first]] : self._ends[cls + 1]]
                first = at


def _to_mlx(row: NDArray[np.bool_]) -> Any:
    import mlx.core as mx

    return mx.array(row[None])


@cache
def shared_rows() -> Rows:
    """The cache that all constraints of this process share."""
    return Rows()
