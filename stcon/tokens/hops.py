"""Hops: what is known about one set of trie nodes above one stack symbol."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.machines.frames import Window
from stcon.tokens.inside import Inside
from stcon.tokens.relative import Relatives
from stcon.tokens.trie import Trie

Nodes = NDArray[np.int32]
Levels = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]

_KINDS = (np.uint8, np.uint16, np.uint32)

ROOT = 0
"""The number of the P that holds the root alone."""
NOTHING = -1
"""The number of the empty P."""

PARTS = (
    *("tokens", "needs", "bits", "levels"),
    *("popped", "popped_ticks", "closing", "closing_ticks"),
)
"""The arrays of a hop."""

_LARGE = 64  # more than one token in so many, and a hop keeps bits, not ids


class Pending:
    """Sets P of trie nodes, numbered as they are met; shared by all machines
    over one vocabulary."""

    def __init__(self) -> None:
        self._sets: list[Nodes] = []
        self._ids: dict[bytes, int] = {}
        self._lock = threading.Lock()
        self.number(np.zeros(1, np.int32))

    def number(self, nodes: Nodes) -> int:
        """The number of a set (ascending nodes); NOTHING for the empty one."""
        if not len(nodes):
            return NOTHING
        key = nodes.tobytes()
        known = self._ids.get(key)
        if known is None:
            with self._lock:
                known = self._ids.get(key)
                if known is None:
                    known = len(self._sets)
                    self._sets.append(nodes)
                    self._ids[key] = known
        return known

    def __len__(self) -> int:
        """How many sets there are."""
        return len(self._sets)

    @property
    def nbytes(self) -> int:
        """Bytes of all sets."""
        return sum(nodes.nbytes for nodes in self._sets)

    def nodes(self, number: int) -> Nodes:
        """The set of a number."""
        return self._sets[number]


class TokensAt:
    """Finds the tokens that end at nodes."""

    def __init__(self, trie: Trie) -> None:
        self._trie = trie
        order = np.argsort(trie.node_of_token, kind="stable").astype(np.int32)
        self._order = order[np.searchsorted(trie.node_of_token[order], 1) :]
        self._nodes = trie.node_of_token[self._order]
        self.size = len(trie.node_of_token)

    def few(self, nodes: Nodes) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """The tokens at ``nodes`` (distinct), and the place of the node of each."""
        first = np.searchsorted(self._nodes, nodes)
        counts = np.searchsorted(self._nodes, nodes, "right") - first
        places = np.repeat(np.arange(len(nodes)), counts)
        offsets = np.repeat(first - np.cumsum(counts) + counts, counts)
        return self._order[offsets + np.arange(len(places))], places

    def row(self, nodes: Nodes) -> NDArray[np.bool_]:
        """bool [tokens]: those that end at ``nodes``."""
        alive = np.zeros(self._trie.nodes, np.bool_)
        alive[nodes] = True
        alive[0] = False
        return alive[self._trie.node_of_token]

    def by_node(self, nodes: Nodes, values: NDArray[np.int32]) -> Levels:
        """[tokens]: the least value of the node of each, the greatest number of the
        type for other nodes; the values are less than that."""
        highest = values.max(initial=0)
        kind: Any = next(kind for kind in _KINDS if highest < np.iinfo(kind).max)
        every = np.full(self._trie.nodes, np.iinfo(kind).max, kind)
        np.minimum.at(every, nodes, values.astype(kind))
        every[0] = np.iinfo(kind).max
        return every[self._trie.node_of_token]


@dataclass(eq=False)
class Hop:
    """``tokens``: int32, ids that end above the symbol; ``needs``: the fewest
    ticks each leaves to be taken, ascending, None if the rule does not count.
    Of many tokens, ``bits`` (packed, [tokens / 8]) or, where counted, ``levels``
    (unsigned [tokens], the need of each, the greatest number for none) take
    their place.
    ``closing``: ids that end just where the rule is closed, by ``closing_ticks``,
    ascending: they fit if the window has been met.
    ``popped``: the nodes at which the symbol was popped, with the ticks taken.
    """

    tokens: NDArray[np.int32] | None
    needs: NDArray[np.int32] | None
    bits: NDArray[np.uint8] | None
    levels: Levels | None
    popped: Nodes
    popped_ticks: NDArray[np.int32] | None
    closing: NDArray[np.int32] | None
    closing_ticks: NDArray[np.int32] | None
    pending: Pending
    highest: int = 0
    _rests: dict[Window | None, int] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        arrays = (getattr(self, part) for part in PARTS)
        return sum(array.nbytes for array in arrays if array is not None)

    @cached_property
    def digest(self) -> bytes:
        """Equal for hops with the same tokens; b"" for one without any."""
        content = blake2b(digest_size=16)
        size = 0
        for part in PARTS:
            array = getattr(self, part)
            if array is not None and not part.startswith("popped"):
                content.update(f"{part} {len(array)} ".encode())
                content.update(array.tobytes())
                size += len(array)
        return content.digest() if size else b""

    def window(self, window: Window | None) -> Window | None:
        """The window as far as it matters to this hop."""
        if self.popped_ticks is None or window is None:
            return None
        return min(window[0], self.highest + 1), min(window[1], self.highest)

    def rest(self, window: Window | None) -> int:
        """The number of the next P, or NOTHING."""
        known = self._rests.get(window)
        if known is None:
            nodes = self.popped
            if self.popped_ticks is not None and window is not None:
                ticks = self.popped_ticks
                nodes = nodes[(ticks >= window[0]) & (ticks <= window[1])]
            known = self._rests[window] = self.pending.number(_distinct(nodes))
        return known

    def know_rest(self, number: int) -> None:
        """Nothing; ``number`` is what ``rest(None)`` gives."""
        self._rests[None] = number

    def paint(self, row: NDArray[np.bool_], window: Window | None) -> None:
        """Nothing; sets the tokens of this hop in ``row``, bool [tokens]."""
        if self.bits is not None:
            row |= np.unpackbits(self.bits, count=len(row)).view(np.bool_)
        elif self.levels is not None:
            most = np.inf if window is None else window[1]
            highest = int(np.iinfo(self.levels.dtype).max) - 1
            row |= self.levels <= int(min(most, highest))
        elif self.tokens is not None:
            tokens = self.tokens
            if self.needs is not None and window is not None:
                tokens = tokens[: np.searchsorted(self.needs, window[1], "right")]
            row[tokens] = True
        if self.closing is not None and self.closing_ticks is not None:
            least, most = window or (0, np.inf)
            first = np.searchsorted(self.closing_ticks, least)
            last = np.searchsorted(self.closing_ticks, most, "right")
            row[self.closing[first:last]] = True


def _distinct(nodes: Nodes) -> Nodes:
    """The nodes in order, each once.  They come nearly in order, level by level:
    numpy's own way to find distinct numbers takes ten times as long."""
    nodes = np.sort(nodes, kind="stable")
    return nodes[np.append(True, nodes[1:] != nodes[:-1])] if len(nodes) else nodes


