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
    EPSILON,
    And,
    ByteSet,
    Call,
    Chars,
    Concat,
    Empty,
    Expr,
    Literal,
    Not,
    Repeat,
    Union,
)

# An NFA state costs about 0.3 kB here; four per DFA state is what JSON needs.
_NFA_STATES_PER_DFA_STATE = 4


class Nfa:
    """``skips[s]``: states reached without reading; ``moves[s]``: pairs
    (256-bit byte set, state); ``final`` accepts; ``start`` starts."""

    def __init__(self) -> None:
        self.skips: list[list[int]] = [[]]
        self.moves: list[list[tuple[int, int]]] = [[]]
        self.final = 0
        self.start = 0

    def new(self) -> int:
        """A fresh state."""
        self.skips.append([])
        self.moves.append([])
        return len(self.skips) - 1


class Builder:
    """Builds one Nfa; ``sub`` compiles And and Not nodes to automata."""

    def __init__(
        self,
        rules: Mapping[str, Expr],
        sub: Callable[[Expr], Dfa],
        meter: Meter,
        symbols: Mapping[str, int] | None = None,
    ) -> None:
        """``symbols``: calls that stay calls, read like bytes beyond 255."""
        self._rules = rules
        self._symbols = symbols or {}
        self._sub = sub
        self._meter = meter
        self._nfa = Nfa()
        self._states: dict[tuple[int, int], int] = {}
        self._waiting: list[tuple[Expr, int, int]] = []

    def build(self, expr: Expr) -> Nfa:
        """The automaton of ``expr``."""
        self._nfa.start = self._state_of(expr, self._nfa.final)
        return self._finish()

    def build_all(self, entries: Mapping[int, Expr]) -> Nfa:
        """The automaton that reads a symbol of ``entries``, then its
        expression."""
        self._nfa.start = self._nfa.new()
        for symbol, expr in entries.items():
            state = self._state_of(expr, self._nfa.final)
            self._nfa.moves[self._nfa.start].append((1 << symbol, state))
        return self._finish()

    def _finish(self) -> Nfa:
        while self._waiting:
            node, target, state = self._waiting.pop()
            self._meter.states(len(self._nfa.skips) // _NFA_STATES_PER_DFA_STATE)
            _WIRE[type(node)](self, node, target, state)
        return self._nfa

    def _state_of(self, expr: Expr, target: int) -> int:
        """The state from which ``expr`` leads to ``target``."""
        if expr is EPSILON:
            return target
        key = (id(expr), target)
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = self._nfa.new()
            self._waiting.append((expr, target, state))
        return state

    def _literal(self, node: Literal, target: int, state: int) -> None:
        states = len(self._nfa.skips) + len(node.data)
        self._meter.states(states // _NFA_STATES_PER_DFA_STATE)
        for byte in reversed(node.data[1:]):
            before = self._nfa.new()
            self._nfa.moves[before].append((1 << byte, target))
            target = before
        self._nfa.moves[state].append((1 << node.data[0], target))

    def _byte_set(self, node: ByteSet, target: int, state: int) -> None:
        self._nfa.moves[state].append((node.mask, target))

    def _concat(self, node: Concat, target: int, state: int) -> None:
        for item in reversed(node.items):
            target = self._state_of(item, target)
        self._nfa.skips[state].append(target)

    def _union(self, node: Union, target: int, state: int) -> None:
        self._nfa.skips[state] += [self._state_of(i, target) for i in node.items]

    def _repeat(self, node: Repeat, target: int, state: int) -> None:
        rounds = node.least if node.most is None else node.most
        self._meter.states(len(self._nfa.skips) // _NFA_STATES_PER_DFA_STATE + rounds)
        after = self._tail(node, target)
        for _ in range(node.least):
            after = self._state_of(node.item, after)
        self._nfa.skips[state].append(after)

    def _tail(self, node: Repeat, target: int) -> int:
        """The state before the rounds beyond ``least``."""
        if node.most is None:
            loop = self._nfa.new()
            self._nfa.skips[loop] += [self._state_of(node.item, loop), target]
            return loop
        after = target
        for _ in range(node.most - node.least):
            again = self._nfa.new()
            self._nfa.skips[again] += [self._state_of(node.item, after), target]
            after = again
            self._meter.states(len(self._nfa.skips) // _NFA_STATES_PER_DFA_STATE)
        return after

    def _call(self, node: Call, target: int, state: int) -> None:
        if node.name in self._symbols:
            self._nfa.moves[state].append((1 << self._symbols[node.name], target))
            return
        self._nfa.skips[state].append(self._state_of(self._rules[node.name], target))

    def _automaton(self, node: Expr, target: int, state: int) -> None:
        """A copy of the automaton of an And or Not node."""
        dfa = self._sub(node)
        base = len(self._nfa.skips)
        for _ in range(dfa.states):
            self._nfa.new()
        for q, edges in enumerate(_edges(dfa)):
            self._nfa.moves[base + q] += [(m, base + t) for m, t in edges]
            if dfa.accepts[q]:
                self._nfa.skips[base + q].append(target)
        self._nfa.skips[state].append(base + dfa.start)

    def _empty(self, node: Empty, target: int, state: int) -> None:
        """No way on from ``state``."""

    def _chars(self, node: Chars, target: int, state: int) -> None:
        raise TypeError("Chars must be encoded (syntax/encode.py) before machines")


_WIRE: Mapping[type[Expr], Callable[..., None]] = {
    Literal: Builder._literal,
    ByteSet: Builder._byte_set,
    Concat: Builder._concat,
    Union: Builder._union,
    Repeat: Builder._repeat,
    Call: Builder._call,
    And: Builder._automaton,
    Not: Builder._automaton,
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

    Masks with symbols beyond 255 give classes of those too (int32).
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
