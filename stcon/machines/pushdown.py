"""An automaton with a stack, made as it is used.

Every rule is an automaton over bytes and calls (``frames.py``); a call pushes the
state to return to; a state that may end its rule may pop.  A state is a set of
frame states, made by subset construction when it is first reached: a form of 500
optional fields has millions of states and an output meets a few thousand.

What happens without reading (calls that open a rule, rules that match nothing,
ticks) is worked out once a state, so a byte replaces the top of the stack by a few
others: ``options(state)[byte]``, deepest first.  A rule whose ticks are counted
keeps a window beside its state, the fewest and most ticks still to come.

A configuration is a set of stacks, since alternatives may share a beginning and
then call different rules.  A stack is a linked list of cells (state, cell below,
depth, window), shared among stacks.
Source: few-paths paper, mechanism 5; counters are ours.
"""

from __future__ import annotations

import threading
from functools import cache, cached_property
from typing import Any

from stcon.errors import LimitError
from stcon.machines.frames import Frames, Window, build_frames, build_standard
from stcon.machines.lazy import COUNTED_DONE, DEAD, DONE, States
from stcon.machines.limits import Limits, Meter
from stcon.machines.openings import (
    Options,
    Reading,
    Stack,
    reading,
    settled,
    state_of,
    ticked,
)
from stcon.machines.shortest import Shortest
from stcon.syntax.rules import Rules

Cell = tuple[int, Any, int, Window | None]
Config = frozenset[Cell]

NO_CONFIG: Config = frozenset()
MAX_DEPTH = 64
MAX_STACKS = 256