class Ends:
    """Collects where tokens end and symbols are popped during one walk."""

    def __init__(self, relatives: Relatives, counts: bool) -> None:
        self._relatives = relatives
        self.counts = counts
        self._one: list[tuple[int, int, int]] = []
        self._many: list[tuple[Nodes, NDArray[np.int32], NDArray[np.int32]]] = []
        self._popped: list[tuple[Nodes, int]] = []
        self._below: list[Nodes] = []

    def pop(self, nodes: Nodes, config: int) -> None:
        """Nothing; the symbol may be popped at ``nodes`` before anything is read."""
        for ticks in self._relatives.pops[config]:
            self._popped.append((nodes, ticks))

    def add_one(self, node: int, config: int, ticks: int) -> None:
        """Nothing; a node is reached in a configuration after ticks."""
        self._one.append((node, config, ticks))

    def add(
        self, nodes: Nodes, config: NDArray[np.int32], ticks: NDArray[np.int32]
    ) -> None:
        """Nothing; many nodes are reached."""
        self._many.append((nodes, config, ticks))

    def add_below(self, nodes: Nodes) -> None:
        """Nothing; ``nodes`` are reached in free text, and all below is known."""
        if len(nodes):
            self._below.append(nodes)

    def reached(self) -> tuple[Nodes, NDArray[np.int32], NDArray[np.int32]]:
        """The nodes that were walked to, with configurations and ticks."""
        one = np.array(self._one, np.int32).reshape(-1, 3).T
        parts = [(one[0], one[1], one[2]), *self._many]
        nodes, config, ticks = (
            np.concatenate([part[i] for part in parts]) for i in range(3)
        )
        return nodes, config, ticks

    def hop(
        self, trie: Trie, tokens: TokensAt, pending: Pending, inside: Inside | None
    ) -> Hop:
        """All that was collected; ``inside`` knows what is below free text."""
        row = None
        if self._below and inside is not None:
            row, popped = inside.below(np.concatenate(self._below))
            self._popped.append((popped, 0))
        nodes, config, ticks = self.reached()
        popped, popped_ticks = self._all_popped(trie, nodes, config, ticks)
        if not self.counts:
            return self._uncounted(row, nodes, tokens, popped, pending)
        need = np.array(self._relatives.need, np.int32)[config]
        alive = need >= 0
        found = self._counted(nodes[alive], (need + ticks)[alive], tokens)
        closing, closing_ticks = self._closing(nodes, config, ticks, tokens)
        highest = max(
            found[3],
            int(popped_ticks.max(initial=0)),
            int(closing_ticks.max(initial=0)),
        )
        return Hop(
            *(found[0], found[1], None, found[2], popped, popped_ticks),
            *(closing, closing_ticks, pending, highest),
        )

    def _closing(
        self,
        nodes: Nodes,
        config: NDArray[np.int32],
        ticks: NDArray[np.int32],
        tokens: TokensAt,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The tokens that end where the rule is closed, by ticks, and the ticks."""
        chosen = self._at_each(self._relatives.closings, nodes, config, ticks)
        found, places = tokens.few(chosen[0])
        taken = chosen[1][places]
        order = np.lexsort((found, taken))
        return found[order], taken[order]

    @staticmethod
    def _at_each(
        offsets: list[tuple[int, ...]],
        nodes: Nodes,
        config: NDArray[np.int32],
        ticks: NDArray[np.int32],
    ) -> tuple[Nodes, NDArray[np.int32]]:
        """The nodes, once for each offset of their configuration, and the ticks
        with it."""
        found = [(np.zeros(0, np.int32), np.zeros(0, np.int32))]
        for place in range(max(map(len, offsets))):
            column = [own[place] if len(own) > place else -1 for own in offsets]
            offset = np.array(column, np.int32)[config]
            there = offset >= 0
            found.append((nodes[there], (ticks + offset)[there]))
        return np.concatenate([x[0] for x in found]), np.concatenate(
            [x[1] for x in found]
        )

    def _all_popped(
        self,
        trie: Trie,
        nodes: Nodes,
        config: NDArray[np.int32],
        ticks: NDArray[np.int32],
    ) -> tuple[Nodes, NDArray[np.int32]]:
        """Where the symbol was popped and tokens go on, and the ticks taken."""
        found = [(at, np.full(len(at), t, np.int32)) for at, t in self._popped]
        found.append(self._at_each(self._relatives.pops, nodes, config, ticks))
        all_nodes = np.concatenate([at for at, _ in found])
        all_ticks = np.concatenate([t for _, t in found])
        inner = trie.child_count[all_nodes] > 0
        return all_nodes[inner], all_ticks[inner]

    @staticmethod
    def _uncounted(
        row: NDArray[np.bool_] | None,
        nodes: Nodes,
        tokens: TokensAt,
        popped: Nodes,
        pending: Pending,
    ) -> Hop:
        if row is None and len(nodes) * _LARGE > tokens.size:
            row = tokens.row(nodes)
        elif row is not None:
            row[tokens.few(nodes)[0]] = True
        if row is not None:
            bits = np.packbits(row)
            return Hop(None, None, bits, None, popped, None, None, None, pending)
        found = np.sort(tokens.few(nodes)[0])
        return Hop(found, None, None, None, popped, None, None, None, pending)

    @staticmethod
    def _counted(
        nodes: Nodes, needs: NDArray[np.int32], tokens: TokensAt
    ) -> tuple[
        NDArray[np.int32] | None,
        NDArray[np.int32] | None,
        Levels | None,
        int,
    ]:
        highest = int(needs.max(initial=0))
        if len(nodes) * _LARGE > tokens.size:
            return None, None, tokens.by_node(nodes, needs), highest
        found, places = tokens.few(nodes)
        order = np.lexsort((found, needs[places]))
        return found[order], needs[places][order], None, highest
