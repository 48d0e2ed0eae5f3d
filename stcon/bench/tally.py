"""Counts and percentiles of one engine over all schemas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from stcon.bench.timing import summary
from stcon.bench.verdicts import COMPILED, REFUSED, Verdict
from stcon.bench.workers import CRASH, MEMORY, TIMEOUT

_US, _MS = 1e3, 1e6
_WORDS = 5  # of a peer's message, enough to tell its refusals apart


def tally(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Schemas and tests by how they came out, refusals by keyword, times."""
    facts = [verdict.facts for verdict in verdicts]
    status = Counter(fact["status"] for fact in facts)
    compile_ms = [f["compile_ms"] for f in facts if f["compile_ms"] is not None]
    return {
        "schemas": len(facts),
        "tests": sum(fact["tests"] for fact in facts),
        COMPILED: len(compile_ms),
        "fully_right": sum(verdict.is_fully_right for verdict in verdicts),
        **{name: status[name] for name in (REFUSED, TIMEOUT, MEMORY, CRASH)},
        "too_loose": _wrong(facts, "too_loose"),
        "too_strict": _wrong(facts, "too_strict"),
        "reordered": sum(fact["reordered"] for fact in facts),
        "refused_by": _refused_by(facts),
        "kinds": dict(Counter(f["kind"] for f in facts if "kind" in f)),
        "most_grown_mb": max((f["grown_mb"] for f in facts), default=0.0),
        "compile_ms": summary([int(ms * _MS) for ms in compile_ms], _MS),
        "mask_us": {
            "first": summary([ns for v in verdicts for ns in v.first_ns], _US),
            "again": summary([ns for v in verdicts for ns in v.again_ns], _US),
        },
    }


def _wrong(facts: Sequence[dict[str, Any]], how: str) -> dict[str, int]:
    """Schemas with tests that are wrong in this way, and those tests."""
    counts = [len(fact[how]) for fact in facts if fact[how]]
    return {"schemas": len(counts), "tests": sum(counts)}


def _refused_by(facts: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Refused schemas by keyword, the most frequent first."""
    reasons = [reason(f["why"]) for f in facts if f["status"] == REFUSED]
    return dict(Counter(reasons).most_common())


def reason(why: dict[str, str]) -> str:
    """The keyword that a refusal names; without one, its first words."""
    if why.get("keyword"):
        return why["keyword"]
    return " ".join(why.get("message", "").split()[:_WORDS]) or "no reason"
