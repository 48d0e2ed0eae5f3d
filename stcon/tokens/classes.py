"""Token classes: which tokens an automaton cannot tell apart, and where each goes.

To an automaton a token is the function that maps each state to the state after
the token's bytes.  The vocabulary trie is walked once, a level at a time, and a
node keeps only the *number* of its function; a function followed by a byte
class is worked out once and remembered.  So the cost is distinct functions ×
byte classes × states plus one table lookup a trie node, instead of tokens ×
length × states.  Tokens of equal functions form a class: a few hundred for a
JSON schema over 248k tokens, and the whole token table is classes × states,
kilobytes.  Exact; joins few-paths Theorem 18 with the equivalence of CFGzip
(token-space compression), which for regular languages is this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.machines.dfa import Dfa
from stcon.machines.limits import Meter
from stcon.tokens.trie import Trie

Ids = NDArray[np.int32]
Table = NDArray[Any]

_MAX_FUNCTIONS = 50_000
_DEAD_FUNCTION = 0
_IDENTITY = 1


@dataclass(frozen=True)
class TokenClasses:
    """``next[state, class_of[token]]`` is the state after a token, 0 for dead.

    ``class_of``: uint16 [vocabulary size] (int32 past 65,535 classes); class 0
    is dead everywhere and holds the tokens that are not text.
    ``next``: int16 or int32 [states, classes].
    """

    class_of: NDArray[np.uint16] | NDArray[np.int32]
    next: NDArray[np.int16] | NDArray[np.int32]

    @property
    def classes(self) -> int:
        """How many classes there are, the dead one included."""
        return int(self.next.shape[1])

    @property
    def nbytes(self) -> int:
        """Size of both tables in bytes."""
        return self.class_of.nbytes + self.next.nbytes


def classify(dfa: Dfa, trie: Trie, meter: Meter) -> TokenClasses:
    """The token classes of ``dfa`` over the vocabulary of ``trie``.

    Raises LimitError when there are more than 50,000 distinct functions or
    they do not fit the memory limit.
    """
    functions = _Functions(dfa, meter)
    at_node = np.zeros(len(trie.parent), np.int32)
    at_node[0] = _IDENTITY
    byte_class = dfa.byte_class.astype(np.int32)[trie.byte]
    bounds = trie.level_bounds.tolist()
    for first, last in pairwise(bounds[1:]):
        above = at_node[trie.parent[first:last]]
        at_node[first:last] = functions.after(above, byte_class[first:last])
    at_node[0] = _DEAD_FUNCTION
    return _pack(at_node[trie.node_of_token], functions.columns)


def _pack(of_token: NDArray[np.int32], columns: Table) -> TokenClasses:
    """Functions that some token has, numbered densely with dead as 0."""
    used = np.zeros(len(columns), bool)
    used[of_token] = True
    used[_DEAD_FUNCTION] = True
    number = np.cumsum(used, dtype=np.int32) - 1
    kind = np.uint16 if number[-1] < 1 << 16 else np.int32
    table = np.ascontiguousarray(columns[used].T)
    return TokenClasses(number.astype(kind)[of_token], table)


class _Functions:
    """The functions met so far, one row of states each, and what each becomes
    after each byte class."""

    def __init__(self, dfa: Dfa, meter: Meter) -> None:
        small = np.int16 if dfa.states < 1 << 15 else np.int32
        self._delta = np.ascontiguousarray(dfa.next.T.astype(small))
        self._meter = meter
        self._width = len(self._delta)
        self._memo = np.full(256 * self._width, -1, np.int32)
        self._rows = np.zeros((256, dfa.states), small)
        self._rows[_IDENTITY] = np.arange(dfa.states)
        self._ids = {self._rows[i].tobytes(): i for i in (_DEAD_FUNCTION, _IDENTITY)}
        self._memo[: self._width] = _DEAD_FUNCTION

    @property
    def columns(self) -> NDArray[np.int16] | NDArray[np.int32]:
        """[functions, states]: the state each function maps a state to."""
        return self._rows[: len(self._ids)]

    def after(self, above: NDArray[np.int32], cls: NDArray[np.int32]) -> Ids:
        """int32: the functions ``above``, each followed by its byte class."""
        keys = above * np.int32(self._width) + cls
        found = self._memo[keys]
        if (found < 0).any():
            self._work_out(keys[found < 0])
            found = self._memo[keys]
        return np.asarray(found, np.int32)

    def _work_out(self, keys: NDArray[np.int32]) -> None:
        """Fill the memo for ``keys``, which may repeat."""
        wanted = np.zeros(len(self._memo), bool)
        wanted[keys] = True
        missing = np.flatnonzero(wanted)
        for part in np.array_split(missing, 1 + len(missing) // 256):
            above, cls = np.divmod(part, self._width)
            rows = self._delta[cls[:, None], self._rows[above]]
            self._memo[part] = [self._id(row) for row in rows]
        grown = len(self._rows) * self._width - len(self._memo)
        if grown:
            self._memo = np.concatenate([self._memo, np.full(grown, -1, np.int32)])

    def _id(self, row: Table) -> int:
        key = row.tobytes()
        known = self._ids.get(key)
        if known is None:
            known = self._ids[key] = len(self._ids)
            self._check(known)
            if known == len(self._rows):
                self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            self._rows[known] = row
        return known

    def _check(self, count: int) -> None:
        if count % 64 == 0:
            self._meter.clock()
            size = 2 * count * self._rows.shape[1] * self._rows.itemsize
            self._meter.memory(size, "the table of token classes")
        if count > _MAX_FUNCTIONS:
            self._meter.memory(1 << 62, "the table of token classes")
