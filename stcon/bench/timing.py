"""Clock, quiet and quantiles.

Times are nanoseconds inside, and become micro- or milliseconds where they are
shown.  The collector is off while something is timed; between rounds it runs.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter_ns, process_time_ns
from typing import Any

import numpy as np

Clock = Callable[[], int]

CLOCKS: Mapping[str, Clock] = {"wall": perf_counter_ns, "cpu": process_time_ns}
"""``cpu`` counts what this process computes: for a machine that does other work."""


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing; the garbage collector rests inside, after one full collection."""
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def timed(work: Callable[[], Any], clock: Clock = perf_counter_ns) -> tuple[int, Any]:
    """Nanoseconds that ``work`` took, and what it returned."""
    started = clock()
    result = work()
    return clock() - started, result


def summary(nanoseconds: Sequence[int], unit: float) -> dict[str, float]:
    """count, p50, p90, p95, p99, mean, least and most, in units of ``unit`` ns."""
    if not nanoseconds:
        return {"count": 0}
    values = np.asarray(nanoseconds, np.float64) / unit
    p50, p90, p95, p99 = np.percentile(values, [50, 90, 95, 99]).tolist()
    return {
        "count": len(nanoseconds),
        "p50": p50,
        "p90": p90,
        "p95": p95,
        "p99": p99,
        "mean": float(values.mean()),
        "least": float(values.min()),
        "most": float(values.max()),
    }


def ratio(ours: dict[str, float], theirs: dict[str, float]) -> float | None:
    """Median of ``ours`` over median of ``theirs``."""
    if not ours.get("p50") or not theirs.get("p50"):
        return None
    return ours["p50"] / theirs["p50"]


def rotated(items: Sequence[Any], by: int) -> list[Any]:
    """``items`` from place ``by`` on, then those before: no engine always goes
    first."""
    at = by % len(items)
    return [*items[at:], *items[:at]]
