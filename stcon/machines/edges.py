"""The edges of frames as a search for short texts sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from stcon.syntax.rules import ALL_BYTES

if TYPE_CHECKING:
    from stcon.machines.frames import Frames


class Measure(NamedTuple):
    """``length(literal)``: how long bytes count; a tick of a standard rule counts 1,
    and so does a byte that is no literal.  ``usable``: the set of those bytes that
    may be taken, as bits."""

    length: Callable[[bytes], int] = len
    usable: int = ALL_BYTES


IN_BYTES = Measure()
NO_LETTER = -1  # a number, so that edges can be put in order


class Edge(NamedTuple):
    """How a text goes on from ``state``: bytes, a letter, a tick, or nothing;
    instead of the one byte ``data`` any of the set ``mask`` would do."""

    state: int
    data: bytes
    length: int
    letter: int
    tick: int
    to: int
    mask: int = 0


def edges_of(frames: Frames, state: int, measure: Measure) -> Iterator[Edge]:
    """The edges from a frame state."""
    for to in frames.skips[state]:
        yield Edge(state, b"", 0, NO_LETTER, 0, to)
    for mask, to in frames.moves[state]:
        if usable := mask & measure.usable:
            first = bytes([(usable & -usable).bit_length() - 1])
            yield Edge(state, first, 1, NO_LETTER, 0, to, mask)
    for place in frames.texts.get(state, ()):
        data = literal(frames, place)
        yield Edge(state, data, measure.length(data), NO_LETTER, 0, frames.goal[place])
    for to in frames.ticks.get(state, ()):
        yield Edge(state, b"", 0, NO_LETTER, 1, to)
    for number, to in frames.calls.get(state, ()):
        yield Edge(state, b"", 0, number, 0, to)


def literal(frames: Frames, place: int) -> bytes:
    """What is left of a literal from ``place`` on."""
    return bytes(frames.text[place : frames.last.index(1, place) + 1])
