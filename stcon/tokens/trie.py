"""The vocabulary as a prefix tree: every walk over all tokens goes through it.

A level-by-level layout (breadth first) lets such a walk be one numpy operation
a level.  Tokens are sorted once, as 64-bit keys of seven bytes and a length, so
that at each depth equal prefixes are neighbours and one comparison with the
neighbour tells the new nodes.  Cost: one sort of the tokens, then one pass over
their bytes (Qwen3.5, 248k tokens, 1.8 MB: 0.15 s; a Python loop over
dicts takes 1.9 s).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

_CHUNK = 7  # bytes in a key; the eighth holds how many bytes are left


@dataclass(frozen=True, eq=False)
class Trie:
    """A prefix tree in flat, read-only arrays; node 0 is the root.

    Nodes are numbered breadth first.  Level ``d`` holds the nodes of depth
    ``d``: ``level_bounds[d] : level_bounds[d + 1]``, so level 0 is the root
    alone.  Children of one node are neighbours in byte order, and stand in the
    order of their parents: children of ``n`` are ``first_child[n] :
    first_child[n] + child_count[n]``.
    """

    level_bounds: Int32
    """``[levels + 1]``; ``level_bounds[:2]`` is ``[0, 1]``."""
    parent: Int32
    """``[nodes]``; ``parent[0]`` is 0."""
    byte: Bytes
    """``[nodes]``; the byte read on the way from the parent; 0 at the root."""
    node_of_token: Int32
    """``[size]``; the node at which the token ends, 0 for one that is no text.
    Tokens with the same bytes share a node."""
    first_child: Int32
    """``[nodes]``; of a leaf: where its children would stand."""
    child_count: Int32
    """``[nodes]``; between 0 and 256."""

    @property
    def nodes(self) -> int:
        """Number of nodes, the root included."""
        return len(self.parent)

    @property
    def levels(self) -> int:
        """Number of levels, the root's included: 1 + length of the longest token."""
        return len(self.level_bounds) - 1

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        return sum(array.nbytes for array in vars(self).values())


def build_trie(offsets: Int32, data: Bytes) -> Trie:
    """The trie of the tokens ``data[offsets[t] : offsets[t + 1]]``, t in 0..size-1.

    Empty tokens end nowhere.  Same tokens, same arrays, whatever the platform.
    """
    size = len(offsets) - 1
    lengths = np.diff(offsets)
    tokens = _sort_tokens(offsets, lengths, data)
    starts, lengths = offsets[tokens], lengths[tokens]
    at = np.zeros(len(tokens), np.int32)
    node_of_token = np.zeros(size, np.int32)
    bounds = [0, 1]
    parents, labels = [np.zeros(1, np.int32)], [np.zeros(1, np.uint8)]
    depth = 0
    while len(tokens):
        read = data[starts + depth]
        is_new = np.ones(len(tokens), bool)
        is_new[1:] = (at[1:] != at[:-1]) | (read[1:] != read[:-1])
        parents.append(at[is_new])
        labels.append(read[is_new])
        at = np.cumsum(is_new, dtype=np.int32) + np.int32(bounds[-1] - 1)
        bounds.append(bounds[-1] + len(labels[-1]))
        depth += 1
        goes_on = lengths > depth
        if not goes_on.all():
            node_of_token[tokens[~goes_on]] = at[~goes_on]
            tokens, starts = tokens[goes_on], starts[goes_on]
            lengths, at = lengths[goes_on], at[goes_on]
    return _finish(
        bounds, np.concatenate(parents), np.concatenate(labels), node_of_token
    )


def _finish(bounds: list[int], parent: Int32, byte: Bytes, ends: Int32) -> Trie:
    count = np.bincount(parent[1:], minlength=len(parent)).astype(np.int32)
    first = np.cumsum(count, dtype=np.int32) - count + np.int32(1)
    arrays = (np.array(bounds, np.int32), parent, byte, ends, first, count)
    for array in arrays:
        array.setflags(write=False)
    return Trie(*arrays)


def _sort_tokens(offsets: Int32, lengths: Int32, data: Bytes) -> Int64:
    """Ids of the tokens that are not empty, in lexicographic order of bytes."""
    tokens = np.flatnonzero(lengths)
    padded = np.concatenate([data, np.zeros(8, np.uint8)])
    keys = _chunk_keys(padded, offsets[tokens], lengths[tokens])
    order = np.argsort(keys, kind="stable")
    tokens, keys = tokens[order], keys[order]
    # Tokens that agree on a chunk and go on after it are sorted by the next one.
    tied, group = _ties(np.zeros(len(tokens), np.int64), keys)
    places, done = np.flatnonzero(tied), 0
    while len(places):
        done += _CHUNK
        group, some = group[tied], tokens[places]
        keys = _chunk_keys(padded, offsets[some] + done, lengths[some] - done)
        order = np.lexsort((keys, group))
        tokens[places] = some[order]
        tied, group = _ties(group, keys[order])
        places = places[tied]
    return tokens


def _chunk_keys(padded: Bytes, starts: Int32, left: Int32) -> npt.NDArray[np.uint64]:
    """Seven bytes, then ``min(left, 8)``: orders as the bytes do, a prefix first."""
    words = np.ndarray(len(padded) - 7, ">u8", padded, strides=(1,))
    kept = np.minimum(left, _CHUNK)
    masks = np.array([(1 << 64) - (1 << (64 - 8 * k)) for k in range(8)], np.uint64)
    keys: npt.NDArray[np.uint64] = words[starts].astype(np.uint64) & masks[kept]
    keys |= np.minimum(left, _CHUNK + 1).astype(np.uint64)
    return keys


def _ties(
    group: Int64, keys: npt.NDArray[np.uint64]
) -> tuple[npt.NDArray[np.bool_], Int64]:
    """Which rows share group and key with a neighbour and go on; new groups."""
    same = (group[1:] == group[:-1]) & (keys[1:] == keys[:-1])
    same &= (keys[1:] & np.uint64(0xFF)) > _CHUNK
    tied = np.zeros(len(keys), bool)
    tied[1:] = same
    tied[:-1] |= same
    starts = np.ones(len(keys), np.int64)
    starts[1:] = ~same
    return tied, np.cumsum(starts)
