"""Which states of rules can finish, in one pass backwards.

A state finishes if it accepts, moves to one that finishes, or calls a rule whose
start finishes and returns to a state that does.  Linear in moves and calls; a
fixed point over the whole table takes a round a level, and forms have thousands
of levels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def finishing(
    accepts: Sequence[bool],
    moves: Iterable[Iterable[int]],
    calls: Iterable[Iterable[tuple[int, int]]],
) -> list[bool]:
    """Per state whether it can finish.

    ``moves``: per state the states that follow; ``calls``: per state pairs
    (start of the rule called, state to return to).
    """
    before: list[list[int]] = [[] for _ in accepts]
    for state, after in enumerate(moves):
        for to in set(after):
            before[to].append(state)
    waiting: list[list[tuple[int, int, int]]] = [[] for _ in accepts]
    for state, pairs in enumerate(calls):
        for entry, back in pairs:
            waiting[entry].append((state, entry, back))
            waiting[back].append((state, entry, back))
    known = [False] * len(accepts)
    todo = [state for state, accepting in enumerate(accepts) if accepting]
    while todo:
        at = todo.pop()
        if not known[at]:
            known[at] = True
            todo += before[at]
            todo += [s for s, entry, back in waiting[at] if known[entry] & known[back]]
    return known
