"""From what a worker says to counts."""

from __future__ import annotations

from typing import Any

import pytest

from stcon.bench.spelling import Spelled
from stcon.bench.tally import reason, tally
from stcon.bench.verdicts import Verdict, verdict
from stcon.bench.workers import CRASH, DONE, MEMORY, TIMEOUT, Outcome

_COMPILED = {"compile_ns": 2_000_000, "facts": {"kind": "dfa"}}
_REFUSED = {"message": "#/a: no", "keyword": "pattern", "pointer": "#/a"}


def _instance(is_valid: bool, *texts: str) -> Spelled:
    return Spelled(is_valid, list(texts), [list(text.encode()) for text in texts])


def _walks(*places: int | None) -> dict[str, Any]:
    """The walks of one instance's spellings, each refused at a place or not."""
    return {"walks": [{"refused_at": p, "why": "", "ns": [1000, 3000]} for p in places]}


_AGAIN = {"again_ns": [500]}


def _verdict(
    instances: list[Spelled], *messages: dict[str, Any], ending: str = DONE
) -> Verdict:
    why = "" if ending == DONE else "it was so"
    outcome = Outcome(list(messages), ending, why, 3_000_000)
    return verdict(instances, outcome, bytes)


def test_all_right() -> None:
    instances = [_instance(True, "ab"), _instance(False, "cd", "dc")]
    said = [_COMPILED, _walks(None), _walks(0, 1), _AGAIN, _AGAIN]
    have = _verdict(instances, *said)
    assert have.is_fully_right
    assert have.facts["status"] == "compiled" and have.facts["kind"] == "dfa"
    assert have.facts["compile_ms"] == 2.0 and have.facts["grown_mb"] == 3.0
    assert have.first_ns == [1000, 3000] * 2  # of first spellings
    assert have.again_ns == [500, 500]
    assert have.facts["mask_us"]["first"]["most"] == 3.0
    assert have.facts["reordered"] == have.facts["unjudged"] == 0


def test_any_spelling_counts() -> None:
    instances = [_instance(True, "ab", "ba"), _instance(False, "cd", "dc")]
    said = [_COMPILED, _walks(1, None), _walks(0, None)]
    have = _verdict(instances, *said)
    assert have.facts["right"] == 1 and have.facts["reordered"] == 2
    assert have.facts["too_loose"] == [{"test": 1, "text": "dc"}]
    assert not have.is_fully_right


def test_the_place_of_a_refusal_is_that_of_the_farthest_spelling() -> None:
    have = _verdict([_instance(True, "abc", "acb")], _COMPILED, _walks(1, 2))
    want = {"test": 0, "token": 2, "before": "ac", "after": "b", "why": ""}
    assert have.facts["too_strict"] == [want]


def test_a_refused_schema() -> None:
    have = _verdict([_instance(True, "a")], {"refused": _REFUSED})
    assert have.facts["status"] == "refused" and have.facts["why"] == _REFUSED
    assert have.facts["compile_ms"] is None and have.facts["unjudged"] == 1
    assert not have.is_fully_right


@pytest.mark.parametrize("ending", [TIMEOUT, MEMORY, CRASH])
def test_a_bad_ending(ending: str) -> None:
    instances = [_instance(True, "a"), _instance(True, "b")]
    have = _verdict(instances, _COMPILED, _walks(None), ending=ending)
    assert have.facts["status"] == ending
    assert have.facts["why"] == {"message": "it was so"}
    assert have.facts["right"] == have.facts["unjudged"] == 1
    assert not have.is_fully_right


def test_a_bad_ending_after_the_last_walk_is_not_right() -> None:
    said = [_COMPILED, _walks(None)]
    assert not _verdict([_instance(True, "a")], *said, ending=CRASH).is_fully_right


def test_a_schema_without_instances_is_right_when_it_compiles() -> None:
    assert _verdict([], _COMPILED).is_fully_right
    assert not _verdict([], {"refused": _REFUSED}).is_fully_right


def test_tally() -> None:
    valid, invalid = _instance(True, "a"), _instance(False, "b")
    verdicts = [
        _verdict([valid], _COMPILED, _walks(None), _AGAIN),
        _verdict([valid, invalid], _COMPILED, _walks(0), _walks(None)),
        _verdict([invalid, invalid], _COMPILED, _walks(None), _walks(None)),
        _verdict([valid], {"refused": _REFUSED}),
        _verdict([valid], {"refused": _REFUSED | {"keyword": "not"}}),
        _verdict([valid], {"refused": _REFUSED}),
        _verdict([valid], ending=TIMEOUT),
        _verdict([valid], _COMPILED, ending=TIMEOUT),
        _verdict([valid], ending=CRASH),
        _verdict([valid], ending=MEMORY),
    ]
    have = tally(verdicts)
    assert have["schemas"] == 10 and have["tests"] == 12
    assert have["compiled"] == 4 and have["fully_right"] == 1
    assert have["refused"] == 3
    assert (have["timeout"], have["memory"], have["crash"]) == (2, 1, 1)
    assert have["too_loose"] == {"schemas": 2, "tests": 3}
    assert have["too_strict"] == {"schemas": 1, "tests": 1}
    assert list(have["refused_by"].items()) == [("pattern", 2), ("not", 1)]
    assert have["kinds"] == {"dfa": 4}
    assert have["compile_ms"]["count"] == 4 and have["compile_ms"]["p50"] == 2.0
    assert have["mask_us"]["first"]["count"] == 10
    assert have["mask_us"]["again"] == {
        "count": 1,
        **dict.fromkeys(("p50", "p90", "p95", "p99", "mean", "least", "most"), 0.5),
    }


def test_tally_of_nothing() -> None:
    assert tally([])["schemas"] == 0


def test_reasons() -> None:
    assert reason(_REFUSED) == "pattern"
    assert reason({"message": "one two three four five six"}) == (
        "one two three four five"
    )
    assert reason({"message": "", "keyword": ""}) == "no reason"
