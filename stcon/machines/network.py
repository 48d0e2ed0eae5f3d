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

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from stcon.machines.compile import Products
from stcon.machines.components import components
from stcon.machines.dfa import Dfa
from stcon.machines.left import without_left_recursion
from stcon.machines.limits import Limits, Meter
from stcon.machines.nfa import TICK, Builder
from stcon.machines.productive import finishing
from stcon.syntax.rules import (
    Call,
    Concat,
    Counted,
    Expr,
    Literal,
    Repeat,
    Rules,
    Union,
    parts,
)

FINAL = 0
"""Where every rule ends."""

_NFA_STATES = 4
"""About as many cost as much as one state of a finite automaton."""

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


class _CallBuilder(Builder):
    """Calls of rules that are not written out in place stay calls: ``calls[s]`` are
    pairs (rule, state to return to)."""

    def __init__(
        self,
        rules: Mapping[str, Expr],
        sub: Callable[[Expr], Dfa],
        meter: Meter,
        in_place: frozenset[str],
        number: Callable[[str], int],
    ) -> None:
        super().__init__(rules, sub, meter)
        self._in_place = in_place
        self._number_of = number
        self.calls: dict[int, list[tuple[int, int]]] = {}

    def wire(self, node: Expr, target: int, state: int) -> None:
        """Nothing; ``state`` leads by ``node`` to ``target``."""
        if isinstance(node, Call) and node.name not in self._in_place:
            calls = self.calls.setdefault(state, [])
            calls.append((self._number_of(node.name), target))
        elif isinstance(node, Counted) and set(_calls(node.item)) - self._in_place:
            self._layers_with_calls(node, target, state)
        else:
            super().wire(node, target, state)

    def _layers_with_calls(self, node: Counted, target: int, state: int) -> None:
        """A copy of the item for each count, a tick leading from one to the next."""
        part = _CallBuilder(
            self._rules, self._sub, self._meter, self._in_place, self._number_of
        )
        item = part.build(node.item)
        close = self.state_of(node.close, target)
        top = node.least if node.most is None else node.most
        size, first = len(item.skips), len(self.nfa.skips)
        self._meter.states((first + size * (top + 1)) // _NFA_STATES)
        for _ in range(size * (top + 1)):
            self.nfa.new()
        for count in range(top + 1):
            layer = first + count * size
            above: int | None = layer + size
            if count == top:
                above = layer if node.most is None else None
            self._copy_layer(part, layer, above)
            if count >= node.least:
                self.nfa.skips[layer + item.final].append(close)
        self.nfa.skips[state].append(first + item.start)

    def _copy_layer(self, part: _CallBuilder, layer: int, above: int | None) -> None:
        """Wires the states from ``layer`` on as ``part`` is; ticks lead to those from
        ``above`` on, nowhere for None."""
        nfa = self.nfa
        for s, (skips, moves) in enumerate(
            zip(part.nfa.skips, part.nfa.moves, strict=True)
        ):
            nfa.skips[layer + s] += [layer + to for to in skips]
            for mask, to in moves:
                if mask >> TICK == 0:
                    nfa.moves[layer + s].append((mask, layer + to))
                elif above is not None:
                    nfa.skips[layer + s].append(above + to)
        for s, calls in part.calls.items():
            self.calls[layer + s] = [(rule, layer + to) for rule, to in calls]


class _NetworkBuilder(_CallBuilder):
    """Gives rules their numbers, and entries."""

    def __init__(self, rules: Rules, meter: Meter) -> None:
        sub = Products(rules.rules, meter).part
        in_place = small_rules(rules.rules)
        super().__init__(rules.rules, sub, meter, in_place, self._number)
        self._start = rules.start
        self._numbers: dict[str, int] = {}
        self.network = Network(self.nfa.skips, self.nfa.moves, self.calls, [], -1)

    def build_network(self) -> Network:
        """The network of the rules that the start reaches."""
        start = self.nfa.new()
        self.network.start = start
        self.nfa.skips[start].append(self.state_of(Call(self._start), FINAL))
        self.finish()
        return self.network

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
        elif isinstance(node, (Repeat, Counted)):
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
