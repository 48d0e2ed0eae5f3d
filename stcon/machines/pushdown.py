"""An automaton with a stack, for rules that call themselves.

Every rule is an automaton over bytes and calls, and all of them are one minimal
automaton with many starts.  A call pushes the state to return to; a state that
accepts may pop.  What happens without reading (calls that open a rule, rules
that match nothing) is worked out once a state, so a byte replaces the top of
the stack by a few others: ``moves(state)[byte class]``, deepest first.

A configuration is a set of stacks, since alternatives may share a beginning and
then call different rules; for JSON Schema it nearly always holds one.  A stack
is a linked list of cells (state, cell below, depth), shared among stacks.
Source: few-paths paper, mechanism 5, with return states found by
minimisation instead of by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.errors import LimitError
from stcon.machines.compile import Products
from stcon.machines.determinise import determinise
from stcon.machines.dfa import DEAD, Dfa
from stcon.machines.limits import Limits, Meter
from stcon.machines.minimise import minimise
from stcon.machines.nfa import Builder
from stcon.machines.productive import finishing
from stcon.machines.shortest import shortest_texts
from stcon.syntax.rules import Rules

Stack = tuple[int, ...]
Cell = tuple[int, Any, int]
Config = frozenset[Cell]

NO_CONFIG: Config = frozenset()
MAX_DEPTH = 64
_SYMBOLS = 256
_MAX_STACKS = 256


@dataclass(frozen=True, eq=False)
class Pushdown:
    """``next``: int32 [states, classes], moves on bytes; ``byte_class``: uint8
    [256]; ``accepts``: bool [states], whether a state may pop; ``calls[q]``:
    pairs (start state of the rule, state to return to)."""

    next: NDArray[np.int32]
    byte_class: NDArray[np.uint8]
    accepts: NDArray[np.bool_]
    calls: tuple[tuple[tuple[int, int], ...], ...]
    start_state: int
    depth: int = MAX_DEPTH
    _moves: dict[int, dict[int, tuple[Stack, ...]]] = field(default_factory=dict)

    @property
    def states(self) -> int:
        """How many states there are, the dead one included."""
        return len(self.next)

    @cached_property
    def nbytes(self) -> int:
        """Size of the arrays in bytes."""
        calls = 8 * sum(map(len, self.calls))
        return self.next.nbytes + self.byte_class.nbytes + self.accepts.nbytes + calls

    @cached_property
    def start(self) -> Config:
        """The configuration before the first byte."""
        return frozenset([(self.start_state, None, 1)])

    @cached_property
    def done(self) -> int:
        """The state that accepts and moves no more; -1 when there is none.
        The automaton is minimal, so there is at most one."""
        still = self.accepts & (self.next == DEAD).all(axis=1)
        found = [q for q in np.flatnonzero(still).tolist() if not self.calls[q]]
        return found[0] if found else -1

    @cached_property
    def pops(self) -> tuple[bool, ...]:
        """Per state whether it may pop without reading: it accepts, or calls a
        rule that matches nothing and returns to such a state."""
        nothing: list[list[int]] = [[] for _ in self.calls]
        return tuple(finishing(self.accepts.tolist(), nothing, self.calls))

    def moves(self, state: int) -> dict[int, tuple[Stack, ...]]:
        """Per byte class what may replace ``state`` on top of the stack, the
        deepest first; ``()`` when the byte ends its rule."""
        known = self._moves.get(state)
        if known is None:
            found: dict[int, dict[Stack, None]] = {}
            for below, top in self._openings(state):
                row = self.next[top]
                for cls in np.flatnonzero(row).tolist():
                    after = int(row[cls])
                    stack = below if after == self.done else (*below, after)
                    found.setdefault(cls, {})[stack] = None
            known = {cls: tuple(stacks) for cls, stacks in found.items()}
            self._moves[state] = known
        return known

    def _openings(self, state: int) -> Iterator[tuple[Stack, int]]:
        """(stack below, top) for everything calls lead to without reading."""
        todo: list[tuple[Stack, int]] = [((), state)]
        seen = set(todo)
        while todo:
            below, top = todo.pop()
            yield below, top
            for entry, back in self.calls[top]:
                kept = below if back == self.done else (*below, back)
                after = [(kept, entry)]
                if self.pops[entry]:
                    after.append((below, back))
                for item in after:
                    if item not in seen:
                        seen.add(item)
                        todo.append(item)
                if len(kept) > self.states:
                    raise ValueError("a rule calls itself before it reads")

    def step(self, config: Config, byte: int) -> Config:
        """The configuration after ``byte``; empty when it may not be read.

        Raises LimitError when the stack would be deeper than ``depth``, or the
        text so far can be read in more than 256 ways.
        """
        cls = int(self.byte_class[byte])
        after: dict[Cell, None] = {}
        for state, below, depth in self.open_cells(config):
            for stack in self.moves(state).get(cls, ()):
                after[self._push(stack, below, depth - 1)] = None
        if len(after) > _MAX_STACKS:
            raise LimitError(
                f"the output so far can be read in more than {_MAX_STACKS} ways",
                what="states",
                limit=_MAX_STACKS,
                hint="make the format less ambiguous",
            )
        return frozenset(after)

    def _push(self, stack: Stack, below: Cell | None, depth: int) -> Cell:
        for state in stack:
            depth += 1
            below = (state, below, depth)
        if depth > self.depth:
            raise LimitError(
                f"the output nests deeper than {self.depth} levels",
                what="depth",
                limit=self.depth,
                hint="pass depth=... to constrain for more",
            )
        return below if below is not None else (self.done, None, 1)

    def open_cells(self, config: Config) -> list[Cell]:
        """The cells of ``config`` and those under them that pops lay open."""
        cells = list(config)
        seen = set(config)
        for state, below, _ in cells:
            if self.pops[state] and below is not None and below not in seen:
                seen.add(below)
                cells.append(below)
        return cells

    def run(self, config: Config, data: bytes) -> Config:
        """The configuration after ``data``; empty when it may not be read."""
        for byte in data:
            config = self.step(config, byte)
            if not config:
                break
        return config

    def is_complete(self, config: Config) -> bool:
        """Whether the output may end in ``config``."""
        return any(
            below is None and self.pops[state]
            for state, below, _ in self.open_cells(config)
        )

    def reached(self, usable: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """bool [states]: what the start reaches with byte classes ``usable``,
        taking every call for one that returns."""
        reached = np.zeros(self.states, np.bool_)
        ring = [self.start_state]
        while ring:
            at = ring.pop()
            if at != DEAD and not reached[at]:
                reached[at] = True
                ring += self.next[at, usable].tolist()
                ring += [q for pair in self.calls[at] for q in pair]
        return reached

    def finishing(self, usable: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """bool [states]: what may pop after some bytes of ``usable``."""
        moves = self.next[:, usable].tolist()
        return np.array(finishing(self.accepts.tolist(), moves, self.calls), np.bool_)

    @cached_property
    def _shortest(self) -> list[bytes | None]:
        return shortest_texts(self)

    def shortest(self, config: Config) -> bytes:
        """A shortest text that completes the output from ``config``; among
        those of equal length the least."""
        return min((self._finish(cell) for cell in config), key=lambda t: (len(t), t))

    def _finish(self, cell: Cell | None) -> bytes:
        out = b""
        while cell is not None:
            out += self._shortest[cell[0]] or b""
            cell = cell[1]
        return out

    def live(self, config: Config) -> tuple[int, ...]:
        """The bytes that may be read in ``config``, ascending."""
        alive = np.zeros(self.next.shape[1], bool)
        for state, _, _ in self.open_cells(config):
            alive[list(self.moves(state))] = True
        return tuple(np.flatnonzero(alive[self.byte_class]).tolist())


def compile_pushdown(
    rules: Rules,
    limits: Limits | Meter | None = None,
    depth: int = MAX_DEPTH,
) -> Pushdown:
    """The pushdown of ``rules``; calls stay calls.

    Raises LimitError over ``limits``, ValueError for rules that call themselves
    before they read (front ends remove that) and for rules without any text.
    """
    meter = Meter.of(limits)
    names = list(rules.rules)
    symbols = {name: _SYMBOLS + i for i, name in enumerate(names)}
    entries = {
        _SYMBOLS + len(names) + i: rules.rules[name] for i, name in enumerate(names)
    }
    products = Products(rules.rules, meter)
    nfa = Builder(rules.rules, products.product, meter, symbols).build_all(entries)
    whole = determinise(nfa, meter)
    width = whole.byte_class.max() + 1
    whole = _widened(whole, _SYMBOLS + 2 * len(names), int(width))
    trimmed = minimise(_without_unproductive(whole, len(names)), meter)
    if trimmed.start == DEAD:
        nothing = ((),) * trimmed.states
        return Pushdown(
            trimmed.next, trimmed.byte_class, trimmed.accepts, nothing, DEAD, depth
        )
    return _unpack(trimmed, names, rules.start, depth)


def _widened(dfa: Dfa, symbols: int, width: int) -> Dfa:
    """``dfa`` with a class for each of ``symbols``: those that no move reads
    get a dead column."""
    missing = symbols - len(dfa.byte_class)
    column = np.zeros((dfa.states, 1), np.int32)
    byte_class = np.concatenate(
        [dfa.byte_class.astype(np.int32), np.full(max(missing, 0), width, np.int32)]
    )[:symbols]
    return Dfa(np.hstack([dfa.next, column]), byte_class, dfa.accepts, dfa.start)


def _without_unproductive(dfa: Dfa, rules: int) -> Dfa:
    """``dfa`` without calls of rules that match no text at all."""
    call_class = dfa.byte_class[_SYMBOLS : _SYMBOLS + rules]
    entry_class = dfa.byte_class[_SYMBOLS + rules : _SYMBOLS + 2 * rules]
    starts = dfa.next[dfa.start, entry_class]
    byte_moves = dfa.next[:, np.unique(dfa.byte_class[:_SYMBOLS])]
    returns = dfa.next[:, call_class]
    calls: list[list[tuple[int, int]]] = [[] for _ in range(dfa.states)]
    for state, rule in zip(*np.nonzero(returns), strict=True):
        calls[state].append((int(starts[rule]), int(returns[state, rule])))
    known = finishing(dfa.accepts.tolist(), byte_moves.tolist(), calls)
    table = dfa.next.copy()
    table[:, call_class[~np.array(known)[starts]]] = DEAD
    return Dfa(table, dfa.byte_class, dfa.accepts, dfa.start)


def _unpack(dfa: Dfa, names: list[str], start: str, depth: int) -> Pushdown:
    """The pushdown behind the automaton over bytes, calls and entries."""
    count = len(names)
    call_class = dfa.byte_class[_SYMBOLS : _SYMBOLS + count].tolist()
    entry_class = dfa.byte_class[_SYMBOLS + count : _SYMBOLS + 2 * count]
    starts = dfa.next[dfa.start, entry_class].tolist()
    columns, byte_class = np.unique(dfa.byte_class[:_SYMBOLS], return_inverse=True)
    table = dfa.next[:, columns].copy()
    calls = []
    for row in dfa.next.tolist():
        pairs = [(starts[i], row[c]) for i, c in enumerate(call_class) if row[c]]
        calls.append(tuple(sorted({p for p in pairs if p[0] != DEAD})))
    return Pushdown(
        np.ascontiguousarray(table),
        byte_class.astype(np.uint8),
        dfa.accepts,
        tuple(calls),
        starts[names.index(start)],
        depth,
    )
