"""Control per step on the CPU backend: microseconds from a token to its mask.

The same histories for all engines: instances of each schema as the tokenizer
splits them, behind a prompt of 500 tokens that is new for each output.  A step
counts as a first visit when the automaton's state has not been met since the
grammar was compiled; a revisit is any step after all instances were walked once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import numpy as np

from stcon.bench.cases import Case
from stcon.bench.engines import Engine, Refused, Walk
from stcon.bench.stcon_engine import StconEngine
from stcon.bench.table import Cell, Progress, table
from stcon.bench.timing import quiet, ratio, rotated, summary
from stcon.bench.tokenizer import Tokens
from stcon.constraints.constraint import Constraint, State

_US = 1e3
_PROMPT = 500
_VISITS = ("first", "revisit")

_LEGEND = (
    "Microseconds a step. first: median of the first visits of a state; again: of",
    "revisits. ratio: stcon's median over the peer's, at first visits and again.",
)

Key = tuple[str, str, str]


@dataclass
class _Job:
    """One schema: its token histories, and which of their steps are first."""

    case: Case
    histories: list[list[int]]
    is_first: list[list[bool]]
    states: int


@dataclass
class _Times:
    """Nanoseconds by engine, way of upload and kind of visit."""

    took: dict[Key, list[int]] = field(default_factory=dict)

    def add(self, engine: str, visit: str, walk: Walk, wanted: list[bool]) -> None:
        """Nothing; the wanted steps of ``walk`` are kept."""
        for way, times in walk.items():
            kept = self.took.setdefault((engine, way, visit), [])
            kept.extend(compress(times, wanted))

    def join(self, other: _Times) -> None:
        """Nothing; all times of ``other`` are kept too."""
        for key, times in other.took.items():
            self.took.setdefault(key, []).extend(times)


class _Prompts:
    """Prompts of 500 tokens, each new: no engine may know one already."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._random = np.random.default_rng(0)

    def new(self) -> list[int]:
        """Random ids of the vocabulary."""
        ids: list[int] = self._random.integers(0, self._size, _PROMPT).tolist()
        return ids


def measure(
    tokens: Tokens,
    stcon: StconEngine,
    peers: Sequence[Engine],
    cases: Sequence[Case],
    rounds: int,
    progress: Progress,
) -> dict[str, Any]:
    """Per schema and engine the times of first visits and of revisits."""
    engines: list[Engine] = [stcon, *peers]
    prompts = _Prompts(tokens.vocabulary.size)
    pooled = _Times()
    rows = []
    for case in cases:
        job = _job(tokens, stcon, case)
        times, refused = _Times(), _refusals(engines, job)
        fit = [engine for engine in engines if engine.name not in refused]
        for turn in range(-1, rounds):
            progress.say(f"mask {case.name}: {turn + 1}/{rounds}")
            kept = times if turn >= 0 else _Times()
            for engine in rotated(fit, turn):
                _round(engine, job, prompts, kept)
        pooled.join(times)
        rows.append(_row(job, engines, times, refused))
    return {
        "unit": "us",
        "prompt_tokens": _PROMPT,
        "schemas": rows,
        "overall": _by_engine(engines, pooled, {}),
    }


def _job(tokens: Tokens, stcon: StconEngine, case: Case) -> _Job:
    constraint = stcon.compile(case.schema)
    histories = [tokens.encode(text) for text in case.texts()]
    met: set[State] = set()
    is_first = [_first_visits(constraint, history, met) for history in histories]
    return _Job(case, histories, is_first, constraint.report()["states"])


def _first_visits(
    constraint: Constraint, history: list[int], met: set[State]
) -> list[bool]:
    """Which steps of ``history`` come to a state not in ``met``, which grows."""
    state = constraint.start
    is_first = [state not in met]
    for token in history:
        met.add(state)
        state = constraint.advance(state, token)
        is_first.append(state not in met)
    met.add(state)
    return is_first


def _refusals(engines: Sequence[Engine], job: _Job) -> dict[str, str]:
    """Why an engine cannot take part: it refuses the schema, or an instance."""
    refused = {}
    for engine in engines:
        try:
            grammar = engine.compile(job.case.schema)
        except Refused as error:
            refused[engine.name] = error.message
            continue
        for history in job.histories:
            place = engine.first_wrong(grammar, history)
            if place is not None:
                refused[engine.name] = f"a valid instance, at its token {place}"
    return refused


def _round(engine: Engine, job: _Job, prompts: _Prompts, times: _Times) -> None:
    """Nothing; a newly compiled grammar walks all histories, then again."""
    grammar = engine.compile(job.case.schema)
    if isinstance(engine, StconEngine):
        engine.forget()
    with quiet():
        for visit in _VISITS:
            for history, is_first in zip(job.histories, job.is_first, strict=True):
                wanted = is_first if visit == "first" else [True] * len(is_first)
                walk = engine.walk(grammar, prompts.new(), history)
                times.add(engine.name, visit, walk, wanted)


def _row(
    job: _Job, engines: Sequence[Engine], times: _Times, refused: dict[str, str]
) -> dict[str, Any]:
    return {
        "name": job.case.name,
        "states": job.states,
        "steps": sum(len(steps) for steps in job.is_first),
        "first_visits": sum(map(sum, job.is_first)),
        "engines": _by_engine(engines, times, refused),
    }


def _by_engine(
    engines: Sequence[Engine], times: _Times, refused: dict[str, str]
) -> dict[str, Any]:
    """Per engine, way and visit a summary, with stcon's median over its own."""
    out: dict[str, Any] = {}
    for engine in engines:
        if engine.name in refused:
            out[engine.name] = {"refused": refused[engine.name]}
            continue
        out[engine.name] = {}
        for way in engine.ways:
            out[engine.name][way] = {}
            for visit in _VISITS:
                have = summary(times.took.get((engine.name, way, visit), []), _US)
                ours = summary(times.took.get(("stcon", "bool", visit), []), _US)
                have_ratio = None if engine.name == "stcon" else ratio(ours, have)
                out[engine.name][way][visit] = have | {"stcon_ratio": have_ratio}
    return out


def report(result: dict[str, Any]) -> str:
    """The result as a table; the last rows hold the steps of all schemas."""
    head = ["schema", "engine", "upload", "first", "p90", "p99"]
    head += ["again", "p90", "p99", "ratio", "again"]
    rows: list[list[Cell]] = []
    notes = []
    all_rows = [*result["schemas"], {"name": "all", "engines": result["overall"]}]
    for schema in all_rows:
        for name, ways in schema["engines"].items():
            if "refused" in ways:
                notes.append(f"{schema['name']}, {name}: refused: {ways['refused']}")
                continue
            for way, visits in ways.items():
                rows.append([schema["name"], name, way, *_cells(visits)])
    return "\n".join([table(head, rows, left=3), *notes, *_LEGEND])


def _cells(visits: dict[str, dict[str, Any]]) -> list[Cell]:
    times = [visits[v].get(key) for v in _VISITS for key in ("p50", "p90", "p99")]
    return [*times, *(visits[v].get("stcon_ratio") for v in _VISITS)]
