"""Schema to first mask, the vocabulary being known: milliseconds a compile."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from stcon.bench.cases import Case
from stcon.bench.engines import Engine, Refused
from stcon.bench.stcon_engine import StconEngine
from stcon.bench.table import Cell, Progress, table
from stcon.bench.timing import quiet, ratio, rotated, summary, timed
from stcon.bench.tokenizer import Tokens

_MS = 1e6
_STAGES = ("rules", "machine", "first mask")


def measure(
    tokens: Tokens,
    stcon: StconEngine,
    peers: Sequence[Engine],
    cases: Sequence[Case],
    rounds: int,
    progress: Progress,
) -> dict[str, Any]:
    """Per schema and engine the times of ``rounds`` compiles, interleaved, after
    one that does not count."""
    rows = [_measure_case(stcon, peers, case, rounds, progress) for case in cases]
    return {"unit": "ms", "schemas": rows, "overall": _overall(rows, peers)}


def _measure_case(
    stcon: StconEngine,
    peers: Sequence[Engine],
    case: Case,
    rounds: int,
    progress: Progress,
) -> dict[str, Any]:
    engines: list[Engine] = [stcon, *peers]
    took: dict[str, list[int]] = {engine.name: [] for engine in engines}
    stages: dict[str, list[int]] = {stage: [] for stage in _STAGES}
    refused: dict[str, str] = {}
    for turn in range(-1, rounds):
        for engine in rotated(engines, turn):
            if engine.name in refused:
                continue
            progress.say(f"compile {case.name}: {engine.name}, {turn + 1}/{rounds}")
            try:
                with quiet():
                    nanoseconds = _ready(engine, case)
            except Refused as error:
                refused[engine.name] = error.message
                continue
            if turn >= 0:
                took[engine.name].append(nanoseconds)
        if turn >= 0 and stcon.name not in refused:
            with quiet():
                for stage, nanoseconds in stcon.stages(case.schema).items():
                    stages[stage].append(nanoseconds)
    return _result(stcon, case, took, stages, refused)


def _ready(engine: Engine, case: Case) -> int:
    """Nanoseconds from the schema to its first mask."""
    nanoseconds, _ = timed(
        lambda: engine.first_mask(engine.compile(case.schema)), engine.clock
    )
    return nanoseconds


def _result(
    stcon: StconEngine,
    case: Case,
    took: dict[str, list[int]],
    stages: dict[str, list[int]],
    refused: dict[str, str],
) -> dict[str, Any]:
    engines: dict[str, Any] = {
        name: {"refused": refused[name]} if name in refused else summary(times, _MS)
        for name, times in took.items()
    }
    for name, have in engines.items():
        have["stcon_ratio"] = ratio(engines["stcon"], have) if name != "stcon" else None
    if "stcon" not in refused:
        constraint = stcon.compile(case.schema)
        engines["stcon"]["states"] = constraint.report()["states"]
        engines["stcon"]["kind"] = constraint.kind
        engines["stcon"]["stages"] = {
            stage: summary(times, _MS) for stage, times in stages.items()
        }
    return {
        "name": case.name,
        "is_extraction": case.is_extraction,
        "engines": engines,
    }


def _overall(rows: Sequence[dict[str, Any]], peers: Sequence[Engine]) -> dict[str, Any]:
    """The median over the extraction schemas, and the median ratio over all."""
    ours = [_p50(row, "stcon") for row in rows if row["is_extraction"]]
    known = [value for value in ours if value is not None]
    ratios = {}
    for peer in peers:
        have = [row["engines"][peer.name]["stcon_ratio"] for row in rows]
        have = [value for value in have if value is not None]
        ratios[peer.name] = statistics.median(have) if have else None
    return {
        "extraction_p50": statistics.median(known) if known else None,
        "median_ratio": ratios,
    }


def _p50(row: dict[str, Any], engine: str) -> float | None:
    value: float | None = row["engines"][engine].get("p50")
    return value


def report(result: dict[str, Any]) -> str:
    """The result as a table."""
    head = ["schema", "engine", "states", "ms p50", "least", "most"]
    head += ["rules", "machine", "mask", "ratio"]
    rows: list[list[Cell]] = []
    notes = []
    for schema in result["schemas"]:
        for name, have in schema["engines"].items():
            stages = have.get("stages", {})
            times = [have.get(key) for key in ("p50", "least", "most")]
            parts = [stages.get(stage, {}).get("p50") for stage in _STAGES]
            ours = have.get("stcon_ratio")
            states = have.get("states")
            rows.append([schema["name"], name, states, *times, *parts, ours])
            if "refused" in have:
                notes.append(f"{schema['name']}, {name}: refused: {have['refused']}")
    return "\n".join([table(head, rows, left=2), *notes, *_conclusion(result)])


def _conclusion(result: dict[str, Any]) -> list[str]:
    overall = result["overall"]
    lines = ["Milliseconds a compile; ratio: stcon's median over the peer's."]
    if overall["extraction_p50"] is not None:
        median = overall["extraction_p50"]
        lines.append(f"stcon, median of the extraction schemas: {median:.1f} ms")
    for peer, value in overall["median_ratio"].items():
        if value is not None:
            lines.append(f"stcon/{peer}, median over all schemas: {value:.2f}")
    return lines
