"""The stack-reading transducer of a grammar: masks without parsing.

As ``transducer.py``, for machines whose configurations are sets of stacks: what has
become of the one symbol that is read is itself a set of stacks above nothing, shared
and interned, so a token that can be read in any number of ways costs what its states
cost.  Bytes that no rule tells apart are worked out once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stcon.machines.grammar import GrammarMachine
from stcon.machines.stacks import Stacks
from stcon.tokens.hops import NOTHING, Ends, Hop
from stcon.tokens.transducer import MOST_NARROW, NARROW, Seeds, Transducer
from stcon.tokens.trie import Trie

Ids = NDArray[np.int32]


class RelativeStacks:
    """The sets of stacks above one symbol met so far, by number; 0 is the empty set.

    What a byte makes of a set is worked out when a token asks for it: most sets are
    met deep in the trie, where one or two bytes follow.
    ``is_popped``: bool [sets and more], whether the symbol is popped; ``live_bits``:
    uint64 [sets and more], the classes of bytes that may follow, modulo 64.
    """

    def __init__(self, machine: GrammarMachine) -> None:
        self._machine = machine
        self.class_of = machine.state.class_of.astype(np.int32)
        self._kinds = machine.state.classes
        self._sets: list[Stacks] = []
        self._ids: dict[Stacks, int] = {}
        self._steps: list[_Steps | None] = []
        self.is_popped = np.zeros(16, np.bool_)
        self.live_bits = np.zeros(16, np.uint64)
        self._row_of = np.full(16, -1, np.int32)
        self._next = np.full((16, self._kinds), -1, np.int32)
        self._rows = 0
        self._number(machine.graph.none)

    @property
    def nbytes(self) -> int:
        """Bytes of the tables."""
        return self._next.nbytes + self._row_of.nbytes + 1000 * len(self._sets)

    def start(self, state: int) -> int:
        """The number of the symbol as it is."""
        return self._number(self._machine.alone(state))

    def stacks(self, config: int) -> Stacks:
        """The set of stacks of a number."""
        return self._sets[config]

    def live(self, config: int) -> int:
        """The classes of bytes that may follow, as bits."""
        return self._steps_of(config).live

    def after_class(self, config: int, kind: int) -> int:
        """The number of what a byte of class ``kind`` makes of a set."""
        steps = self._steps_of(config)
        known = steps.known.get(kind)
        if known is None:
            known = steps.known[kind] = self._find(config, steps, kind)
        return known

    def after(self, config: Ids, byte: NDArray[np.uint8]) -> tuple[Ids, None]:
        """The sets that follow, and no ticks."""
        rows = np.take(self._row_of, config)
        if len(rows) and rows.min() < 0:
            self._make_rows(config[rows < 0])
            rows = np.take(self._row_of, config)
        keys = rows * self._kinds + np.take(self.class_of, byte)
        found = np.take(self._next.reshape(-1), keys)
        missing = np.flatnonzero(found < 0)
        if len(missing):
            self._fill(config[missing], keys[missing])
            found = np.take(self._next.reshape(-1), keys)
        return found, None

    def _fill(self, config: Ids, keys: Ids) -> None:
        """Works out the places ``keys`` of the rows, each once."""
        flat = self._next.reshape(-1)
        found = dict(zip(keys.tolist(), config.tolist(), strict=True))
        for key, one in found.items():
            flat[key] = self.after_class(one, key % self._kinds)

    def _make_rows(self, config: Ids) -> None:
        for one in set(config.tolist()):
            if self._rows == len(self._next):
                self._next = np.concatenate([self._next, np.full_like(self._next, -1)])
            self._row_of[one] = self._rows
            self._rows += 1

    def _steps_of(self, config: int) -> _Steps:
        known = self._steps[config]
        if known is None:
            machine = self._machine
            cells = machine.graph.opened(self._sets[config])[0]
            states = dict.fromkeys(state for state, _ in cells)
            effects = [machine.state.effects(state) for state in states]
            live = machine.live_classes(self._sets[config])
            known = self._steps[config] = _Steps(live, effects, {}, {})
        return known

    def _find(self, config: int, steps: _Steps, kind: int) -> int:
        """Classes of bytes with the same effect on all open states step once."""
        if not steps.live >> kind & 1:
            return 0
        key = tuple([effects.get(kind) for effects in steps.effects])
        known = steps.by_effect.get(key)
        if known is None:
            after = self._machine.step_class(self._sets[config], kind)
            known = steps.by_effect[key] = self._number(after)
        return known

    def _number(self, stacks: Stacks) -> int:
        known = self._ids.get(stacks)
        if known is None:
            known = self._ids[stacks] = len(self._sets)
            self._sets.append(stacks)
            self._steps.append(None)
            if len(self._sets) > len(self.is_popped):
                self.is_popped = np.append(self.is_popped, self.is_popped & False)
                self.live_bits = np.append(self.live_bits, self.live_bits)
                unknown = np.full_like(self._row_of, -1)
                self._row_of = np.concatenate([self._row_of, unknown])
            self.is_popped[known] = self._machine.is_complete(stacks)
            self.live_bits[known] = folded(self._machine.live_classes(stacks))
        return known


class _Steps(NamedTuple):
    """Of one set: the classes of bytes that may follow, as bits; for each open state
    the effects of the classes; what follows by class, and by effects."""

    live: int
    effects: list[dict[int, int]]
    known: dict[int, int]
    by_effect: dict[tuple[int | None, ...], int]


def folded(bits: int) -> int:
    """Classes as bits, numbers modulo 64: a filter that lets too much through."""
    while bits >> 64:
        bits = bits & (1 << 64) - 1 | bits >> 64
    return bits


class GrammarEnds(Ends):
    """Collects where tokens end and symbols are popped during one walk.

    ``goes_on``: bool [nodes], whether a byte that may follow the rule of the symbol
    comes next: of all places in names, those before a space or a sign.
    """

    def __init__(self, relatives: RelativeStacks, goes_on: NDArray[np.bool_]) -> None:
        super().__init__(relatives, False)  # type: ignore[arg-type]
        self._sets = relatives
        self._goes_on = goes_on

    def pop(self, nodes: Ids, config: int) -> None:
        """Nothing; the symbol may be popped at ``nodes`` before anything is read."""
        if self._sets.is_popped[config]:
            self._popped.append((nodes, 0))

    def _all_popped(
        self, trie: Trie, nodes: Ids, config: Ids, ticks: Ids
    ) -> tuple[Ids, Ids]:
        found = [at for at, _ in self._popped]
        found.append(nodes[self._sets.is_popped[config]])
        popped = np.concatenate(found)
        return popped[np.take(self._goes_on, popped)], np.zeros(0, np.int32)


class GrammarTransducer(Transducer):
    """``delta`` of one grammar over one vocabulary, filled as it is asked."""

    _machine: GrammarMachine  # type: ignore[assignment]
    _relatives: RelativeStacks  # type: ignore[assignment]

    def __init__(self, machine: GrammarMachine, trie: Trie) -> None:
        """The transducer of ``machine`` for the tokens of ``trie``."""
        super().__init__(machine, trie)  # type: ignore[arg-type]
        self._class_of = machine.state.class_of.tolist()
        self._goes_on: dict[int, NDArray[np.bool_]] = {}
        self._below = _classes_below(trie, self._relatives.class_of)

    def _new_relatives(self) -> RelativeStacks:  # type: ignore[override]
        return RelativeStacks(self._machine)

    def _new_ends(self, state: int) -> GrammarEnds:
        bits = folded(self._machine.state.following(state))
        goes_on = self._goes_on.get(bits)
        if goes_on is None:
            goes_on = self._goes_on[bits] = self._below & np.uint64(bits) != 0
        return GrammarEnds(self._relatives, goes_on)

    def stacks(self, config: int) -> Stacks:  # type: ignore[override]
        """The set of stacks of a number."""
        return self._relatives.stacks(config)

    def visit(self, pending: int, state: int, told: Callable[[Ends], None]) -> Hop:
        """As ``delta``; ``told`` is given the walk, which is made again for a hop that
        is known."""
        ends = self.walk(pending, state)
        told(ends)
        with self._lock:
            hop = self._hops.get((pending, state))
            if hop is None:
                hop = self._hops[pending, state] = self._hop(ends)
        return hop

    def _hop(self, ends: Ends) -> Hop:
        """As in Transducer; where it was popped is kept once for equal sets."""
        hop = super()._hop(ends)
        rest = hop.rest(None)
        hop.popped = self.pending.nodes(rest) if rest != NOTHING else hop.popped[:0]
        return hop

    @property
    def machine(self) -> GrammarMachine:
        """The machine of the grammar."""
        return self._machine

    @property
    def hops(self) -> dict[tuple[int, int], Hop]:
        """All that is known so far, by number of P and stack symbol."""
        return dict(self._hops)

    @property
    def nbytes(self) -> int:
        """Bytes of what is remembered."""
        hops = sum(hop.nbytes - hop.popped.nbytes for hop in self._hops.values())
        return hops + self._relatives.nbytes + self.pending.nbytes

    def _with_live(self, nodes: Ids, config: int) -> Ids:
        live = self._relatives.live_bits[config]
        kept: Ids = nodes[np.take(self._below, nodes) & live != 0]
        return kept

    def _children(
        self, at: Ids, config: Ids, ticks: Ids, counts_ticks: bool
    ) -> tuple[Ids, Ids, Ids]:
        """As in Transducer; nodes below which nothing is alive are left out first:
        of those at which a name may end, nearly all."""
        live = np.take(self._relatives.live_bits, config)
        alive = np.flatnonzero(live & np.take(self._below, at))
        if len(alive) < len(at):
            at, config, ticks = at[alive], config[alive], ticks[alive]
        return super()._children(at, config, ticks, counts_ticks)

    def _walk_narrow(self, todo: Seeds, ends: Ends) -> Seeds:
        """As in Transducer, but only the children that are there are looked at."""
        first, count, byte = self._first, self._count, self._byte
        relatives, class_of = self._relatives, self._class_of
        seeds: Seeds = []
        visits = MOST_NARROW
        while todo:
            node, config, _ = todo.pop()
            low = first[node]
            high = low + count[node]
            if high - low > NARROW or visits < 0:
                seeds.append((node, config, 0))
                continue
            visits -= 1
            for child in range(low, high):
                to = relatives.after_class(config, class_of[byte[child]])
                if to:
                    ends.add_one(child, to, 0)
                    todo.append((child, to, 0))
        return seeds


def _classes_below(trie: Trie, class_of: Ids) -> NDArray[np.uint64]:
    """uint64 [nodes]: the classes of the bytes of a node's children, modulo 64."""
    bits = np.uint64(1) << (class_of[trie.byte] % 64).astype(np.uint64)
    found = np.zeros(trie.nodes, np.uint64)
    inner = np.flatnonzero(trie.child_count)
    if len(inner):
        found[inner] = np.bitwise_or.reduceat(bits, trie.first_child[inner])
    return found
