"""Engines with whole grammars, opened in a worker by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.bench import grammar_stcon
from stcon.bench.bitmasks import BitmaskEngine, unpacked
from stcon.bench.cfgzip_peer import CfgzipEngine
from stcon.bench.engines import PeerMissing, Refused
from stcon.bench.grammar_engines import GrammarEngine, Message, Row, Walks
from stcon.bench.grammar_forms import READERS, form_of
from stcon.bench.llguidance_peer import LlguidanceEngine
from stcon.bench.machine import installed
from stcon.bench.tokenizer import Tokens, load_tokens
from stcon.bench.workers import Bounds, Opener, Work
from stcon.bench.xgrammar_peer import XgrammarEngine
from stcon.engines import CompressedXgrammar, compressed_xgrammar
from stcon.errors import StconError
from stcon.machines.dfa import DEAD

PEERS = {
    "xgrammar": "xgrammar",
    "xgrammar-classes": "xgrammar",
    "cfgzip": "cfgzip",
    "llguidance": "llguidance",
}
"""The package each needs."""


def opener(
    name: str,
    tokens: Tokens,
    folder: str,
    limit_seconds: float,
    bounds: Bounds,
) -> Opener:
    """Opens ``name`` in a worker, with ``folder`` for stcon's tables; a grammar's steps
    take ``limit_seconds``, what comes before them is within ``bounds``.

    Raises PeerMissing for what is not installed.
    """
    package = PEERS.get(name)
    if package is not None and installed(package) is None:
        hint = f"pip install {package}"
        raise PeerMissing(f"{package} is not installed", hint=hint)
    place = str(tokens.file), tokens.vocabulary.eos_ids
    return partial(_open, name, *place, folder, limit_seconds, bounds)


def _open(
    name: str,
    tokenizer: str,
    eos_ids: Sequence[int],
    folder: str,
    limit_seconds: float,
    bounds: Bounds,
) -> Work:
    os.environ["STCON_CACHE_DIR"] = folder
    tokens = load_tokens(tokenizer, eos_ids)
    _ = tokens.vocabulary.trie  # a matter of the tokenizer, not of a grammar
    if name == grammar_stcon.STCON:
        return partial(_stcon, tokens, limit_seconds)
    return partial(_peer, engine(name, tokens, bounds), tokens, limit_seconds)


def _stcon(tokens: Tokens, limit_seconds: float, job: Message) -> Iterator[Message]:
    walks = Walks(tokens.vocabulary, job["histories"], limit_seconds)
    return grammar_stcon.measured(tokens.vocabulary, job["text"], walks, job["build"])


def _peer(
    one: GrammarEngine, tokens: Tokens, limit_seconds: float, job: Message
) -> Iterator[Message]:
    text = job["text"]
    if one.name in READERS:
        text = form_of(job["name"], text)
    began = perf_counter_ns()
    try:
        facts = one.compile(text)
    except Refused as error:
        yield {"refused": error.message}
        return
    yield {"prepared": {"ready_s": (perf_counter_ns() - began) / 1e9, **facts}}
    walks = Walks(tokens.vocabulary, job["histories"], limit_seconds)
    yield from walks.of(one, one.name)


def engine(name: str, tokens: Tokens, bounds: Bounds) -> GrammarEngine:
    """The peer of this name."""
    kinds: dict[str, Callable[[], GrammarEngine]] = {
        "xgrammar": lambda: Bitmasks(XgrammarEngine(tokens, perf_counter_ns)),
        "xgrammar-classes": lambda: _Compressed(tokens),
        "cfgzip": lambda: CfgzipEngine(tokens, bounds.seconds, bounds.bytes),
        "llguidance": lambda: Bitmasks(LlguidanceEngine(tokens, perf_counter_ns)),
    }
    return kinds[name]()


class Bitmasks(GrammarEngine):
    """An engine that fills a packed mask."""

    def __init__(self, one: XgrammarEngine | LlguidanceEngine) -> None:
        self.name = one.name
        self._engine: BitmaskEngine = one
        self._compile = one.compile_text
        self._mask: NDArray[np.int32] = np.zeros((1, 0), np.int32)

    def compile(self, text: str) -> Message:
        self._grammar = self._compile(text)
        return {}

    def reset(self) -> None:
        self._matcher = self._engine.matcher(self._grammar)

    def fill(self) -> None:
        self._mask = self._matcher.fill()

    def row(self) -> Row:
        row: Row = unpacked(self._mask, self._engine.width)[0]
        return row

    def advance(self, token: int) -> bool:
        return self._matcher.advance(token)


class _Compressed(GrammarEngine):
    """XGrammar on one token of each class, by ``stcon.engines``; ``compile`` works the
    classes out, and rows are kept as a logits processor keeps them."""

    name = "xgrammar-classes"

    def __init__(self, tokens: Tokens) -> None:
        import_module("xgrammar")
        self._vocabulary = tokens.vocabulary

    def compile(self, text: str) -> Message:
        try:
            self._engine: CompressedXgrammar = compressed_xgrammar(
                self._vocabulary, text
            )
        except StconError as error:
            raise Refused(error.message) from error
        self._rows: dict[bytes, Row] = {}
        self._place: Any = None
        return {"classes": self._engine.representatives.end}

    def reset(self) -> None:
        self._place = self._engine.steps.start

    def fill(self) -> None:
        self._packed = self._engine.steps.mask(self._place)

    def translate(self) -> None:
        row = self._rows.get(self._packed)
        if row is None:
            speaks = self._engine.representatives
            row = self._rows[self._packed] = speaks.expanded(
                self._packed, self._vocabulary.size
            )
        self._row = row

    def row(self) -> Row:
        return self._row

    def advance(self, token: int) -> bool:
        self._place = self._engine.steps.advance(self._place, token)
        return bool(self._place != DEAD)