class Pushdown:
    """The machine of ``frames``, nested at most ``depth`` cells deep.

    ``standard``: the machine of the standard rules its calls lead to.
    """

    def __init__(
        self,
        frames: Frames,
        depth: int,
        standard: Pushdown | None = None,
        name: tuple[str | int, ...] = (),
    ) -> None:
        """``name``: which standard rules these are."""
        self.name = name
        self.frames = frames
        self.depth = depth
        self.standard = standard
        self.state: States = States(frames, standard.state if standard else None)
        self._readings: dict[int, Reading] = {}

    @property
    def first(self) -> int:
        """The number of the first state that is not a standard one."""
        return self.state.first

    @property
    def states(self) -> int:
        """The size of the automaton behind: frame states and bytes of literals."""
        return self.frames.states

    @property
    def nbytes(self) -> int:
        """About what the automaton takes, in bytes, without the standard rules."""
        return self.frames.nbytes

    @cached_property
    def start_state(self) -> int:
        """The first state; DEAD when there is no text at all."""
        return self.state.entry(self.frames.letters[self.frames.start].rule)

    @cached_property
    def start(self) -> Config:
        """The configuration before the first byte."""
        cell: Cell = (self.start_state, None, 1, None)
        if self.start_state == DEAD:
            return frozenset([cell])
        opened = self._push(settled(self.state, (self.start_state,)), cell, 0)
        return frozenset([opened or cell])

    def reading(self, state: int) -> Reading:
        """What each byte may make of ``state`` on top of a stack."""
        if self.standard is not None and state < self.first:
            return self.standard.reading(state)
        known = self._readings.get(state)
        if known is None:
            known = self._readings[state] = reading(self.state, state)
        return known

    def step(self, config: Config, byte: int) -> Config:
        """The configuration after ``byte``; empty when it may not be read.

        Raises LimitError when the stack would be deeper than ``depth``, or the
        text so far can be read in more than 256 ways.
        """
        after: dict[Cell, None] = {}
        for cell in self.open_cells(config):
            for ticks, stack in self.reading(cell[0]).table[byte]:
                pushed = self._push(stack, cell, ticks)
                if pushed is not None:
                    after[pushed] = None
        if len(after) > MAX_STACKS:
            raise LimitError(
                f"the output so far can be read in more than {MAX_STACKS} ways",
                what="states",
                limit=MAX_STACKS,
                hint="make the format less ambiguous",
            )
        return frozenset(after)

    def _push(self, stack: Stack, cell: Cell, ticks: int) -> Cell | None:
        """The stack with ``cell`` replaced; None when its window is exceeded."""
        _, below, depth, window = cell
        depth -= 1
        if not stack and window and not window[0] <= ticks <= window[1]:
            return None
        for place, item in enumerate(stack):
            state = state_of(item)
            kept = None if isinstance(item, int) else item[1:]
            if place == 0 and window is not None:
                moved = ticked(self.state, (0, *window), state, ticks)
                if moved is None:
                    return None
                kept = moved[1:]  # type: ignore[index]
            depth += 1
            below = (state, below, depth, kept)
        if depth > self.depth:
            raise LimitError(
                f"the output nests deeper than {self.depth} levels",
                what="depth",
                limit=self.depth,
                hint="pass depth=... to constrain for more",
            )
        return below if below is not None else (DONE, None, 1, None)

    def open_cells(self, config: Config) -> list[Cell]:
        """The cells of ``config`` and those under them that pops lay open."""
        cells = list(config)
        seen = set(config)
        for cell in cells:
            below = cell[1]
            if below is not None and self.may_pop(cell) and below not in seen:
                seen.add(below)
                cells.append(below)
        return cells

    def may_pop(self, cell: Cell) -> bool:
        """Whether the rule of a cell may end here."""
        state, _, _, window = cell
        return self.state.node(state).may_end and (window is None or window[0] <= 0)

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
            cell[1] is None and self.may_pop(cell) for cell in self.open_cells(config)
        )

    def live(self, config: Config) -> tuple[int, ...]:
        """The bytes that may be read in ``config``, ascending."""
        found: set[int] = set()
        for cell in self.open_cells(config):
            for values, options in self.reading(cell[0]).groups:
                if self._is_live(cell, options):
                    found.update(values)
        return tuple(sorted(found))

    def _is_live(self, cell: Cell, options: Options) -> bool:
        window = cell[3]
        if window is None:
            return True
        for ticks, stack in options:
            state = state_of(stack[0]) if stack else COUNTED_DONE
            if ticked(self.state, (0, *window), state, ticks) is not None:
                return True
        return False

    @cached_property
    def _shortest(self) -> Shortest:
        return Shortest(self.state)

    def shortest(self, config: Config) -> bytes:
        """A shortest text that completes the output from ``config``.

        Raises LimitError when every such text is too long to be worked out.
        """
        texts: list[bytes] = []
        for cell in config:
            try:
                texts.append(self._finish(cell))
            except LimitError as error:
                too_long = error
        if not texts:
            raise too_long
        return min(texts, key=lambda text: (len(text), text))

    def _finish(self, cell: Cell | None) -> bytes:
        out = b""
        while cell is not None:
            state, below, _, window = cell
            out += self._shortest.text(state, window)
            cell = below
        return out


_lock = threading.Lock()


def standard_pushdown(rules: Rules) -> Pushdown:
    """The machine of standard rules, all its states made; one a process."""
    with _lock:
        return _standard(rules)


@cache
def _standard(rules: Rules) -> Pushdown:
    frames = build_standard(rules, Meter())
    machine = Pushdown(frames, MAX_DEPTH, None, rules.name)
    _make_all(machine.state)
    return machine


def _make_all(states: States) -> None:
    """Makes every state that the entries reach, in a fixed order."""
    for rule in range(len(states.frames.entries)):
        states.entry(rule)
    state = COUNTED_DONE
    while state + 1 < states.count:
        state += 1
        states.node(state)
        states.moves(state)


def compile_pushdown(
    rules: Rules,
    limits: Limits | Meter | None = None,
    depth: int = MAX_DEPTH,
    one_stack: bool = False,
) -> Pushdown:
    """The pushdown of ``rules``; calls stay calls.

    ``one_stack``: rules that would need a second stack (any key but the declared
    ones) are written out in place, so that a device can follow; that may be far
    more states.

    Raises LimitError over ``limits``.  Rules that call themselves before they read
    are found when they are met (ValueError; front ends remove that).
    """
    meter = Meter.of(limits)
    standard = standard_pushdown(rules.standard) if rules.standard else None
    shared = standard.frames if standard else None
    frames = build_frames(rules, meter, shared, one_stack)
    return Pushdown(frames, depth, standard)
