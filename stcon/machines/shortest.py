"""Shortest texts from the states of a pushdown to the end of their rules.

Knuth's generalisation of Dijkstra's algorithm (1977): states are settled in order
of length; a state is settled by a byte before a settled state, or by a call
whose rule and return state are both settled.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from stcon.machines.dfa import DEAD

if TYPE_CHECKING:
    from stcon.machines.pushdown import Pushdown


def shortest_texts(machine: Pushdown) -> list[bytes | None]:
    """Per state a shortest text that leads to where its rule may return, of
    those the least; None for states that never get there."""
    before = _before(machine)
    waiting: list[list[tuple[int, int, int]]] = [[] for _ in range(machine.states)]
    for state, calls in enumerate(machine.calls):
        for entry, back in calls:
            waiting[entry].append((state, entry, back))
            waiting[back].append((state, entry, back))
    texts: list[bytes | None] = [None] * machine.states
    heap = [(0, b"", q) for q in np.flatnonzero(machine.accepts).tolist()]
    while heap:
        _, text, state = heapq.heappop(heap)
        if texts[state] is not None:
            continue
        texts[state] = text
        for byte, above in before[state]:
            heapq.heappush(heap, (len(text) + 1, byte + text, above))
        for above, entry, back in waiting[state]:
            head, tail = texts[entry], texts[back]
            if head is not None and tail is not None:
                whole = head + tail
                heapq.heappush(heap, (len(whole), whole, above))
    return texts


def _before(machine: Pushdown) -> list[list[tuple[bytes, int]]]:
    """Per state the pairs (least byte, state it leads here from)."""
    least = [
        bytes([int(np.argmax(machine.byte_class == cls))])
        for cls in range(machine.next.shape[1])
    ]
    before: list[list[tuple[bytes, int]]] = [[] for _ in range(machine.states)]
    for state, moves in _moves(machine):
        for to, cls in moves.items():
            before[to].append((least[cls], state))
    return before


def _moves(machine: Pushdown) -> Iterator[tuple[int, dict[int, int]]]:
    """Per state the states its bytes lead to, with the class of the least."""
    for state, row in enumerate(machine.next.tolist()):
        moves: dict[int, int] = {}
        for cls, to in enumerate(row):
            if to != DEAD:
                moves.setdefault(to, cls)
        yield state, moves
