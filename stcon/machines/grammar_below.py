"""What can lie below what on a stack of a grammar.

A state lies directly on the states to which the calls of its rule return; where a call
is the last thing a rule does, on those that rule itself returns to.  All deterministic
states are made on the way, so this is for tables that are built ahead.
"""

from __future__ import annotations

from stcon.machines.grammar_states import DEAD, DONE, GrammarStates
from stcon.machines.limits import Meter


class Below:
    """``states``: all that may be on a stack; ``of(state)``: what may lie below."""

    def __init__(self, states: GrammarStates, meter: Meter) -> None:
        """Raises LimitError where there are too many states: they are made only as
        they are reached elsewhere, and may be 2^n of a grammar of n letters."""
        self._states = states
        self._meter = meter
        self._in_rules: dict[int, set[int]] = {}
        self._returns: dict[int, set[int]] = {}
        self._passes: dict[int, set[int]] = {}
        self._search()
        self._pass_on()
        entries = {entry for entry in self._returns if entry != states.start}
        self.states = sorted(self._in_rules.keys() - entries | {states.start})

    def of(self, state: int) -> set[int]:
        """The states that may lie directly below ``state``."""
        found: set[int] = set()
        for rule in self._in_rules.get(state, ()):
            found |= self._returns[rule]
        return found

    def _search(self) -> None:
        states, start = self._states, self._states.start
        self._returns[start] = set()
        todo = [(start, start)]
        seen = set(todo)
        for rule, state in todo:
            self._meter.states(len(todo))
            self._in_rules.setdefault(state, set()).add(rule)
            after = {(rule, to) for to in states.moves(state).values()}
            for entry, back in states.calls(state):
                self._returns.setdefault(entry, set())
                if back == DONE:
                    self._passes.setdefault(rule, set()).add(entry)
                else:
                    self._returns[entry].add(back)
                after |= {(entry, entry), (rule, back)}
            new = {pair for pair in after - seen if pair[1] not in (DEAD, DONE)}
            seen |= new
            todo += sorted(new)

    def _pass_on(self) -> None:
        """Hands what a rule returns to on to the rules that it ends with."""
        todo = list(self._returns)
        while todo:
            rule = todo.pop()
            for entry in self._passes.get(rule, ()):
                more = self._returns[rule] - self._returns[entry]
                if more:
                    self._returns[entry] |= more
                    todo.append(entry)
