"""Workers: what hangs, dies or swells is ended, and the next job goes on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stcon.bench.workers import (
    CRASH,
    DONE,
    MEMORY,
    TIMEOUT,
    Bounds,
    Opener,
    Worker,
    WorkerError,
)
from tests.bench import fakes

_BOUNDS = Bounds(seconds=1.0, bytes=100 << 20)


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker("fake", fakes.obeying, _BOUNDS)
    yield worker
    worker.close()


_BAD = {
    "hang": (TIMEOUT, "1 s"),
    "die": (CRASH, "exit status 3: assertion failed: stack"),
    "abort": (CRASH, "SIGABRT"),
    "swell": (MEMORY, "GB"),
    "raise": (CRASH, "ValueError: an engine's own mistake (fakes.py:"),
    "panic": (CRASH, "BaseException: a panic of Rust"),
}


@pytest.mark.parametrize("job", _BAD)
def test_a_bad_end_is_told_and_the_next_job_goes_on(job: str, worker: Worker) -> None:
    ending, why = _BAD[job]
    have = worker.do(job)
    assert have.ending == ending
    assert why in have.why
    assert len(have.messages) == 1  # what was said before
    after = worker.do("nothing")
    assert after.ending == DONE
    assert after.messages != have.messages  # another process


def test_jobs_share_a_process(worker: Worker) -> None:
    assert worker.do("nothing").messages == worker.do("nothing").messages


def test_each_message_restarts_the_clock(worker: Worker) -> None:
    have = worker.do("talk")  # longer than the bound, never longer silent
    assert have.ending == DONE
    assert have.messages[1:] == ["still here"] * 4


def test_growth_is_measured(worker: Worker) -> None:
    worker.do("nothing")
    assert worker.do("keep").grown_bytes < 100 << 20


def test_a_process_that_keeps_much_is_replaced() -> None:
    worker = Worker("fake", fakes.obeying, _BOUNDS)
    try:
        first, kept = worker.do("nothing"), worker.do("keep")
        assert first.messages == kept.messages
        assert worker.do("nothing").messages != first.messages
    finally:
        worker.close()


@pytest.mark.parametrize("opener", [fakes.never_opening])
def test_an_engine_that_does_not_open(opener: Opener) -> None:
    worker = Worker("fake", opener, _BOUNDS)
    with pytest.raises(WorkerError, match=r"fake does not open.*no such library"):
        worker.do("nothing")
    worker.close()
