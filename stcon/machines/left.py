"""Left recursion taken out of a network.

``expr: expr "+" term | term`` calls itself before it reads, so no number of pushes
would do.  Read from the left corner instead: to read an ``expr`` (the *goal*) read
something else that may stand at its beginning, a ``term``; whenever a rule of the
same component is *done*, go on after the place where it was called from the left, or
be done with the goal.  For each goal that is still called there is one copy of the
states of its component, with ``done[rule]`` where the rule ended; calls from the left
are skips from there to where they returned.  Direct, indirect and hidden left
recursion (behind rules that match nothing: those are skips by now) and cycles of unit
rules are all the same case.  The language stays, and nothing else grows.

Sources: Rosenkrantz and Lewis, Deterministic left corner parsing (1970); Moore,
Removing left recursion from context-free grammars (2000), which restricts it to
rules that are left-recursive.
Cost: states of the component, once a goal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stcon.machines.components import components
from stcon.machines.limits import Meter

if TYPE_CHECKING:
    from stcon.machines.network import Network

FINAL = 0


def without_left_recursion(network: Network, meter: Meter) -> None:
    """Nothing; in ``network`` no rule calls itself before it reads, and rules that
    the start does not reach have no entry.

    Raises LimitError when the copies are too many.
    """
    corners = [_corner(network, entry) for entry in network.entries]
    members = _left_recursive(network, corners)
    found: dict[int, int] = {}
    todo = [network.start] if network.start >= 0 else []
    seen = set(todo)
    while todo:
        at = todo.pop()
        after = list(network.after(at))
        for rule, back in network.calls.get(at, ()):
            if rule not in found and rule in members:
                made = _Goal(network, rule, members[rule], corners, meter)
                found[rule] = made.entry
            elif rule not in found:
                found[rule] = network.entries[rule]
            after += [found[rule], back]
        todo += set(after) - seen
        seen.update(after)
    network.entries[:] = [found.get(rule, -1) for rule in range(len(corners))]


def _left_recursive(
    network: Network, corners: list[list[int]]
) -> dict[int, frozenset[int]]:
    """Per rule that calls itself before it reads, the rules that it does so with."""
    called = [
        sorted({rule for s in corner for rule, _ in network.calls.get(s, ())})
        for corner in corners
    ]
    found: dict[int, frozenset[int]] = {}
    for component in components(called):
        if len(component) > 1 or component[0] in called[component[0]]:
            found |= dict.fromkeys(component, frozenset(component))
    return found


def _corner(network: Network, entry: int) -> list[int]:
    """What is reached from the entry of a rule without reading."""
    if entry < 0:
        return []
    found, seen = [entry], {entry}
    for at in found:
        for to in network.skips[at]:
            if to not in seen:
                seen.add(to)
                found.append(to)
    return found


class _Goal:
    """The copy of a component for one goal; ``entry`` is its first state."""

    def __init__(
        self,
        network: Network,
        goal: int,
        members: frozenset[int],
        corners: list[list[int]],
        meter: Meter,
    ) -> None:
        self._network = network
        self._meter = meter
        self._copies: dict[tuple[int, int], int] = {}
        self._todo: list[tuple[int, int]] = []
        self.entry = self._new()
        self._done = {rule: self._new() for rule in sorted(members)}
        network.skips[self._done[goal]].append(FINAL)
        for rule in sorted(members):
            for state in corners[rule]:
                self._corner_of(rule, state, members)
        self._finish()

    def _new(self) -> int:
        network = self._network
        network.skips.append([])
        network.moves.append([])
        self._meter.states(network.states // 4)
        return network.states - 1

    def _copy(self, rule: int, state: int) -> int:
        """The copy of a state of ``rule`` after something has been read."""
        if state == FINAL:
            return self._done[rule]
        known = self._copies.get((rule, state))
        if known is None:
            known = self._copies[rule, state] = self._new()
            self._todo.append((rule, state))
        return known

    def _corner_of(self, rule: int, state: int, members: frozenset[int]) -> None:
        """What may begin at ``state``, where nothing of ``rule`` has been read."""
        network = self._network
        network.moves[self.entry] += [
            (mask, self._copy(rule, to)) for mask, to in network.moves[state]
        ]
        for called, back in list(network.calls.get(state, ())):
            to = self._copy(rule, back)
            if called in members:
                network.skips[self._done[called]].append(to)
            else:
                network.calls.setdefault(self.entry, []).append((called, to))

    def _finish(self) -> None:
        """Wires the copies; their calls are of goals again."""
        network = self._network
        while self._todo:
            rule, state = self._todo.pop()
            copy = self._copies[rule, state]
            for to in network.skips[state]:
                network.skips[copy].append(self._copy(rule, to))
            for mask, to in network.moves[state]:
                network.moves[copy].append((mask, self._copy(rule, to)))
            for called, back in network.calls.get(state, ()):
                found = (called, self._copy(rule, back))
                network.calls.setdefault(copy, []).append(found)
