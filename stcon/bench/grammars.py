"""Whole grammars: microseconds a step, and what has to be worked out before.

The shipped grammars and some texts of each, as the tokenizer splits them.  A step is
a mask and the token read after it.  ``first``: the first walk over all texts, with
nothing worked out; ``again``: a second walk.  ``build``: all hops ahead of time, where
asked for.  A peer gets the same grammar text, is stopped after a time, and its masks
are compared with stcon's on all tokens that are text.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon import grammars
from stcon.bench.engines import Refused
from stcon.bench.grammar_peers import GrammarPeer
from stcon.bench.table import Cell, Progress, table
from stcon.bench.timing import quiet, summary
from stcon.bench.tokenizer import Tokens
from stcon.constraints.constraint import Constraint
from stcon.constraints.grammar import GrammarConstraint

_US = 1e3
_TEXTS = Path(__file__).with_name("texts")
NAMES = tuple(name.lower() for name in grammars.NAMES)

Masks = list[NDArray[np.bool_]]

_LEGEND = (
    "Microseconds a step, mask and token. ready: seconds to the first mask; build: to",
    "all of them, where asked for. MB: of the tables. differ: steps with another mask.",
)


def texts_of(name: str) -> list[str]:
    """The texts of a grammar; some grammars end at the end of the last line."""
    found = (_TEXTS / f"{name}.txt").read_text("utf-8").split("-----\n")
    return [
        t.removesuffix("\n") if name in ("smiles", "arithmetic") else t for t in found
    ]


def measure(
    tokens: Tokens,
    compiled: Callable[[str], Constraint],
    peers: Sequence[GrammarPeer],
    names: Sequence[str],
    build: bool,
    progress: Progress,
) -> dict[str, Any]:
    """Per grammar and engine the times.  ``compiled``: the constraint of a grammar's
    text."""
    rows = []
    for name in names:
        progress.say(f"grammars {name}: stcon")
        text = getattr(grammars, name.upper())
        histories = [tokens.encode(sample) for sample in texts_of(name)]
        constraint, ours, masks = _stcon(text, compiled, histories, build)
        engines = {"stcon": ours}
        for peer in peers:
            progress.say(f"grammars {name}: {peer.name}")
            engines[peer.name] = _peer(peer, text, histories, masks, constraint)
        steps = sum(map(len, histories))
        rows.append({"name": name, "steps": steps, "engines": engines})
    return {"unit": "us", "grammars": rows, "rounds": 1, "clock": "wall"}


def _stcon(
    text: str,
    compiled: Callable[[str], Constraint],
    histories: list[list[int]],
    build: bool,
) -> tuple[Constraint, dict[str, Any], Masks]:
    began = perf_counter_ns()
    constraint = compiled(text)
    kept: dict[Any, NDArray[np.bool_]] = {}
    kept[constraint.row_key(constraint.start)] = constraint.allowed(constraint.start)
    facts: dict[str, Any] = {"ready_s": (perf_counter_ns() - began) / 1e9}
    masks: Masks = []
    for visit in ("first", "again"):
        masks.clear()
        with quiet():
            times = [_walk(constraint, history, kept, masks) for history in histories]
        facts[visit] = summary([t for some in times for t in some], _US)
    if build and isinstance(constraint, GrammarConstraint):
        began = perf_counter_ns()
        facts["hops"] = constraint.build()
        facts["build_s"] = (perf_counter_ns() - began) / 1e9
        facts["mask_classes"] = constraint.mask_classes().count
    facts["mb"] = constraint.nbytes / 1e6
    facts["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1e6 if sys.platform == "darwin" else 1e3
    )
    return constraint, facts, masks


def _walk(
    constraint: Constraint,
    history: list[int],
    kept: dict[Any, NDArray[np.bool_]],
    masks: Masks,
) -> list[int]:
    state, times = constraint.start, []
    for token in history:
        began = perf_counter_ns()
        key = constraint.row_key(state)
        row = kept.get(key)
        if row is None:
            row = kept[key] = constraint.allowed(state)
        state = constraint.advance(state, token)
        times.append(perf_counter_ns() - began)
        masks.append(row)
    return times


def _peer(
    peer: GrammarPeer,
    text: str,
    histories: list[list[int]],
    masks: Masks,
    constraint: Constraint,
) -> dict[str, Any]:
    began = perf_counter_ns()
    try:
        peer.compile(text)
    except Refused as error:
        return {"refused": error.message}
    ready = (perf_counter_ns() - began) / 1e9
    vocabulary = constraint.vocabulary
    is_text = np.array([vocabulary.is_text(t) for t in range(vocabulary.size)])
    times: list[int] = []
    differ = 0
    for history in histories:
        peer.reset()
        for token in history:
            began = perf_counter_ns()
            packed = peer.fill()
            read = peer.advance(token)
            times.append(perf_counter_ns() - began)
            bits = np.unpackbits(packed.view(np.uint8), bitorder="little")
            row = bits[: vocabulary.size].astype(np.bool_)
            differ += not np.array_equal(row & is_text, masks[len(times) - 1] & is_text)
            if not read:
                return {"refused": f"a valid text, at its token {len(times)}"}
            if sum(times) > peer.limit_seconds * 1e9:
                break
        if sum(times) > peer.limit_seconds * 1e9:
            break
    facts = {"ready_s": ready, "first": summary(times, _US), "differ": differ}
    return facts if peer.classes is None else {**facts, "mask_classes": peer.classes}


def report(result: dict[str, Any]) -> str:
    """The result as a table."""
    head = [
        "grammar",
        "engine",
        "steps",
        "ready",
        "first",
        "p99",
        "again",
        "p90",
        "p99",
    ]
    head += ["max", "build", "classes", "MB", "differ"]
    rows: list[list[Cell]] = []
    notes = []
    for grammar in result["grammars"]:
        for name, facts in grammar["engines"].items():
            if "refused" in facts:
                notes.append(f"{grammar['name']}, {name}: refused: {facts['refused']}")
                continue
            rows.append([grammar["name"], name, *_cells(facts)])
    return "\n".join([table(head, rows, left=2), *notes, *_LEGEND])


def _cells(facts: dict[str, Any]) -> list[Cell]:
    first, again = facts["first"], facts.get("again", {})
    return [
        *(first["count"], facts["ready_s"], first["mean"], first["p99"]),
        *(again.get(key) for key in ("mean", "p90", "p99", "most")),
        *(facts.get(key) for key in ("build_s", "mask_classes", "mb", "differ")),
    ]
