"""The first hops of the standard rules, kept on disk.

What tokens may do inside a string, a number or any value depends on the tokenizer
alone.  Working it out takes a quarter of a second for 248k tokens; reading it 10 ms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stcon.tokens import cache
from stcon.tokens.hops import PARTS, ROOT, Hop
from stcon.tokens.transducer import Transducer

if TYPE_CHECKING:
    from stcon.machines.pushdown import Pushdown

Arrays = dict[str, NDArray[Any]]

_KIND = "standard-4"


def stocked(machine: Pushdown, transducer: Transducer, fingerprint: str) -> None:
    """Nothing; ``transducer`` knows the hop from the root over each state of
    ``machine``, from the cache folder if they are there."""
    key = f"{fingerprint} {machine.name!r} {machine.state.count}"
    arrays = cache.load(_KIND, key)
    if arrays is not None:
        for state, hop in _unpack(arrays, transducer):
            transducer.put(ROOT, state, hop)
        if len(arrays["state_at"]):
            hop = transducer.delta(ROOT, int(arrays["inside"][0]))
            transducer.put_inside(arrays["state_at"], hop)
        return
    states = range(3, machine.state.count)
    hops = {state: transducer.delta(ROOT, state) for state in states}
    transducer.find_inside()
    inside = transducer.inside
    state_at = np.zeros(0, np.int16) if inside is None else inside.state_at
    first = [state for state, hop in hops.items() if inside and hop is inside.hop]
    whole: Arrays = {"state_at": state_at, "inside": np.array(first, np.int32)}
    cache.store(_KIND, key, _pack(hops) | whole)


def _pack(hops: dict[int, Hop]) -> Arrays:
    """The arrays of all hops, part by part, end to end; -1 for a part without."""
    arrays: Arrays = {"states": np.array(list(hops), np.int32)}
    highest = [hop.highest for hop in hops.values()]
    arrays["highest"] = np.array(highest, np.int32)
    for part in PARTS:
        found = [getattr(hop, part) for hop in hops.values()]
        sizes = [-1 if array is None else len(array) for array in found]
        arrays[f"{part}_sizes"] = np.array(sizes, np.int32)
        there = _of_one_kind([array for array in found if array is not None])
        arrays[part] = np.concatenate(there) if there else np.zeros(0, np.int32)
    return arrays


def _of_one_kind(arrays: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """The arrays as they are, or levels of 16 bits where some are of 8: the greatest
    number stands for none."""
    if len({array.dtype for array in arrays}) < 2:
        return arrays
    return [
        np.where(a == 255, 65535, a).astype(np.uint16) if a.dtype == np.uint8 else a
        for a in arrays
    ]


def _unpack(arrays: Arrays, transducer: Transducer) -> list[tuple[int, Hop]]:
    columns: dict[str, list[Any]] = {}
    for part in PARTS:
        columns[part], at = [], 0
        for size in arrays[f"{part}_sizes"].tolist():
            columns[part].append(None if size < 0 else arrays[part][at : at + size])
            at += max(size, 0)
    return [
        (
            state,
            Hop(
                **{part: columns[part][i] for part in PARTS},
                pending=transducer.pending,
                highest=int(arrays["highest"][i]),
            ),
        )
        for i, state in enumerate(arrays["states"].tolist())
    ]
