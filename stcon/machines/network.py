"""Rules as a network: one nondeterministic automaton with an entry for each rule.

States are joined by skips, sets of bytes and calls.  A call reads at least one byte:
where the rule called matches nothing too, a skip stands beside the call.  After
``left.py`` no rule calls itself before it reads.  So whatever is opened without
reading is a finite number of things, and whatever is popped has read something.

Small rules that do not call themselves are written out where they are called: white
space would need a stack for each of its places.  Linear in the rules, but for the
copies that left recursion needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stcon.machines.compile import Products
from stcon.machines.components import components
from stcon.machines.left import without_left_recursion
from stcon.machines.limits import Limits, Meter
from stcon.machines.nfa import Builder
from stcon.machines.productive import finishing
from stcon.syntax.rules import (
    Call,
    Concat,
    Expr,
    Literal,
    Repeat,
    Rules,
    Union,
    parts,
)

FINAL = 0
"""Where every rule ends."""

_SMALL = 60
"""Bytes, sets and calls; a larger rule is not written out where it is called."""


@dataclass(eq=False)
class Network:
    """``skips[s]``: states reached without reading; ``moves[s]``: pairs (byte set,
    state); ``calls[s]``: pairs (rule, state to return to).
    ``entries[rule]``: first state of a rule, -1 for one without text.
    ``start``: the first state of the whole, from which FINAL may be reached by skips;
    -1 when there is no text.
    """

    skips: list[list[int]]
    moves: list[list[tuple[int, int]]]
    calls: dict[int, list[tuple[int, int]]]
    entries: list[int]
    start: int

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.skips)

    @property
    def nbytes(self) -> int:
        """About what the lists take: numbers are 8 bytes, sets of bytes 60."""
        moves = sum(map(len, self.moves))
        calls = sum(map(len, self.calls.values()))
        return 60 * moves + 80 * calls + 120 * len(self.skips)

    def after(self, state: int) -> Iterable[int]:
        """The states that follow ``state`` by a skip or a set of bytes."""
        yield from self.skips[state]
        yield from (to for _, to in self.moves[state])


def build_network(rules: Rules, limits: Limits | Meter | None = None) -> Network:
    """The network of ``rules``.

    Raises LimitError over ``limits``.
    """
    meter = Meter.of(limits)
    builder = _NetworkBuilder(rules, meter)
    network = builder.build_network()
    _drop_dead(network)
    _skip_nullable(network)
    without_left_recursion(network, meter)
    return network


class _NetworkBuilder(Builder):
    """Calls of rules that are not written out in place stay calls."""

    def __init__(self, rules: Rules, meter: Meter) -> None:
        super().__init__(rules.rules, Products(rules.rules, meter).part, meter)
        self._start = rules.start
        self._in_place = small_rules(rules.rules)
        self._numbers: dict[str, int] = {}
        self.network = Network(self.nfa.skips, self.nfa.moves, {}, [], -1)

    def build_network(self) -> Network:
        """The network of the rules that the start reaches."""
        start = self.nfa.new()
        self.network.start = start
        self.nfa.skips[start].append(self.state_of(Call(self._start), FINAL))
        self.finish()
        return self.network

    def wire(self, node: Expr, target: int, state: int) -> None:
        """Nothing; ``state`` leads by ``node`` to ``target``."""
        if isinstance(node, Call) and node.name not in self._in_place:
            calls = self.network.calls.setdefault(state, [])
            calls.append((self._number(node.name), target))
        else:
            super().wire(node, target, state)

    def _number(self, name: str) -> int:
        known = self._numbers.get(name)
        if known is None:
            known = self._numbers[name] = len(self.network.entries)
            entry = self.nfa.new()  # its own: another rule may use the body's
            self.network.entries.append(entry)
            self.nfa.skips[entry].append(self.state_of(self._rules[name], FINAL))
        return known


def small_rules(rules: Mapping[str, Expr]) -> frozenset[str]:
    """The rules that are written out where they are called: they do not call
    themselves, and are small with all that is written out in them."""
    names = list(rules)
    number = {name: i for i, name in enumerate(names)}
    called = [sorted({number[n] for n in _calls(rules[name])}) for name in names]
    sizes: dict[int, int] = {}
    for component in components(called):
        one = component[0]
        if len(component) == 1 and one not in called[one]:
            size = _size(rules[names[one]], sizes, number)
            if size <= _SMALL:
                sizes[one] = size
    return frozenset(names[i] for i in sizes)


def _calls(expr: Expr) -> Iterable[str]:
    seen: set[int] = set()
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, Call):
            yield node.name
        elif id(node) not in seen:
            seen.add(id(node))
            stack += parts(node)


def _size(expr: Expr, sizes: Mapping[int, int], number: Mapping[str, int]) -> int:
    """The states of an expression, roughly, what is there twice counted twice; more
    than ``_SMALL`` is as good as that."""
    total, stack = 0, [expr]
    while stack and total <= _SMALL:
        node = stack.pop()
        stack += parts(node)
        if isinstance(node, Call):
            total += sizes.get(number[node.name], 1)
        elif isinstance(node, Literal):
            total += len(node.data)
        elif isinstance(node, Repeat):
            total += max(1, node.least, node.most or 0)
        elif not isinstance(node, (Concat, Union)):
            total += 1
    return total


def _drop_dead(network: Network) -> None:
    """Removes what cannot come to an end."""
    entries, calls = network.entries, network.calls
    size = range(network.states)
    alive = finishing(
        [s == FINAL for s in size],
        [list(network.after(s)) for s in size],
        [[(entries[rule], to) for rule, to in calls.get(s, ())] for s in size],
    )
    entries[:] = [entry if alive[entry] else -1 for entry in entries]
    for states in network.skips:
        states[:] = [to for to in states if alive[to]]
    for moves in network.moves:
        moves[:] = [(mask, to) for mask, to in moves if alive[to]]
    for found in calls.values():
        found[:] = [(x, to) for x, to in found if alive[to] and entries[x] >= 0]
    if not alive[network.start]:
        network.start = -1


def _skip_nullable(network: Network) -> None:
    """Puts a skip beside each call of a rule that matches nothing."""
    size = range(network.states)
    empty = finishing(
        [s == FINAL for s in size],
        network.skips,
        [
            [(network.entries[rule], to) for rule, to in network.calls.get(s, ())]
            for s in size
        ],
    )
    for state, calls in network.calls.items():
        network.skips[state] += [
            to for rule, to in calls if empty[network.entries[rule]]
        ]
