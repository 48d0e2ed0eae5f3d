"""Engines that behave badly on demand; opened in workers, so importable."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from stcon.bench.workers import Opener, Work


def obeying() -> Work:
    """A worker's work that does whatever the job names."""
    return partial(_obey, [])


def jobs_made_to(behaviour: str) -> Opener:
    """Does the same with every job."""
    return partial(_always, behaviour)


def never_opening() -> Work:
    """Ends the process instead of opening."""
    sys.stderr.write("no such library\n")
    sys.stderr.flush()
    os._exit(4)


def _always(behaviour: str) -> Work:
    return lambda job: _obey([], behaviour)


def _obey(kept: list[Any], job: str) -> Iterator[Any]:
    yield {"pid": os.getpid()}
    if job == "hang":
        time.sleep(60)
    elif job == "die":
        sys.stderr.write("assertion failed: stack\n")
        sys.stderr.flush()
        os._exit(3)
    elif job == "abort":
        os.abort()
    elif job == "swell":
        swollen = bytearray(os.urandom(1 << 20)) * 300
        time.sleep(60)
        del swollen
    elif job == "keep":
        kept.append(bytearray(os.urandom(1 << 20)) * 60)
    elif job == "raise":
        raise ValueError("an engine's own mistake")
    elif job == "panic":
        raise BaseException("a panic of Rust")
    elif job == "talk":
        for _ in range(4):
            time.sleep(0.4)
            yield "still here"
