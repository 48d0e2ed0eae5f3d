"""Rules to a nondeterministic automaton, built backwards from what follows.

``state_of(expr, target)`` is the state from which ``expr`` leads to
``target``; the same node before the same target is built once.  So a tail that
many alternatives share (the rest of an object after each of n optional
properties) costs one copy, and right-recursive calls become loops.  Nothing
recurses in Python: a state is given out first and wired later, from a list.

Cost: one state a literal byte, byte set or operator and repetition; counted
repetition is unrolled, within the limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from stcon.machines.dfa import DEAD, Dfa
from stcon.machines.limits import Meter
from stcon.syntax.rules import (
    ALL_BYTES,
    EPSILON,
    And,
    ByteSet,
    Call,
    Chars,
    Concat,
    Counted,
    Empty,
    Expr,
    Literal,
    Not,
    Repeat,
    Table,
    Tick,
    Union,
)

# An NFA state costs about 0.3 kB here; four per DFA state is what JSON needs.
_NFA_STATES_PER_DFA_STATE = 4

_LIGHT = (Literal, ByteSet, Concat, Call, Tick)
"""What leads nowhere back to the state it is wired at."""

TICK = 256
"""The letter that a tick is; bytes are 0 to 255."""


class Nfa:
    """``skips[s]``: states reached without reading; ``moves[s]``: pairs
    (set of letters as bits, state); ``texts[s]``: pairs (bytes, state), where
    the builder keeps literals whole; ``final`` accepts; ``start`` starts."""

    def __init__(self) -> None:
        self.skips: list[list[int]] = [[]]
        self.moves: list[list[tuple[int, int]]] = [[]]
        self.texts: dict[int, list[tuple[bytes, int]]] = {}
        self.final = 0
        self.start = 0

    def new(self) -> int:
        """A fresh state."""
        self.skips.append([])
        self.moves.append([])
        return len(self.skips) - 1


class Builder:
    """Builds one Nfa; ``sub`` compiles expressions to automata of their own."""

    def __init__(
        self,
        rules: Mapping[str, Expr],
        sub: Callable[[Expr], Dfa],
        meter: Meter,
    ) -> None:
        self._rules = rules
        self._sub = sub
        self._meter = meter
        self.nfa = Nfa()
        self._states: dict[tuple[int, int], int] = {}
        self._waiting: list[tuple[Expr, int, int]] = []

    def build(self, expr: Expr) -> Nfa:
        """The automaton of ``expr``."""
        self.nfa.start = self.state_of(expr, self.nfa.final)
        self.finish()
        return self.nfa

    def finish(self) -> None:
        """Nothing; wires every state that was given out."""
        while self._waiting:
            node, target, state = self._waiting.pop()
            self._meter.states(len(self.nfa.skips) // _NFA_STATES_PER_DFA_STATE)
            self.wire(node, target, state)

    def wire(self, node: Expr, target: int, state: int) -> None:
        """Nothing; ``state`` leads by ``node`` to ``target``."""
        _WIRE[type(node)](self, node, target, state)

    def state_of(self, expr: Expr, target: int) -> int:
        """The state from which ``expr`` leads to ``target``."""
        if expr is EPSILON:
            return target
        key = (id(expr), target)
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = self.nfa.new()
            self._waiting.append((expr, target, state))
        return state

    def _literal(self, node: Literal, target: int, state: int) -> None:
        states = len(self.nfa.skips) + len(node.data)
        self._meter.states(states // _NFA_STATES_PER_DFA_STATE)
        for byte in reversed(node.data[1:]):
            before = self.nfa.new()
            self.nfa.moves[before].append((1 << byte, target))
            target = before
        self.nfa.moves[state].append((1 << node.data[0], target))

    def _byte_set(self, node: ByteSet, target: int, state: int) -> None:
        self.nfa.moves[state].append((node.mask, target))

    def _tick(self, node: Tick, target: int, state: int) -> None:
        self.nfa.moves[state].append((1 << TICK, target))

    def _concat(self, node: Concat, target: int, state: int) -> None:
        for item in reversed(node.items[1:]):
            target = self.state_of(item, target)
        self._lead(node.items[0], target, state)

    def _union(self, node: Union, target: int, state: int) -> None:
        for item in node.items:
            self._lead(item, target, state)

    def _lead(self, item: Expr, target: int, state: int) -> None:
        """Wires ``item`` at ``state``, which may have other ways on: without a
        state of its own if it is not large."""
        if item is not EPSILON and isinstance(item, _LIGHT):
            self.wire(item, target, state)
        else:
            self.nfa.skips[state].append(self.state_of(item, target))

    def _repeat(self, node: Repeat, target: int, state: int) -> None:
        if node.least == 0 and node.most is None:  # its own loop: one state
            self.nfa.skips[state] += [self.state_of(node.item, state), target]
            return
        rounds = node.least if node.most is None else node.most
        self._meter.states(len(self.nfa.skips) // _NFA_STATES_PER_DFA_STATE + rounds)
        after = self._tail(node, target)
        for _ in range(node.least):
            after = self.state_of(node.item, after)
        self.nfa.skips[state].append(after)

    def _tail(self, node: Repeat, target: int) -> int:
        """The state before the rounds beyond ``least``."""
        if node.most is None:
            loop = self.nfa.new()
            self.nfa.skips[loop] += [self.state_of(node.item, loop), target]
            return loop
        after = target
        for _ in range(node.most - node.least):
            again = self.nfa.new()
            self.nfa.skips[again] += [self.state_of(node.item, after), target]
            after = again
            self._meter.states(len(self.nfa.skips) // _NFA_STATES_PER_DFA_STATE)
        return after

    def _call(self, node: Call, target: int, state: int) -> None:
        self.nfa.skips[state].append(self.state_of(self._rules[node.name], target))

    def _automaton(self, node: Expr, target: int, state: int) -> None:
        """A copy of the automaton of an And or Not node."""
        self.copy(self._sub(node), target, state)

    def _table(self, node: Table, target: int, state: int) -> None:
        """A copy of the automaton that the node spells out."""
        first = len(self.nfa.skips)
        self._meter.states((first + len(node.moves)) // _NFA_STATES_PER_DFA_STATE)
        for moves in node.moves:
            self.nfa.moves[self.nfa.new()] += [(m, first + to) for m, to in moves]
        for accepting in node.accepts:
            self.nfa.skips[first + accepting].append(target)
        self.nfa.skips[state].append(first)

    def _counted(self, node: Counted, target: int, state: int) -> None:
        """A copy of the automaton of the item for each count: the slow, plain
        way.  A pushdown keeps the count beside the state instead."""
        close = self.state_of(node.close, target)
        window = node.least, node.most
        self.layers(self._sub(node.item), window, close, state, keep_ticks=False)

    def layers(
        self,
        dfa: Dfa,
        window: tuple[int, int | None],
        close: int,
        state: int,
        *,
        keep_ticks: bool,
    ) -> None:
        """Nothing; ``state`` leads to ``close`` by the texts of ``dfa`` with as many
        ticks as ``window`` says, which may stay letters."""
        least, most = window
        top = least if most is None else most
        first = len(self.nfa.skips)
        self._meter.states(first // _NFA_STATES_PER_DFA_STATE + dfa.states * (top + 1))
        for _ in range(dfa.states * (top + 1)):
            self.nfa.new()
        edges = _edges(dfa)
        for count in range(top + 1):
            layer = first + count * dfa.states
            above = layer + dfa.states if count < top else None
            if most is None and above is None:
                above = layer
            self._layer(edges, layer, above, keep_ticks)
            if count >= least:
                for q in np.flatnonzero(dfa.accepts).tolist():
                    self.nfa.skips[layer + q].append(close)
        self.nfa.skips[state].append(first + dfa.start)

    def _layer(
        self,
        edges: list[list[tuple[int, int]]],
        layer: int,
        above: int | None,
        keep_ticks: bool,
    ) -> None:
        """Wires the states from ``layer`` on; a tick leads to those from ``above``
        on, without reading or as a letter."""
        for q, moves in enumerate(edges, layer):
            for mask, to in moves:
                if mask & ALL_BYTES:
                    self.nfa.moves[q].append((mask & ALL_BYTES, layer + to))
                if not mask >> TICK or above is None:
                    continue
                if keep_ticks:
                    self.nfa.moves[q].append((1 << TICK, above + to))
                else:
                    self.nfa.skips[q].append(above + to)

    def copy(self, dfa: Dfa, target: int, state: int) -> None:
        """Nothing; ``state`` leads by what ``dfa`` accepts to ``target``."""
        base = len(self.nfa.skips)
        for _ in range(dfa.states):
            self.nfa.new()
        for q, edges in enumerate(_edges(dfa)):
            self.nfa.moves[base + q] += [(m, base + t) for m, t in edges]
            if dfa.accepts[q]:
                self.nfa.skips[base + q].append(target)
        self.nfa.skips[state].append(base + dfa.start)

    def _empty(self, node: Empty, target: int, state: int) -> None:
        """No way on from ``state``."""

    def _chars(self, node: Chars, target: int, state: int) -> None:
        raise TypeError("Chars must be encoded (syntax/encode.py) before machines")


_WIRE: Mapping[type[Expr], Callable[..., None]] = {
    Literal: Builder._literal,
    ByteSet: Builder._byte_set,
    Tick: Builder._tick,
    Concat: Builder._concat,
    Union: Builder._union,
    Repeat: Builder._repeat,
    Counted: Builder._counted,
    Call: Builder._call,
    And: Builder._automaton,
    Not: Builder._automaton,
    Table: Builder._table,
    Empty: Builder._empty,
    Chars: Builder._chars,
}


def _edges(dfa: Dfa) -> list[list[tuple[int, int]]]:
    """Per state the pairs (byte set, state) of its live moves."""
    class_mask = [0] * dfa.next.shape[1]
    for byte, cls in enumerate(dfa.byte_class.tolist()):
        class_mask[cls] |= 1 << byte
    out: list[list[tuple[int, int]]] = []
    for row in dfa.next.tolist():
        masks: dict[int, int] = {}
        for cls, to in enumerate(row):
            if to != DEAD:
                masks[to] = masks.get(to, 0) | class_mask[cls]
        out.append([(mask, to) for to, mask in masks.items()])
    return out


def byte_classes(masks: list[int]) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """The coarsest classes of bytes that no mask splits, numbered by their
    least byte: (class of each byte, uint8 [256]; classes of each mask).

    Masks with letters beyond 255 give classes of those too (int32).
    """
    width = max(256, *(mask.bit_length() for mask in masks))
    width = -(-width // 8)
    raw = b"".join(mask.to_bytes(width, "little") for mask in masks)
    rows = np.frombuffer(raw, np.uint8).reshape(-1, width)
    bits = np.unpackbits(rows, axis=1, bitorder="little")
    columns = np.packbits(bits, axis=0).T.tolist()
    ids: dict[tuple[int, ...], int] = {}
    byte_class = [ids.setdefault(tuple(column), len(ids)) for column in columns]
    first = np.zeros(len(ids), np.int64)
    first[byte_class[::-1]] = np.arange(len(byte_class) - 1, -1, -1)
    members = [tuple(np.flatnonzero(row).tolist()) for row in bits[:, first]]
    kind = np.uint8 if len(byte_class) == 256 else np.int32
    return np.array(byte_class, kind), members
