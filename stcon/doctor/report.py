"""The doctor's report: the machine, versions, and every kernel on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import mlx.core as mx

from stcon.bench.machine import machine, versions
from stcon.bench.table import Cell, Progress, table
from stcon.doctor.checks import FAIL, Result, all_checks, has_gpu, timed
from stcon.doctor.timings import timings

_PACKAGES = ("mlx", "mlx-lm", "numpy", "tokenizers", "transformers")


def report() -> tuple[dict[str, Any], str]:
    """All that was found out, for a program, and the same as text."""
    found = _facts()
    results, times = _examine()
    text = _lines(found) + _tables(results, times)
    found["checks"] = [asdict(result) for result in results]
    found["microseconds"] = times
    found["failed"] = sum(result.status == FAIL for result in results)
    return found, text


def _facts() -> dict[str, Any]:
    device = str(mx.default_device())
    ask = getattr(mx, "device_info", None) or mx.metal.device_info  # before 0.32
    info = {name: str(value) for name, value in ask().items()}
    backend = "metal" if mx.metal.is_available() else "cuda" if has_gpu() else "cpu"
    return {
        "machine": machine(),
        "versions": versions(_PACKAGES),
        "device": {"default": device, "backend": backend, **info},
    }


def _examine() -> tuple[list[Result], dict[str, float]]:
    progress = Progress()
    results = []
    for result in all_checks():
        progress.say(result.name)
        results.append(result)
    times: dict[str, float] = {}
    if has_gpu():
        progress.say("timings")
        results.append(timed("timings", lambda: _time(times)))
    progress.clear()
    return results, times


def _time(times: dict[str, float]) -> str:
    times.update(timings())
    return f"{len(times)} launches"


def _lines(report: dict[str, Any]) -> str:
    parts = (report["machine"], report["versions"], report["device"])
    pairs = (pair for part in parts for pair in part.items())
    return "".join(f"{name:14} {value or 'missing'}\n" for name, value in pairs)


def _tables(results: Sequence[Result], times: dict[str, float]) -> str:
    rows: list[list[Cell]] = [
        [result.status, result.name, result.says.split("\n")[0], result.seconds]
        for result in results
    ]
    text = "\n" + table(["", "check", "result", "s"], rows, left=3) + "\n"
    if times:
        timed: list[list[Cell]] = [[name, value] for name, value in times.items()]
        text += "\n" + table(["launch", "µs"], timed) + "\n"
    else:
        text += "\nThere is no GPU here: no kernel was run or timed, only the twins.\n"
    failed = sum(result.status == FAIL for result in results)
    return text + (f"{failed} failed.\n" if failed else "Nothing failed.\n")
