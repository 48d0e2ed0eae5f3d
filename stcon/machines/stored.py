"""A pushdown as arrays and back.

What is kept are the frames, which are a function of the rules alone: states made
while decoding are not, so the same format always gives the same bytes.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.machines.frames import UNBOUNDED, Frames, Letter
from stcon.machines.pushdown import Pushdown

Arrays = dict[str, NDArray[Any]]


def packed(machine: Pushdown) -> tuple[Arrays, dict[str, Any]]:
    """The arrays of a machine, and what is no array."""
    frames = machine.frames
    masks = sorted({mask for moves in frames.moves for mask, _ in moves})
    number = {mask: i for i, mask in enumerate(masks)}
    rows = np.frombuffer(b"".join(m.to_bytes(32, "little") for m in masks), np.uint8)
    moves = [
        (s, number[m], to) for s, moves in enumerate(frames.moves) for m, to in moves
    ]
    arrays: Arrays = {
        "masks": rows.reshape(-1, 32),
        "moves": _rows(moves, 3),
        "skips": _rows([(s, t) for s, ts in enumerate(frames.skips) for t in ts], 2),
        "ticks": _rows([(s, t) for s, ts in frames.ticks.items() for t in ts], 2),
        "calls": _rows([(s, *c) for s, cs in frames.calls.items() for c in cs], 3),
        "texts": _rows([(s, p) for s, ps in frames.texts.items() for p in ps], 2),
        "text": np.frombuffer(bytes(frames.text), np.uint8),
        "last": np.frombuffer(bytes(frames.last), np.uint8),
        "goal": np.array(frames.goal, np.int32),
        "entries": np.array(frames.entries, np.int32),
        "need": _rows(sorted(frames.need.items()), 2),
        "nullable": np.array(sorted(frames.nullable), np.int32),
    }
    letters = [
        [letter.rule, *((str(end) for end in letter.window) if letter.window else ())]
        for letter in frames.letters
    ]
    facts = {
        "states": len(frames.skips),
        "letters": letters,
        "start": frames.start,
        "depth": machine.depth,
    }
    return arrays, facts


def unpacked(
    arrays: Arrays, facts: dict[str, Any], standard: Pushdown | None
) -> Pushdown:
    """The machine that ``packed`` packed."""
    size = facts["states"]
    masks = [int.from_bytes(row.tobytes(), "little") for row in arrays["masks"]]
    frames = Frames([[] for _ in range(size)], [[] for _ in range(size)])
    for state, mask, to in arrays["moves"].tolist():
        frames.moves[state].append((masks[mask], to))
    for state, to in arrays["skips"].tolist():
        frames.skips[state].append(to)
    for state, to in arrays["ticks"].tolist():
        frames.ticks.setdefault(state, []).append(to)
    for state, letter, to in arrays["calls"].tolist():
        frames.calls.setdefault(state, []).append((letter, to))
    for state, place in arrays["texts"].tolist():
        frames.texts.setdefault(state, []).append(place)
    frames.text += arrays["text"].tobytes()
    frames.last += arrays["last"].tobytes()
    frames.goal = array("l", arrays["goal"].tolist())
    frames.entries = arrays["entries"].tolist()
    frames.need = dict(arrays["need"].tolist())
    frames.nullable = set(arrays["nullable"].tolist())
    frames.letters = [_letter(row) for row in facts["letters"]]
    frames.start = facts["start"]
    return Pushdown(frames, facts["depth"], standard)


def _letter(row: list[Any]) -> Letter:
    rule, *ends = row
    if not ends:
        return Letter(rule, None)
    most = UNBOUNDED if ends[1] == str(UNBOUNDED) else int(ends[1])
    return Letter(rule, (int(ends[0]), most))


def _rows(rows: list[Any], width: int) -> NDArray[np.int32]:
    return np.array(rows, np.int32).reshape(-1, width)
