"""Engines that read whole grammars, and what is timed of them.

All this runs inside a worker.  A step is a mask and the token read after it; the mask
is looked at after the clock has stopped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.bench.timing import quiet
from stcon.tokens.vocabulary import Vocabulary

Message = dict[str, Any]
Row = NDArray[np.bool_]


class GrammarEngine(ABC):
    """One engine with one grammar at a time."""

    name: str

    @abstractmethod
    def compile(self, text: str) -> Message:
        """What is worth reporting: ``classes``, where it looks at one token of each,
        and ``helper_mb``, of a process that it starts.  Raises Refused."""

    @abstractmethod
    def reset(self) -> None:
        """Nothing; the next text begins."""

    @abstractmethod
    def fill(self) -> None:
        """Nothing; the mask of what may come next is there."""

    def translate(self) -> None:  # noqa: B027  most have nothing to do
        """Nothing; the mask is that of all tokens, where ``fill`` makes another."""

    @abstractmethod
    def row(self) -> Row:
        """bool [vocabulary size]: the mask; not timed."""

    @abstractmethod
    def advance(self, token: int) -> bool:
        """Whether ``token`` was allowed; it has been read."""


class Walks:
    """Walks over the texts of one grammar, as far as the time reaches."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        histories: Sequence[Sequence[int]],
        limit_seconds: float,
    ) -> None:
        self._histories = histories
        self._limit = limit_seconds * 1e9
        size = vocabulary.size
        self._is_text = np.array([vocabulary.is_text(t) for t in range(size)])

    def of(self, engine: GrammarEngine, label: str) -> Iterator[Message]:
        """Of each text the nanoseconds of its steps, those of ``translate`` apart, and
        digests of its masks of all tokens that are text."""
        spent = 0
        for history in self._histories:
            with quiet():
                found = self._walk(engine, history, self._limit - spent)
            spent += sum(found["ns"]) + sum(found["translate_ns"])
            yield {"walk": label, **found}
            if "refused" in found or spent > self._limit:
                return

    def _walk(
        self, engine: GrammarEngine, history: Sequence[int], limit: float
    ) -> Message:
        engine.reset()
        ns: list[int] = []
        translate_ns: list[int] = []
        digests: list[bytes] = []
        found: Message = {"ns": ns, "translate_ns": translate_ns, "digests": digests}
        spent = 0
        for token in history:
            began = perf_counter_ns()
            engine.fill()
            filled = perf_counter_ns()
            engine.translate()
            translated = perf_counter_ns()
            digests.append(self._digest(engine.row()))
            reads = perf_counter_ns()
            is_read = engine.advance(token)
            ns.append(perf_counter_ns() - reads + filled - began)
            translate_ns.append(translated - filled)
            spent += ns[-1] + translate_ns[-1]
            if not is_read:
                return {**found, "refused": f"a valid text, at its token {len(ns)}"}
            if spent > limit:
                break
        return found

    def _digest(self, row: Row) -> bytes:
        packed = np.packbits(row & self._is_text)
        return blake2b(packed.tobytes(), digest_size=8).digest()
