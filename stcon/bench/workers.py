"""Work in a process of its own: what hangs, dies or swells is ended and reported.

Peers crash on some schemas and never come back from others, so each engine lives
in a worker.  The worker opens its engine once and then does one job after
another; after a bad end the next job starts a new one.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from typing import Any

from stcon.bench.machine import resident_bytes
from stcon.errors import StconError

Work = Callable[[Any], Iterator[Any]]
"""A job in, messages out; each message restarts the clock."""

Opener = Callable[[], Work]
"""Opens an engine in the worker; must be picklable."""

DONE, TIMEOUT, MEMORY, CRASH = "done", "timeout", "memory", "crash"

_OPENING_SECONDS = 300.0  # torch alone takes half a minute on a busy machine
# without /proc each look starts ps
_POLL_SECONDS = 0.02 if Path("/proc/self").exists() else 0.5
_MESSAGE, _READY = "message", "ready"
_MAX_LOG = 300


@dataclass(frozen=True)
class Bounds:
    """Seconds of wall time to the next message, and bytes of resident memory
    more than when the job began."""

    seconds: float = 10.0
    bytes: int = 2 << 30


@dataclass
class Outcome:
    """What a job said before its ``ending`` (``done``, ``timeout``, ``memory`` or
    ``crash``), why it ended, and by how much the memory grew at most."""

    messages: list[Any] = field(default_factory=list)
    ending: str = DONE
    why: str = ""
    grown_bytes: int = 0


class WorkerError(StconError):
    """A worker that cannot open its engine."""


class Worker:
    """One engine in a process that is started when there is work."""

    def __init__(self, name: str, opener: Opener, bounds: Bounds) -> None:
        self._name = name
        self._opener = opener
        self._bounds = bounds
        self._child: _Child | None = None

    def do(self, job: Any) -> Outcome:
        """What became of ``job``.  Raises WorkerError when the engine does not
        open."""
        child = self._ready_child()
        outcome = Outcome()
        try:
            child.connection.send(job)
            self._listen(child, outcome)
        except (EOFError, ConnectionError):
            outcome.ending, outcome.why = CRASH, child.last_words()
        if outcome.ending != DONE:
            self.close()
        return outcome

    def _listen(self, child: _Child, outcome: Outcome) -> None:
        """Nothing; hears what is said until the job ends in some way."""
        bounds, before, heard = self._bounds, child.resident(), monotonic()
        while True:
            is_said = child.connection.poll(_POLL_SECONDS)
            grown = child.resident() - before
            outcome.grown_bytes = max(outcome.grown_bytes, grown)
            if grown > bounds.bytes:
                outcome.ending = MEMORY
                outcome.why = f"more than {bounds.bytes / 2**30:g} GB"
                return
            if is_said:
                kind, content = child.connection.recv()
                if kind != _MESSAGE:
                    outcome.ending, outcome.why = kind, content
                    return
                outcome.messages.append(content)
                heard = monotonic()
            elif monotonic() - heard > bounds.seconds:
                outcome.ending = TIMEOUT
                outcome.why = f"more than {bounds.seconds:g} s"
                return

    def _ready_child(self) -> _Child:
        """The process, replaced when it has kept much from earlier jobs."""
        if self._child and self._child.has_kept() > self._bounds.bytes // 2:
            self.close()
        if self._child is None:
            self._child = _Child(self._opener)
            try:
                self._child.open()
            except (EOFError, ConnectionError, TimeoutError):
                words = self._child.last_words()
                self.close()
                raise WorkerError(f"{self._name} does not open: {words}") from None
        return self._child

    def close(self) -> None:
        """Nothing; its process is gone."""
        if self._child is not None:
            self._child.end()
            self._child = None


class _Child:
    """The process and the line to it; what it prints goes to a file."""

    def __init__(self, opener: Opener) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._log = tempfile.NamedTemporaryFile()  # noqa: SIM115
        self._process = context.Process(
            target=_serve, args=(theirs, opener, self._log.name), daemon=True
        )
        self._process.start()
        theirs.close()
        self._first = 0

    def open(self) -> None:
        """Nothing; the engine is open.  Raises TimeoutError, or EOFError when
        the process ends."""
        if not self.connection.poll(_OPENING_SECONDS):
            raise TimeoutError
        self.connection.recv()
        self._first = self.resident()

    def resident(self) -> int:
        """Its resident memory in bytes."""
        return resident_bytes(self._process.pid)

    def has_kept(self) -> int:
        """Bytes more than when the engine was open."""
        return self.resident() - self._first

    def last_words(self) -> str:
        """How it ended, and the last it printed."""
        self._process.join(1)
        code = self._process.exitcode
        how = "still running" if code is None else f"exit status {code}"
        if code is not None and code < 0:
            how = signal.Signals(-code).name
        said = Path(self._log.name).read_text("utf-8", "replace").strip()
        return f"{how}: {said[-_MAX_LOG:]}" if said else how

    def end(self) -> None:
        """Nothing; the process is gone."""
        self.connection.close()
        self._process.kill()
        self._process.join()
        self._log.close()


def _serve(connection: Connection, opener: Opener, log: str) -> None:
    """Nothing; does the jobs that come over the line until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    _print_to(log)
    warnings.simplefilter("ignore")
    work = opener()
    gc.collect()
    gc.freeze()  # a collection then looks at what the job has made
    connection.send((_READY, ""))
    while True:
        try:
            job = connection.recv()
        except EOFError:
            return
        connection.send(_done(connection, work, job))


def _done(connection: Connection, work: Work, job: Any) -> tuple[str, str]:
    """How the job ended; its messages are sent meanwhile."""
    try:
        for message in work(job):
            connection.send((_MESSAGE, message))
    except BaseException as error:  # a panic of Rust is no Exception
        return CRASH, _where(error)
    return DONE, ""


def _where(error: BaseException) -> str:
    """The error, and the line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    at = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}"[:_MAX_LOG] + at


def _print_to(log: str) -> None:
    """Nothing; whatever is printed, by C too, goes to the file ``log``."""
    with open(log, "ab") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
