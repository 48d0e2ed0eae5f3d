"""The machine of a grammar as arrays and back.

What is kept is the network, which is a function of the rules alone: states made while
decoding are not, so the same grammar always gives the same bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.machines.grammar import GrammarMachine
from stcon.machines.network import Network

Arrays = dict[str, NDArray[Any]]


def packed(machine: GrammarMachine) -> tuple[Arrays, dict[str, Any]]:
    """The arrays of a machine, and what is no array."""
    network = machine.network
    masks = sorted({mask for moves in network.moves for mask, _ in moves})
    number = {mask: i for i, mask in enumerate(masks)}
    data = b"".join(mask.to_bytes(32, "little") for mask in masks)
    moves = [
        (s, number[m], to) for s, moves in enumerate(network.moves) for m, to in moves
    ]
    arrays: Arrays = {
        "masks": np.frombuffer(data, np.uint8).reshape(-1, 32),
        "moves": _rows(moves, 3),
        "skips": _rows([(s, t) for s, ts in enumerate(network.skips) for t in ts], 2),
        "calls": _rows([(s, *c) for s, cs in network.calls.items() for c in cs], 3),
        "entries": np.array(network.entries, np.int32),
    }
    return arrays, {"states": network.states, "start": network.start}


def unpacked(arrays: Arrays, facts: dict[str, Any]) -> GrammarMachine:
    """The machine that ``packed`` packed."""
    size = facts["states"]
    masks = [int.from_bytes(row.tobytes(), "little") for row in arrays["masks"]]
    network = Network(
        [[] for _ in range(size)],
        [[] for _ in range(size)],
        {},
        arrays["entries"].tolist(),
        facts["start"],
    )
    for state, mask, to in arrays["moves"].tolist():
        network.moves[state].append((masks[mask], to))
    for state, to in arrays["skips"].tolist():
        network.skips[state].append(to)
    for state, rule, to in arrays["calls"].tolist():
        network.calls.setdefault(state, []).append((rule, to))
    return GrammarMachine(network)


def _rows(rows: list[Any], width: int) -> NDArray[np.int32]:
    return np.array(rows, np.int32).reshape(-1, width)
