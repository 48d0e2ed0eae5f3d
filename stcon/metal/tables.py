"""The token tables of several grammars on the device, for ``mask`` and ``advance``.

A grammar of a finite automaton has a table [states, classes] and says for each token
its class, 2 bytes a token: with sixteen grammars those maps would weigh more than all
tables.  So tokens that no grammar tells apart are joined into common classes, and a
grammar keeps only which of its own classes each of these is: some hundred entries.
Cost: 3 ms a grammar for 248k tokens (docs/kernels.md has sizes).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mlx.core as mx
import numpy as np
from numpy.typing import NDArray

from stcon.constraints.dfa import DfaConstraint
from stcon.machines.dfa import DEAD

NO_LIMIT = (1 << 31) - 1
"""As a number of tokens left: no limit."""
NO_GRAMMAR = -1
"""As the grammar of a row: anything goes."""
PLACE = 4
"""Numbers that say where a grammar's tables are; see ``TokenTables.places``."""


class TokenTables:
    """The tables of ``constraints``, which share a vocabulary; never changes.

    ``places``: int32 [grammars, 4]: where the grammar's table begins, how many
    classes a row of it has (the last is that of the end tokens), where its entries of
    ``least`` and of ``own`` begin.
    ``table``: int16 or int32 [entries], the state after a token of a class, 0 for
    dead.  Row 0 opens the end tokens: a row that went wrong ends.
    ``least``: int32 [states of all grammars], the fewest tokens to the end; one 0 if
    made without ``limits``.
    ``own``: uint16 or int32: per grammar and common class, the grammar's own class.
    ``class_of``: uint16 or int32 [tokens]: the common class of each token; there are
    ``classes``.
    """

    def __init__(
        self, constraints: Sequence[DfaConstraint], limits: bool = False
    ) -> None:
        """``limits``: whether rows may have a limit on tokens (1 to 25 ms a grammar).

        Raises ValueError without constraints, with unlike vocabularies, and beyond
        2**31 entries.
        """
        check_vocabulary(constraints)
        self.has_limits = limits
        common, owns = join_classes([one.class_of for one in constraints])
        tables = [_opened(one.table, one.end) for one in constraints]
        least = [one.costs.least_tokens for one in constraints] if limits else []
        self.places = mx.array(
            np.stack(
                [
                    starts(tables),
                    [table.shape[1] for table in tables],
                    starts(least) if limits else np.zeros(len(tables), np.int32),
                    starts(owns),
                ],
                axis=1,
            ).astype(np.int32)
        )
        self.starts = mx.array([one.start for one in constraints], mx.int32)
        self.table = mx.array(joined(tables))
        self.least = mx.array(joined(least) if limits else np.zeros(1, np.int32))
        self.own = mx.array(joined(owns))
        self.class_of = mx.array(common)
        self.grammars = len(tables)
        self.tokens = len(common)
        self.classes = int(common.max()) + 1

    @property
    def nbytes(self) -> int:
        """Bytes on the device, the common classes included."""
        arrays = (v for v in vars(self).values() if isinstance(v, mx.array))
        return sum(array.nbytes for array in arrays)


def check_vocabulary(constraints: Sequence[Any]) -> None:
    """Nothing; raises ValueError unless there are constraints, of one vocabulary."""
    if not constraints:
        raise ValueError("tables are of one constraint at least")
    if len({one.vocabulary.fingerprint for one in constraints}) > 1:
        raise ValueError("the constraints of a batch are of one vocabulary")


def join_classes(
    maps: Sequence[NDArray[Any]],
) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """The common classes [tokens] of some maps [tokens] to classes, and for each map
    the class [common classes] that each of them is.

    ``owns[i][common]`` equals ``maps[i]``; there are no more common classes than
    needed.  Refines map by map: a pair of numbers is one number.
    """
    common = np.zeros(len(maps[0]), np.int64)
    for classes in maps:
        pairs = common * (int(classes.max()) + 1) + classes
        used = np.zeros(int(pairs.max()) + 1, np.bool_)
        used[pairs] = True
        common = (np.cumsum(used) - 1)[pairs]
    owns = []
    for classes in maps:
        own = np.zeros(int(common.max()) + 1, classes.dtype)
        own[common] = classes
        owns.append(own)
    return common.astype(np.uint16 if common.max() < 1 << 16 else np.int32), owns


def starts(arrays: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Where each of ``arrays`` begins once they are joined; raises ValueError when
    the last ends beyond what 32 bits count."""
    ends = np.cumsum([array.size for array in arrays])
    if ends[-1] > NO_LIMIT:
        raise ValueError(f"{ends[-1]:,} entries are more than 32 bits count")
    begins: NDArray[np.int64] = ends - [array.size for array in arrays]
    return begins


def joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """All entries in a row, in the widest of the dtypes."""
    whole: NDArray[Any] = np.concatenate([array.reshape(-1) for array in arrays])
    return whole


def _opened(table: NDArray[Any], end: int) -> NDArray[Any]:
    """``table`` with the end tokens open in the dead state."""
    opened: NDArray[Any] = table.copy()
    opened[DEAD, -1] = end
    return opened
