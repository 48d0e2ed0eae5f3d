"""The engines that are measured, all behind one small interface.

stcon makes a row that mlx can use as it is (a bool array).  The peers fill a
packed bitmask; it is uploaded packed, as their Metal kernels want it, and also
unpacked, because ``mx.where`` needs bools and the CPU backend has no such
kernel.  Both are timed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from time import perf_counter_ns
from typing import Any

from stcon.bench.cases import Schema
from stcon.bench.machine import installed
from stcon.bench.timing import Clock
from stcon.bench.tokenizer import Tokens
from stcon.errors import StconError

Walk = dict[str, list[int]]

PEERS: Mapping[str, tuple[str, str]] = {
    "llguidance": ("stcon.bench.llguidance_peer", "LlguidanceEngine"),
    "xgrammar": ("stcon.bench.xgrammar_peer", "XgrammarEngine"),
    "outlines-core": ("stcon.bench.outlines_peer", "OutlinesEngine"),
}


class PeerMissing(StconError):
    """A peer that was asked for and is not installed."""


class Refused(StconError):
    """A schema that an engine will not, or not in time, compile."""


class Engine(ABC):
    """One engine, with its tokenizer ready.

    ``name``; ``ways``: the names under which ``walk`` gives times, in
    nanoseconds of ``clock``.
    """

    name: str
    ways: tuple[str, ...]

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    @abstractmethod
    def compile(self, schema: Schema) -> Any:
        """The grammar of ``schema``; raises Refused."""

    @abstractmethod
    def first_mask(self, grammar: Any) -> None:
        """Nothing; the mask before the first token has been computed."""

    @abstractmethod
    def walk(self, grammar: Any, prompt: list[int], tokens: list[int]) -> Walk:
        """Nanoseconds of each step, by way of upload; one step more than tokens,
        the first before any of them."""

    @abstractmethod
    def first_wrong(self, grammar: Any, tokens: list[int]) -> int | None:
        """The place of the first token the grammar does not allow, or None."""

    def grammar_bytes(self, grammar: Any) -> int | None:
        """The size of the grammar as the engine tells it; None if it does not."""
        return None


def open_peers(
    names: Sequence[str], tokens: Tokens, clock: Clock = perf_counter_ns
) -> list[Engine]:
    """The peers of these names; raises PeerMissing."""
    check_installed(names)
    return [_open(name, tokens, clock) for name in names]


def check_installed(names: Sequence[str]) -> None:
    """Nothing; raises PeerMissing for a peer that is not installed."""
    for name in names:
        if installed(name) is None:
            raise PeerMissing(f"{name} is not installed", hint=f"pip install {name}")


def _open(name: str, tokens: Tokens, clock: Clock) -> Engine:
    module, kind = PEERS[name]
    try:
        engine: Engine = getattr(import_module(module), kind)(tokens, clock)
    except ImportError as error:
        raise PeerMissing(f"{name} cannot be imported: {error}") from error
    return engine
