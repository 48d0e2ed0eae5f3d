"""What a byte makes of the top of a stack.

A state opens, without reading, rules that it calls, rules that those call, and
what follows rules that match nothing; ticks are counted on the way.  From each
of these tops the byte moves on.  An *option* is what replaces the one cell: a
number of ticks taken from its window, and elements, deepest first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stcon.machines.frames import Window
from stcon.machines.lazy import COUNTED_DONE, DEAD, DONE, States

Element = int | tuple[int, int, float]
"""A state; in rules that are counted, with the window of ticks still to come."""

Stack = tuple[Element, ...]
Option = tuple[int, Stack]
Options = tuple[Option, ...]

_MAX_OPENINGS = 2_000
_LEFT = "a rule calls itself before it reads"


def state_of(element: Element) -> int:
    """The state of an element."""
    return element if isinstance(element, int) else element[0]


def element(state: int, window: Window | None) -> Element:
    """A state with its window."""
    return state if window is None else (state, *window)


def ends(states: States, top: Element) -> bool:
    """Whether the rule of ``top`` may end without reading."""
    if isinstance(top, int):
        return states.node(top).may_end
    return states.node(top[0]).may_end and top[1] <= 0


def ticked(states: States, top: Element, state: int, ticks: int) -> Element | None:
    """``top`` moved on to ``state`` with ``ticks``; None past its window."""
    if isinstance(top, int):
        return state
    _, least, most = top
    left = most - ticks
    if states.node(state).need > left or (state == COUNTED_DONE and least > ticks):
        return None
    return state, max(least - ticks, 0), left


def openings(states: States, state: int) -> Iterator[tuple[int, Stack, Element]]:
    """(ticks, stack below, top) for everything ``state`` leads to without reading.

    The state itself and those that follow it within its rule are plain numbers:
    their window is that of the cell.
    """
    todo: list[tuple[int, Stack, Element]] = [(0, (), state)]
    seen = set(todo)
    for ticks, below, top in todo:
        yield ticks, below, top
        for item in _opened(states, ticks, below, top):
            if item not in seen:
                seen.add(item)
                todo.append(item)
        if len(todo) > _MAX_OPENINGS:
            raise ValueError(_LEFT)


def _opened(
    states: States, ticks: int, below: Stack, top: Element
) -> Iterator[tuple[int, Stack, Element]]:
    node = states.node(state_of(top))
    if node.tick != DEAD and isinstance(top, int):
        yield ticks + 1, below, node.tick
    elif node.tick != DEAD:
        after = ticked(states, top, node.tick, 1)
        if after is not None:
            yield ticks, below, after
    for entry, back, window in node.calls or ():
        kept: Element = back if isinstance(top, int) else (back, *top[1:])
        called = element(entry, window)
        yield ticks, below if back == DONE else (*below, kept), called
        if ends(states, called):
            yield ticks, below, kept


@dataclass(frozen=True, eq=False)
class Reading:
    """``table[byte]``: what the byte may make of a state on top of a stack;
    ``groups``: the same, as pairs (bytes, their options) without the dead."""

    table: list[Options]
    groups: tuple[tuple[tuple[int, ...], Options], ...]


def reading(states: States, state: int) -> Reading:
    """What each byte may make of ``state``."""
    found: dict[int, dict[Option, None]] = {}
    for ticks, below, top in openings(states, state):
        for values, after in states.moves(state_of(top)):
            stack = _moved(states, below, top, after)
            if stack is not None:
                for byte in values:
                    found.setdefault(byte, {})[ticks, stack] = None
    table: list[Options] = [()] * 256
    groups: dict[Options, list[int]] = {}
    for byte, options in found.items():
        table[byte] = tuple(options)
        groups.setdefault(table[byte], []).append(byte)
    return Reading(table, tuple((tuple(b), o) for o, b in groups.items()))


def _moved(states: States, below: Stack, top: Element, after: int) -> Stack | None:
    moved = ticked(states, top, after, 0)
    if moved is None:
        return None
    if after in (DONE, COUNTED_DONE):
        return below
    return settled(states, (*below, moved))


def settled(states: States, stack: Stack) -> Stack:
    """``stack`` with calls opened that are all there is to do on top: so a string
    is in the state of its rule before its first character, whoever called it."""
    for _ in range(_MAX_OPENINGS):
        top = stack[-1]
        call = states.only_call(state_of(top))
        if call is None:
            return stack
        entry, back, window = call
        kept: Element = back if isinstance(top, int) else (back, *top[1:])
        below = stack[:-1] if back == DONE else (*stack[:-1], kept)
        stack = (*below, element(entry, window))
    raise ValueError(_LEFT)
