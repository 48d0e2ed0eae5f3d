"""stcon as the bench of schemas needs it: what ``constrain`` gives, whichever
machine is behind it, masked by the processor for the host."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

import numpy as np

from stcon.api import constrain
from stcon.bench.judging import JudgedEngine, Run
from stcon.constraints.constraint import Constraint
from stcon.cpu.rows import shared_rows
from stcon.decode.processor import HostProcessor
from stcon.tokens.vocabulary import Vocabulary

_PROMPT = 500


class JudgedStcon(JudgedEngine):
    """``constrain`` with its default limits, and ``HostProcessor``."""

    def __init__(self, vocabulary: Vocabulary, escapes: str) -> None:
        import mlx.core as mx

        mx.set_default_device(mx.cpu)
        self._vocabulary = vocabulary
        self._escapes = escapes
        self._random = np.random.default_rng(0)
        self.compile({"type": "boolean"})  # imports, trie and what else is made once

    def compile(self, schema: dict[str, Any] | bool) -> HostProcessor:
        constraint = constrain(
            self._vocabulary, schema, escapes=self._escapes, path="host"
        )
        processor = _Processor(constraint)
        processor.row([0], self._vocabulary.size)
        return processor

    def run(self, grammar: HostProcessor) -> Run:
        """A run behind a prompt of 500 tokens that is new each time."""
        size = self._vocabulary.size
        prompt = self._random.integers(0, size, _PROMPT).tolist()
        return _Run(grammar, prompt, size)

    def facts(self, grammar: _Processor) -> dict[str, Any]:
        """Machine kind, states and bytes."""
        constraint = grammar.constraint
        return {
            "kind": constraint.kind,
            "states": constraint.report().get("states"),
            "bytes": constraint.nbytes,
        }

    def forget(self) -> None:
        shared_rows().clear()


class _Processor(HostProcessor):
    def __init__(self, constraint: Constraint) -> None:
        super().__init__(constraint, pins=False)
        self.constraint = constraint


class _Run(Run):
    """The histories are mlx arrays, computed beforehand, as mlx-lm hands them."""

    def __init__(self, processor: HostProcessor, prompt: list[int], width: int):
        self._processor = processor
        self._width = width
        self._history = np.zeros(2 * len(prompt), np.int64)
        self._history[: len(prompt)] = prompt
        self._length = len(prompt)
        self._row: Any = None

    def next(self, token: int | None) -> int:
        import mlx.core as mx

        if token is not None:
            self._add(token)
        history = mx.array(self._history[: self._length])
        started = perf_counter_ns()
        row = self._processor.row(history, self._width)
        took = perf_counter_ns() - started
        self._row = np.array(row, copy=False)
        return took

    def _add(self, token: int) -> None:
        if self._length == len(self._history):
            self._history = np.concatenate([self._history, self._history])
        self._history[self._length] = token
        self._length += 1

    def allows(self, token: int) -> bool:
        return bool(self._row[0, token])
