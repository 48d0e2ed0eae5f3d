"""Strongly connected components, successors first (Tarjan 1972), iteratively.

A component of one state without a loop is where an automaton moves strictly
on; the others are its repetitions.  Linear in states and moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def components(successors: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """The components of the graph, each after all components it leads to."""
    index = [0] * len(successors)  # 0: not met; low links are kept in place
    on_stack = [False] * len(successors)
    stack: list[int] = []
    counter = 0
    for root in range(len(successors)):
        if index[root]:
            continue
        path = [(root, iter(successors[root]))]
        counter += 1
        low = {root: counter}
        index[root] = counter
        stack.append(root)
        on_stack[root] = True
        while path:
            at, rest = path[-1]
            after = next(rest, None)
            if after is None:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[at])
                if low.pop(at) == index[at]:
                    yield _pop(stack, on_stack, at)
            elif not index[after]:
                counter += 1
                index[after] = low[after] = counter
                stack.append(after)
                on_stack[after] = True
                path.append((after, iter(successors[after])))
            elif on_stack[after]:
                low[at] = min(low[at], index[after])


def _pop(stack: list[int], on_stack: list[bool], last: int) -> list[int]:
    """The top of ``stack`` down to ``last``, taken off."""
    component = []
    while True:
        at = stack.pop()
        on_stack[at] = False
        component.append(at)
        if at == last:
            return component
