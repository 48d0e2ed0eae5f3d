"""Limits of a compile, and the meter that enforces them.

Subset construction is exponential in the worst case and counted repetition
multiplies, so a short hostile pattern can ask for any amount of work.  Every
loop of a compile reports to one ``Meter``; going over a limit is a
``LimitError``, never a hang.  A look at the clock costs 0.1 µs, so it is taken
with every 256 states.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from stcon.errors import LimitError

_CLOCK_EVERY = 256


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one compile.

    ``states``: states of any one automaton, before it is minimised.
    ``seconds``: of the compiling thread, for the whole compile.  Computing time, so
    that a loaded machine refuses nothing that another takes.
    ``bytes``: memory of any one table.
    """

    states: int = 200_000
    seconds: float = 4.0
    bytes: int = 256 << 20


class Meter:
    """Counts what one compile spends; made new for every compile."""

    def __init__(self, limits: Limits | None = None) -> None:
        if not isinstance(limits, Limits | None):
            raise TypeError(f"limits is a stcon.Limits, not {limits!r}")
        self.limits = limits or Limits()
        self._deadline = time.thread_time() + self.limits.seconds
        self._left = _CLOCK_EVERY

    @staticmethod
    def of(limits: Limits | Meter | None) -> Meter:
        """A new meter for ``limits``; a meter stays itself, so that the stages
        of one compile share its time."""
        return limits if isinstance(limits, Meter) else Meter(limits)

    def states(self, count: int) -> None:
        """Nothing; raises LimitError when ``count`` states are too many, or
        the time is up."""
        if count > self.limits.states:
            raise LimitError(
                f"the automaton needs more than {self.limits.states:,} states",
                what="states",
                limit=self.limits.states,
                hint="shorten counted repetitions and large lists, or pass "
                "limits=Limits(states=...)",
            )
        self.work(1)

    def work(self, amount: int) -> None:
        """Nothing; raises LimitError when the time is up.  ``amount``: steps of
        about 10 µs that are about to be taken."""
        self._left -= amount
        if self._left <= 0:
            self.clock()

    def clock(self) -> None:
        """Nothing; raises LimitError when the time is up."""
        self._left = _CLOCK_EVERY
        if time.thread_time() > self._deadline:
            raise LimitError(
                f"compiling took longer than {self.limits.seconds:g} seconds",
                what="seconds",
                limit=self.limits.seconds,
                hint="simplify the format, or pass limits=Limits(seconds=...)",
            )

    def memory(self, size: int, what: str) -> None:
        """Nothing; raises LimitError when a table of ``size`` bytes is too big."""
        if size > self.limits.bytes:
            raise LimitError(
                f"{what} needs {size >> 20:,} MiB, more than "
                f"{self.limits.bytes >> 20:,} MiB",
                what="bytes",
                limit=self.limits.bytes,
                hint="simplify the format, or pass limits=Limits(bytes=...)",
            )
