"""stcon with whole grammars: masks that are kept, and masks made anew at each step."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator
from time import perf_counter_ns
from typing import Any

import numpy as np

from stcon.api import constrain
from stcon.bench.grammar_engines import GrammarEngine, Message, Row, Walks
from stcon.constraints.constraint import Constraint
from stcon.constraints.grammar import GrammarConstraint
from stcon.machines.dfa import DEAD
from stcon.tokens.vocabulary import Vocabulary

STCON = "stcon"
FIRST, CLASSES, TOKENS = "stcon-first", "stcon-classes", "stcon-tokens"
"""Walks: ``STCON`` is a second one, with the masks of the first; then two that make
each mask anew from hops, by class of tokens and token by token."""


def measured(
    vocabulary: Vocabulary, text: str, walks: Walks, build: bool
) -> Iterator[Message]:
    """What ``bench grammars`` says of stcon; ``build``: all hops ahead of time too."""
    began = perf_counter_ns()
    constraint = constrain(vocabulary, grammar=text)
    constraint.allowed(constraint.start)
    yield {"prepared": {"ready_s": (perf_counter_ns() - began) / 1e9}}
    kept = _Kept(constraint)
    yield from walks.of(kept, FIRST)
    yield from walks.of(kept, STCON)
    if build and isinstance(constraint, GrammarConstraint):
        began = perf_counter_ns()
        hops = constraint.build()
        seconds = (perf_counter_ns() - began) / 1e9
        by_class = _ByClass(constraint)
        classes = by_class.classes.count
        yield {"built": {"build_s": seconds, "hops": hops, "classes": classes}}
        yield from walks.of(by_class, CLASSES)
        yield from walks.of(_ByToken(constraint), TOKENS)
    yield {"built": {"mb": constraint.nbytes / 1e6}}


class _Stcon(GrammarEngine):
    name = STCON

    def __init__(self, constraint: Constraint) -> None:
        self._constraint = constraint
        self.reset()

    def compile(self, text: str) -> Message:
        return {}

    def reset(self) -> None:
        self._state = self._constraint.start
        self._row: Row = np.zeros(0, np.bool_)

    def fill(self) -> None:
        self._row = self._mask(self._state)

    @abstractmethod
    def _mask(self, state: Any) -> Row:
        """The mask of ``state``."""

    def row(self) -> Row:
        return self._row

    def advance(self, token: int) -> bool:
        self._state = self._constraint.advance(self._state, token)
        return bool(self._state != DEAD)


class _Kept(_Stcon):
    """As the logits processors do it."""

    def __init__(self, constraint: Constraint) -> None:
        super().__init__(constraint)
        self._rows: dict[Hashable, Row] = {}

    def _mask(self, state: Any) -> Row:
        key = self._constraint.row_key(state)
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = self._constraint.allowed(state)
        return row


class _ByToken(_Stcon):
    def _mask(self, state: Any) -> Row:
        return self._constraint.allowed(state)


class _ByClass(_Stcon):
    def __init__(self, constraint: GrammarConstraint) -> None:
        super().__init__(constraint)
        self.classes = constraint.mask_classes()
        self._ends = list(constraint.vocabulary.eos_ids)

    def _mask(self, state: Any) -> Row:
        key: Any = self._constraint.row_key(state)
        digests, is_complete = key
        row = self.classes.mask(digests)
        row[self._ends] = is_complete
        return row
