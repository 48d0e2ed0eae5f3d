"""Whole grammars: microseconds a step, and what has to be worked out before.

The shipped grammars and some texts of each, as the tokenizer splits them.  Each engine
works in a process of its own, under bounds of time and memory, and gets the same
grammar; its masks are compared with stcon's on all tokens that are text.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from stcon import grammars
from stcon.bench.grammar_peers import opener
from stcon.bench.grammar_stcon import CLASSES, FIRST, STCON, TOKENS
from stcon.bench.table import Cell, Progress, table
from stcon.bench.timing import summary
from stcon.bench.tokenizer import Tokens
from stcon.bench.workers import DONE, Bounds, Outcome, Worker

_US = 1e3
_FILL = "cfgzip-fill"
_TEXTS = Path(__file__).with_name("texts")
NAMES = tuple(name.lower() for name in grammars.NAMES)

Digests = list[list[bytes]]
"""Of the masks of each text."""

_LEGEND = (
    "Microseconds a step: the mask, and the token read after it. before: seconds from",
    "the grammar's text to the first mask, with build() where asked for. MB: by how",
    "much the engine's process grew, or one that it starts. classes: of tokens, as it",
    "tells them apart. differ: steps at which a mask is not that of stcon.",
    f"{FIRST}: the texts for the first time; {STCON}: once more, with those masks;",
    f"{CLASSES}, {TOKENS}: after build(), each mask made anew, by class or by",
    f"token. {_FILL}: without what makes masks of all tokens from those of classes.",
)


def texts_of(name: str) -> list[str]:
    """The texts of a grammar; some grammars end at the end of the last line."""
    found = (_TEXTS / f"{name}.txt").read_text("utf-8").split("-----\n")
    return [
        t.removesuffix("\n") if name in ("smiles", "arithmetic") else t for t in found
    ]


def measure(
    tokens: Tokens,
    peers: Sequence[str],
    names: Sequence[str],
    build: bool,
    limit_seconds: float,
    bounds: Bounds,
    progress: Progress,
) -> dict[str, Any]:
    """Per grammar and engine the times.  ``limit_seconds``: of the steps of an engine
    with one grammar; ``bounds``: of all that comes before them.

    Raises PeerMissing for a peer that is not installed.
    """
    with tempfile.TemporaryDirectory() as folder:
        openers = {
            name: opener(name, tokens, folder, limit_seconds, bounds)
            for name in dict.fromkeys([STCON, *peers])
        }
        # the bound of a worker is on its silence; some peers bound themselves first
        silent = Bounds(bounds.seconds + limit_seconds, bounds.bytes)
        rows = []
        for name in names:
            histories = [tokens.encode(sample) for sample in texts_of(name)]
            text = getattr(grammars, name.upper())
            job = {"name": name, "text": text, "histories": histories, "build": build}
            engines: dict[str, Any] = {}
            masks: Digests = []
            for engine, open_ in openers.items():
                progress.say(f"grammars {name}: {engine}")
                worker = Worker(engine, open_, silent)
                try:
                    outcome = worker.do(job)
                finally:
                    worker.close()
                masks = masks or _digests(outcome, FIRST)
                engines |= facts_of(engine, outcome, masks)
            steps = sum(map(len, histories))
            rows.append({"name": name, "steps": steps, "engines": engines})
    return {"unit": "us", "grammars": rows, "limit_seconds": limit_seconds}


def _digests(outcome: Outcome, walk: str) -> Digests:
    return [m["digests"] for m in outcome.messages if m.get("walk") == walk]


def facts_of(engine: str, outcome: Outcome, masks: Digests) -> dict[str, Any]:
    """What an engine said, by walk."""
    prepared: dict[str, Any] = {}
    for message in outcome.messages:
        if "refused" in message:
            return {engine: {"refused": message["refused"]}}
        prepared |= message.get("prepared", {}) | message.get("built", {})
    if outcome.ending != DONE:
        return {engine: {"refused": outcome.why}}
    grown = max(outcome.grown_bytes / 1e6, prepared.pop("helper_mb", 0.0))
    labels = dict.fromkeys(m["walk"] for m in outcome.messages if "walk" in m)
    found: dict[str, Any] = {}
    for label in labels:
        walks = [m for m in outcome.messages if m.get("walk") == label]
        ns, more = ([list(chain(*(m[key] for m in walks)))
                     for key in ("ns", "translate_ns")])  # fmt: skip
        whole = [a + b for a, b in zip(ns, more, strict=True)]
        differ = _differ(_digests(outcome, label), masks)
        found[label] = {"step": summary(whole, _US), "differ": differ}
        if engine == "cfgzip":
            found[_FILL] = {"step": summary(ns, _US)}
    if engine in found:
        found[engine] |= {**prepared, "peak_mb": grown}
    return found


def _differ(found: Digests, wanted: Digests) -> int:
    return sum(
        one != other
        for some, others in zip(found, wanted, strict=False)
        for one, other in zip(some, others, strict=False)
    )


def report(result: dict[str, Any]) -> str:
    """The result as a table."""
    head = ["grammar", "engine", "steps", "before", "MB", "classes"]
    head += ["mean", "p50", "p90", "p99", "max", "differ"]
    rows: list[list[Cell]] = []
    notes = []
    for grammar in result["grammars"]:
        for name, facts in grammar["engines"].items():
            if "refused" in facts:
                notes.append(f"{grammar['name']}, {name}: {facts['refused']}")
                continue
            rows.append([grammar["name"], name, *_cells(facts)])
    return "\n".join([table(head, rows, left=2), *notes, *_LEGEND])


def _cells(facts: dict[str, Any]) -> list[Cell]:
    step = facts["step"]
    before = facts.get("build_s", facts.get("ready_s"))
    return [
        *(step["count"], before, facts.get("peak_mb"), facts.get("classes")),
        *(step.get(key) for key in ("mean", "p50", "p90", "p99", "most")),
        facts.get("differ"),
    ]
