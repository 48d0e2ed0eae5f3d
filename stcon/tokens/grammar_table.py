"""All hops of a grammar ahead of time, and on disk.

Which pairs of a set of trie nodes and a stack symbol can be met follows from what can
lie below what (``machines/grammar_below.py``): 100 for JSON, 30,000 for a programming
language.  They are kept by content, since numbers of states and of sets are given out
as they are met; so a table is right for whatever was met before it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.machines.grammar_below import Below
from stcon.machines.grammar_stored import packed
from stcon.machines.limits import Limits, Meter
from stcon.tokens import cache
from stcon.tokens.displacement import DisplacementClasses, DisplacementSums
from stcon.tokens.grammar_hops import GrammarTransducer
from stcon.tokens.hops import NOTHING, ROOT, Hop

Arrays = dict[str, NDArray[Any]]
Report = Callable[[int, int], None]

_KIND = "grammar-1"
_CLASSES = "displacement-1"
_REPORT_EVERY = 256


def fill(
    transducer: GrammarTransducer, fingerprint: str, report: Report, limits: Limits
) -> None:
    """Nothing; ``transducer`` knows all its hops, from the cache folder if they are
    there.  ``report``: told how many are done, and how many are known of.

    Raises LimitError over ``limits``, of which ``states`` bounds hops too.
    """
    key = _key(transducer, fingerprint)
    arrays = cache.load(_KIND, key)
    if arrays is not None:
        _unpack(arrays, transducer)
        return
    _walk(transducer, report, Meter(limits), transducer.delta)
    cache.store(_KIND, key, _pack(transducer))


def displacement_classes(
    transducer: GrammarTransducer, fingerprint: str, report: Report, limits: Limits
) -> DisplacementClasses:
    """The classes over all hops, from the cache folder if they are there; else both are
    worked out in one walk, and kept.  Otherwise as ``fill``."""
    key = _key(transducer, fingerprint)
    arrays = cache.load(_CLASSES, key)
    if arrays is not None:
        return DisplacementClasses(arrays["class_of"])
    sums = DisplacementSums(transducer)
    visit = partial(transducer.visit, told=sums.add)
    _walk(transducer, report, Meter(limits), visit)
    classes = sums.classes()
    cache.store(_CLASSES, key, {"class_of": classes.class_of})
    cache.store(_KIND, key, _pack(transducer))
    return classes


def _key(transducer: GrammarTransducer, fingerprint: str) -> str:
    arrays, facts = packed(transducer.machine)
    content = blake2b(repr(facts).encode(), digest_size=16)
    for name, array in sorted(arrays.items()):
        content.update(f"{name} {array.shape}".encode())
        content.update(array.tobytes())
    return f"{fingerprint} {content.hexdigest()}"


def _walk(
    transducer: GrammarTransducer,
    report: Report,
    meter: Meter,
    hop_of: Callable[[int, int], Hop],
) -> None:
    below = Below(transducer.machine.state, meter)
    todo = [(ROOT, state) for state in below.states]
    seen = set(todo)
    for done, (pending, state) in enumerate(todo):
        meter.states(len(todo))
        if done % _REPORT_EVERY == 0:
            meter.memory(transducer.nbytes, "the table of the grammar")
            report(done, len(todo))
        rest = hop_of(pending, state).rest(None)
        if rest != NOTHING:
            new = {(rest, under) for under in below.of(state)} - seen
            seen |= new
            todo += sorted(new)
    report(len(todo), len(todo))


def _pack(transducer: GrammarTransducer) -> Arrays:
    """The hops, with the states and the sets of nodes that they are of."""
    hops = transducer.hops
    states = sorted({state for _, state in hops})
    place = {state: i for i, state in enumerate(states)}
    subsets = [transducer.machine.state.subset(state) for state in states]
    sets = [transducer.pending.nodes(i) for i in range(len(transducer.pending))]
    rows = [
        (pending, place[state], hop.rest(None), hop.bits is not None)
        for (pending, state), hop in hops.items()
    ]
    few = [hop.tokens for hop in hops.values() if hop.tokens is not None]
    bits = [hop.bits for hop in hops.values() if hop.bits is not None]
    whole: Arrays = {"hops": np.array(rows, np.int32).reshape(-1, 4)}
    ragged: dict[str, list[Any]] = {
        "subsets": subsets,
        "sets": sets,
        "tokens": few,
        "bits": bits,
    }
    for name, parts in ragged.items():
        kind = np.uint8 if name == "bits" else np.int32
        whole[f"{name}_sizes"] = np.array([len(part) for part in parts], np.int32)
        arrays = [np.asarray(part, kind) for part in parts]
        whole[name] = np.concatenate([np.zeros(0, kind), *arrays])
    return whole


def _unpack(arrays: Arrays, transducer: GrammarTransducer) -> None:
    numbered = transducer.machine.state.numbered
    states = [numbered(part.tolist()) for part in _parts(arrays, "subsets")]
    sets = [transducer.pending.number(part) for part in _parts(arrays, "sets")]
    few, bits = iter(_parts(arrays, "tokens")), iter(_parts(arrays, "bits"))
    for pending, state, rest, has_bits in arrays["hops"].tolist():
        number = sets[rest] if rest != NOTHING else NOTHING
        hop = Hop(
            tokens=None if has_bits else next(few),
            needs=None,
            bits=next(bits) if has_bits else None,
            levels=None,
            popped=transducer.pending.nodes(number) if number >= 0 else _NO_NODES,
            popped_ticks=None,
            closing=None,
            closing_ticks=None,
            pending=transducer.pending,
        )
        hop.know_rest(number)
        transducer.put(sets[pending], states[state], hop)


_NO_NODES = np.zeros(0, np.int32)


def _parts(arrays: Arrays, name: str) -> list[NDArray[Any]]:
    ends = np.cumsum(arrays[f"{name}_sizes"])
    return np.split(arrays[name], ends[:-1]) if len(ends) else []
