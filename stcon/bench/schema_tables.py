"""The tables of the bench of schemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stcon.bench.table import Cell, table
from stcon.bench.verdicts import COMPILED, REFUSED

_MOST_REASONS = 25
_MOST_WRONG = 20
_QUANTILES = ("p50", "p90", "p95", "p99", "most")

_LEGEND = (
    "%: of all schemas. right: compiled, and all instances came out right. loose: an",
    "invalid instance was accepted, strict: a valid one was not; in parentheses the",
    "instances. Times of compiled schemas: schema to first mask, milliseconds; each",
    "mask of the first walk over the instances and of the second, microseconds.",
)


def report(result: dict[str, Any]) -> str:
    """The result as text."""
    parts = [_counts(result), _times(result), "\n".join(_LEGEND)]
    parts += [*_refusals(result), *_wrong(result)]
    return "\n\n".join(parts)


def _counts(result: dict[str, Any]) -> str:
    head = ["engine", "schemas", "compiled %", "right %", "loose", "strict"]
    head += ["refused", "time", "memory", "crash", "most MB"]
    rows: list[list[Cell]] = []
    for name, have in result["overall"].items():
        wrong = [_with_tests(have[how]) for how in ("too_loose", "too_strict")]
        shares = [_share(have[how], have) for how in ("compiled", "fully_right")]
        ends = [have[how] for how in ("refused", "timeout", "memory", "crash")]
        grown = round(have["most_grown_mb"])
        rows.append([name, have["schemas"], *shares, *wrong, *ends, grown])
    return table(head, rows)


def _share(count: int, have: dict[str, Any]) -> Cell:
    """Per cent of the schemas."""
    return f"{100 * count / have['schemas']:.1f}" if have["schemas"] else None


def _with_tests(wrong: dict[str, int]) -> str:
    if not wrong["schemas"]:
        return "0"
    return f"{wrong['schemas']:,} ({wrong['tests']:,})"


def _times(result: dict[str, Any]) -> str:
    head = ["engine", "what", "count", "p50", "p90", "p95", "p99", "most"]
    rows: list[list[Cell]] = []
    for name, have in result["overall"].items():
        masks = have["mask_us"]
        for what, times in (
            ("compile, ms", have["compile_ms"]),
            ("mask first, µs", masks["first"]),
            ("mask again, µs", masks["again"]),
        ):
            quantiles = [times.get(quantile) for quantile in _QUANTILES]
            rows.append([name, what, times["count"], *quantiles])
    return table(head, rows, left=2)


def _refusals(result: dict[str, Any]) -> Iterator[str]:
    """A table of each engine's reasons."""
    for name, have in result["overall"].items():
        reasons = list(have["refused_by"].items())
        if not reasons:
            continue
        rows: list[list[Cell]] = [[why, count] for why, count in reasons]
        rest = sum(count for _, count in reasons[_MOST_REASONS:])
        rows[_MOST_REASONS:] = [["others", rest]] if rest else []
        yield table([f"refused by {name}", "schemas"], rows)


def _wrong(result: dict[str, Any]) -> Iterator[str]:
    """What stcon gets wrong: too loose, bad endings, too strict."""
    rows = [(row["name"], row["engines"]["stcon"]) for row in result["schemas"]]
    lines = [
        f"{name}{complaint}"
        for complain in (_too_loose, _endings, _too_strict)
        for name, have in rows
        for complaint in complain(have)
    ]
    if lines:
        more = len(lines) - _MOST_WRONG
        rest = [f"and {more:,} more; --json lists all"] if more > 0 else []
        yield "\n".join(["wrong with stcon:", *lines[:_MOST_WRONG], *rest])


def _too_loose(have: dict[str, Any]) -> Iterator[str]:
    for wrong in have["too_loose"]:
        yield f", test {wrong['test']}: too loose: {wrong['text']:.80}"


def _endings(have: dict[str, Any]) -> Iterator[str]:
    if have["status"] not in (COMPILED, REFUSED):
        yield f": {have['status']}: {have['why'].get('message')}"


def _too_strict(have: dict[str, Any]) -> Iterator[str]:
    for wrong in have["too_strict"]:
        where = f"{wrong['before']} ▸ {wrong['after']}"
        why = f" ({wrong['why']:.80})" if wrong["why"] else ""
        yield f", test {wrong['test']}: too strict: {where}{why}"
