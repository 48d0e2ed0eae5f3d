"""Which bytes may follow the end of a rule.

As FOLLOW of an LL parser (Lewis and Stearns 1968), over the states of a network: at the
entry of a rule stands what may be read where its calls return, and if nothing need be
read there, what follows the caller too; every state of a rule has what its entry has.
One pass backwards for what each state may begin with, one forwards; linear but for the
sets, which are whole numbers of bits.
"""

from __future__ import annotations

from collections.abc import Mapping

from stcon.machines.network import FINAL, Network


def following(network: Network, bits_of: Mapping[int, int]) -> list[int]:
    """Per state the classes of bytes that may come after its rule, as bits.

    ``bits_of``: the classes of each set of bytes.
    """
    first = _first(network, bits_of)
    ends = _ends(network)
    follow = [0] * network.states
    todo = [network.start] if network.start >= 0 else []
    seen = set(todo)
    while todo:
        at = todo.pop()
        found = [(to, follow[at]) for to in network.after(at)]
        for rule, back in network.calls.get(at, ()):
            found.append((back, follow[at]))
            passed = follow[at] if back in ends else 0
            found.append((network.entries[rule], first[back] | passed))
        for to, bits in found:
            if bits & ~follow[to] or to not in seen:
                follow[to] |= bits
                seen.add(to)
                todo.append(to)
    return follow


def _first(network: Network, bits_of: Mapping[int, int]) -> list[int]:
    before: list[list[int]] = [[] for _ in network.skips]
    for state, skips in enumerate(network.skips):
        for to in skips:
            before[to].append(state)
    for state, calls in network.calls.items():
        for rule, _ in calls:
            if network.entries[rule] >= 0:
                before[network.entries[rule]].append(state)
    first = [0] * network.states
    todo = []
    for state, moves in enumerate(network.moves):
        for mask, _ in moves:
            first[state] |= bits_of[mask]
        todo.append(state)
    while todo:
        at = todo.pop()
        for state in before[at]:
            if first[at] & ~first[state]:
                first[state] |= first[at]
                todo.append(state)
    return first


def _ends(network: Network) -> set[int]:
    """The states that reach the end of their rule without reading."""
    before: dict[int, list[int]] = {}
    for state, skips in enumerate(network.skips):
        for to in skips:
            before.setdefault(to, []).append(state)
    todo, seen = [FINAL], {FINAL}
    while todo:
        for state in before.get(todo.pop(), ()):
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return seen
