"""Refuse a pushdown that a vocabulary may leave stuck.

If every byte the automaton reads has a one-byte token there is nothing to search;
all byte-level tokenizers are like that.  Otherwise every frame state that bytes of
tokens reach must come to its end by bytes that are tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stcon.machines.frames import Frames
from stcon.machines.productive import finishing
from stcon.machines.pushdown import Pushdown
from stcon.machines.trim import own_calls
from stcon.machines.windows import COUNTED_FINAL, FINAL

if TYPE_CHECKING:
    from stcon.tokens.vocabulary import Vocabulary


def unfinishable(machine: Pushdown, vocabulary: Vocabulary) -> list[int]:
    """The bytes without a token of their own that the format may be stuck on."""
    single = sum(1 << b for b in np.flatnonzero(vocabulary.byte_tokens >= 0).tolist())
    machines = [machine, machine.standard] if machine.standard else [machine]
    missing = 0
    for part in machines:
        missing |= _bytes_read(part.frames) & ~single
    if not missing:
        return []
    occurring = sum(1 << b for b in np.unique(vocabulary.data).tolist())
    finished: list[bool] = []
    for part in reversed(machines):
        stuck, finished = _stuck(part.frames, occurring, single, finished)
        if stuck:
            return [b for b in range(256) if missing >> b & 1]
    return []


def _bytes_read(frames: Frames) -> int:
    found = sum(1 << b for b in set(frames.text))
    for moves in frames.moves:
        for mask, _ in moves:
            found |= mask
    return found


def _stuck(
    frames: Frames, occurring: int, single: int, standard: list[bool]
) -> tuple[bool, list[bool]]:
    """Whether a state that is reached cannot end its rule, and which entries can.

    ``standard``: which standard rules can, by number.
    """
    size = len(frames.skips)
    ends = [s in (FINAL, COUNTED_FINAL) for s in range(size)]
    can = finishing(
        ends,
        [_after(frames, s, single, standard) for s in range(size)],
        [own_calls(frames, s) for s in range(size)],
    )
    reached: set[int] = set()
    todo = [entry for entry in frames.entries if entry >= 0]
    stuck = False
    while todo and not stuck:
        at = todo.pop()
        if at in reached:
            continue
        reached.add(at)
        stuck = not can[at] or any(
            _is_stuck_inside(frames, place, occurring, single)
            for place in frames.texts.get(at, ())
        )
        todo += _after(frames, at, occurring, None)
        todo += [to for pair in own_calls(frames, at) for to in pair]
    return stuck, [entry >= 0 and can[entry] for entry in frames.entries]


def _after(
    frames: Frames, state: int, usable: int, standard: list[bool] | None
) -> list[int]:
    """What follows a state by bytes of ``usable``; standard rules are taken as
    read, if they can end."""
    return [
        *frames.skips[state],
        *frames.ticks.get(state, ()),
        *(to for mask, to in frames.moves[state] if mask & usable),
        *(
            frames.goal[place]
            for place in frames.texts.get(state, ())
            if _literal(frames, place) & ~usable == 0
        ),
        *(
            to
            for number, to in frames.calls.get(state, ())
            if (rule := frames.letters[number].rule) < 0
            and (standard is None or standard[-1 - rule])
        ),
    ]


def _literal(frames: Frames, place: int) -> int:
    end = frames.last.index(1, place)
    return sum(1 << b for b in set(frames.text[place : end + 1]))


def _is_stuck_inside(frames: Frames, place: int, occurring: int, single: int) -> bool:
    """Whether a literal can be begun and not be finished."""
    end = frames.last.index(1, place)
    for at in range(place, end):
        if not occurring >> frames.text[at] & 1:
            return False
        rest = frames.text[at + 1 : end + 1]
        if any(not single >> byte & 1 for byte in rest):
            return True
    return False
