"""The machine of a grammar: any context-free language, a byte at a time.

Every rule is an automaton over bytes and calls (``network.py``); a call pushes the
state to return to, or nothing where nothing would be left to do; a state that may end
its rule may be popped.  A configuration is a set of stacks (``stacks.py``).

A byte is read by all cells that are open at once.  The rules that they call, and those
that these call, are taken in order, callers first; every rule is entered once, above
all that called it, however many that are.  So ambiguity costs no more than the number
of states times the number of places: the graph of Scott and Johnstone's GLL parsing
(2010), without its descriptors, since rules read before they call themselves.
"""

from __future__ import annotations

import heapq
from functools import cached_property

from stcon.machines.grammar_states import DEAD, DONE, GrammarStates
from stcon.machines.limits import Limits, Meter
from stcon.machines.network import Network, build_network
from stcon.machines.stacks import Cell, Graph, Stacks
from stcon.syntax.rules import Rules


class GrammarMachine:
    """The machine of ``network``; configurations are sets of stacks."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.state = GrammarStates(network)
        self.graph = Graph(self.state.may_end)
        self._class_of = self.state.class_of.tolist()

    @property
    def states(self) -> int:
        """The size of the automaton behind: states of the network."""
        return self.network.states

    @property
    def nbytes(self) -> int:
        """About what the network takes, in bytes."""
        return self.network.nbytes

    @cached_property
    def start(self) -> Stacks:
        """The configuration before the first byte; without cells if there is no
        text at all."""
        state = self.state.start
        if state == DEAD:
            return self.graph.none
        return self.alone(state)

    def alone(self, state: int) -> Stacks:
        """The stack of one state."""
        return self.graph.of(((state, self.graph.empty),), False)

    def step(self, stacks: Stacks, byte: int) -> Stacks:
        """The configuration after ``byte``; without cells when it may not be read."""
        return self.step_class(stacks, self._class_of[byte])

    def step_class(self, stacks: Stacks, kind: int) -> Stacks:
        """The same for any byte of a class."""
        return _Step(self, kind).of(self.graph.opened(stacks)[0])

    def run(self, stacks: Stacks, data: bytes) -> Stacks:
        """The configuration after ``data``; without cells when it may not be read."""
        for byte in data:
            stacks = self.step(stacks, byte)
            if not stacks.cells and not stacks.has_empty:
                break
        return stacks

    def is_complete(self, stacks: Stacks) -> bool:
        """Whether the output may end in ``stacks``."""
        return self.graph.opened(stacks)[1]

    def live_classes(self, stacks: Stacks) -> int:
        """The classes of bytes that may be read, as bits."""
        found = 0
        for state, _ in self.graph.opened(stacks)[0]:
            found |= self.state.first(state)
        return found

    def live(self, stacks: Stacks) -> tuple[int, ...]:
        """The bytes that may be read in ``stacks``, ascending."""
        found = self.live_classes(stacks)
        return tuple(b for b, kind in enumerate(self._class_of) if found >> kind & 1)


class _Step:
    """One byte of class ``kind`` read by all open cells."""

    def __init__(self, machine: GrammarMachine, kind: int) -> None:
        self._graph = machine.graph
        self._state = machine.state
        self._kind = kind
        self._cells: dict[Cell, None] = {}
        self._has_empty = False
        self._callers: dict[int, tuple[dict[Cell, None], list[Stacks]]] = {}
        self._order: list[tuple[int, int]] = []

    def of(self, cells: tuple[Cell, ...]) -> Stacks:
        """What the cells become."""
        for state, below in cells:
            self._read(state, below)
        while self._order:
            _, entry = heapq.heappop(self._order)
            found, passed = self._callers[entry]
            has_empty = False
            for stacks in passed:
                found |= dict.fromkeys(stacks.cells)
                has_empty = has_empty or stacks.has_empty
            if len(passed) == 1 and len(found) == len(passed[0].cells):
                self._read(entry, passed[0])
            else:
                self._read(entry, self._graph.of(found, has_empty))
        return self._graph.of(self._cells, self._has_empty)

    def _read(self, state: int, below: Stacks) -> None:
        to, calls = self._state.reads(state, self._kind)
        if to == DONE:
            self._cells |= dict.fromkeys(below.cells)
            self._has_empty = self._has_empty or below.has_empty
        elif to != DEAD:
            self._cells[to, below] = None
        for order, entry, back in calls:
            callers = self._callers.get(entry)
            if callers is None:
                callers = self._callers[entry] = {}, []
                heapq.heappush(self._order, (order, entry))
            if back == DONE:
                callers[1].append(below)
            elif self._state.absorbs_itself(back):
                self._push_loop(callers[0], back, below)
            else:
                callers[0][back, below] = None

    def _push_loop(self, found: dict[Cell, None], back: int, below: Stacks) -> None:
        """``back`` pushed on ``below``, but not where it is on top already."""
        on_top = [cell for cell in below.cells if cell[0] == back]
        if on_top:
            found |= dict.fromkeys(on_top)
            rest = [cell for cell in below.cells if cell[0] != back]
            if not rest and not below.has_empty:
                return
            below = self._graph.of(rest, below.has_empty)
        found[back, below] = None


def compile_grammar(
    rules: Rules, limits: Limits | Meter | None = None
) -> GrammarMachine:
    """The machine of ``rules``, which may call themselves in any way.

    Raises LimitError over ``limits``.
    """
    return GrammarMachine(build_network(rules, limits))
