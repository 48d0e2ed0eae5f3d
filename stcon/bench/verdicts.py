"""What became of one schema with one engine, as it goes to the JSON file.

``status``: ``compiled``, ``refused``, ``timeout``, ``memory`` or ``crash``.
``right``: instances accepted when valid and refused when not.  ``too_loose``:
invalid ones that are accepted.  ``too_strict``: valid ones that are refused,
with the place.  ``reordered``: instances whose first spelling was refused and
another accepted.  ``unjudged``: those after a bad ending.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from stcon.bench.spelling import Spelled
from stcon.bench.timing import summary
from stcon.bench.workers import DONE, Outcome

COMPILED, REFUSED = "compiled", "refused"

_US, _MS, _MB = 1e3, 1e6, 1e6
_AROUND = 40  # characters shown before and after the place of a refusal

Decode = Callable[[list[int]], bytes]


@dataclass
class Verdict:
    """``facts``: for the JSON file; ``first_ns`` and ``again_ns``: each mask of
    the first walk over all instances, and of the second."""

    facts: dict[str, Any]
    first_ns: list[int] = field(default_factory=list)
    again_ns: list[int] = field(default_factory=list)

    @property
    def is_fully_right(self) -> bool:
        """Whether it compiled and every instance came out right."""
        facts = self.facts
        is_right: bool = facts["right"] == facts["tests"]
        return is_right and facts["status"] == COMPILED


def verdict(instances: Sequence[Spelled], outcome: Outcome, decode: Decode) -> Verdict:
    """The verdict on what a worker said of ``instances``.

    ``decode``: the bytes of tokens."""
    said: dict[str, Any] = {}
    walks, again = [], []
    for message in outcome.messages:
        if "walks" in message:
            walks.append(message["walks"])
        elif "again_ns" in message:
            again += message["again_ns"]
        else:
            said |= message
    found = Verdict(_facts(said, outcome, len(instances)), again_ns=again)
    for place, (instance, tried) in enumerate(zip(instances, walks, strict=False)):
        found.first_ns += tried[0]["ns"]
        _judge(found.facts, place, instance, tried, decode)
    found.facts["unjudged"] = len(instances) - len(walks)
    found.facts["mask_us"] = {
        "first": summary(found.first_ns, _US),
        "again": summary(again, _US),
    }
    return found


def _facts(said: dict[str, Any], outcome: Outcome, tests: int) -> dict[str, Any]:
    """All but what the walks tell."""
    status = outcome.ending
    if status == DONE:
        status = REFUSED if "refused" in said else COMPILED
    compile_ns = said.get("compile_ns")
    return {
        "status": status,
        "why": said.get("refused") or ({"message": outcome.why} if outcome.why else {}),
        "compile_ms": compile_ns / _MS if compile_ns is not None else None,
        **said.get("facts", {}),
        "grown_mb": outcome.grown_bytes / _MB,
        "tests": tests,
        "right": 0,
        "reordered": 0,
        "too_loose": [],
        "too_strict": [],
    }


def _judge(
    facts: dict[str, Any],
    place: int,
    instance: Spelled,
    tried: list[dict[str, Any]],
    decode: Decode,
) -> None:
    """Nothing; counts the instance at ``place``."""
    accepted = [n for n, walk in enumerate(tried) if walk["refused_at"] is None]
    facts["reordered"] += bool(accepted) and accepted[0] > 0
    if bool(accepted) == instance.is_valid:
        facts["right"] += 1
    elif accepted:
        text = instance.texts[accepted[0]]
        facts["too_loose"].append({"test": place, "text": text})
    else:
        best = max(range(len(tried)), key=lambda n: int(tried[n]["refused_at"]))
        at = tried[best]["refused_at"]
        tokens = instance.tokens[best]
        facts["too_strict"].append(
            {
                "test": place,
                "token": at,
                "before": _shown(decode(tokens[:at]))[-_AROUND:],
                "after": _shown(decode(tokens[at:]))[:_AROUND],
                "why": tried[best]["why"],
            }
        )


def _shown(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
