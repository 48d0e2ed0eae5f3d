"""A peer that fills bitmasks, as the bench of schemas needs it."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

from stcon.bench.bitmasks import BitmaskEngine, Matcher
from stcon.bench.engines import Engine, Refused
from stcon.bench.judging import JudgedEngine, Run


class JudgedPeer(JudgedEngine):
    """Any BitmaskEngine."""

    def __init__(self, engine: Engine) -> None:
        assert isinstance(engine, BitmaskEngine)
        self._engine = engine
        self.compile({"type": "boolean"})  # whatever is made once is made

    def compile(self, schema: dict[str, Any] | bool) -> Any:
        grammar = self._engine.compile(as_object(schema))
        self._engine.first_mask(grammar)
        return grammar

    def run(self, grammar: Any) -> Run:
        return _Run(self._engine.matcher(grammar))


def as_object(schema: dict[str, Any] | bool) -> dict[str, Any]:
    """The schema without booleans at its top, which peers do not take."""
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    return schema


class _Run(Run):
    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._words: Any = None

    def next(self, token: int | None) -> int:
        started = perf_counter_ns()
        if token is not None and not self._matcher.advance(token):
            raise Refused("its mask allows a token that its matcher refuses")
        self._words = self._matcher.fill()
        return perf_counter_ns() - started

    def allows(self, token: int) -> bool:
        return bool(self._words[0, token >> 5] >> (token & 31) & 1)
