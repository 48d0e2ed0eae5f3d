"""The stack-reading transducer of a grammar: masks without parsing.

As ``transducer.py``, for machines whose configurations are sets of stacks: what has
become of the one symbol that is read is itself a set of stacks above nothing, shared
and interned, so a token that can be read in any number of ways costs what its states
cost.  Bytes that no rule tells apart are worked out once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stcon.machines.grammar import GrammarMachine
from stcon.machines.stacks import Stacks
from stcon.tokens.transducer import Transducer
from stcon.tokens.trie import Trie

Ids = NDArray[np.int32]


class RelativeStacks:
    """The sets of stacks above one symbol met so far, by number; 0 is the empty set.

    ``pops``, ``need``, ``closings``, ``alone``: as in ``relative.py``, where nothing
    is counted and no rule is standard.
    """

    def __init__(self, machine: GrammarMachine) -> None:
        self._machine = machine
        self._bytes: list[list[int]] = [[] for _ in range(machine.state.classes)]
        for byte, kind in enumerate(machine.state.class_of.tolist()):
            self._bytes[kind].append(byte)
        self._sets: list[Stacks] = []
        self._ids: dict[Stacks, int] = {}
        self.pops: list[tuple[int, ...]] = []
        self._live: list[dict[int, tuple[int, int]] | None] = []
        # few sets are met where many bytes are alive: only they have rows
        self._row_of = np.full(16, -1, np.int32)
        self._next = np.zeros((16, 256), np.int32)
        self._rows = 0
        self._number(machine.graph.none)

    @property
    def need(self) -> list[int]:
        """No state needs ticks."""
        return [-1] * len(self._sets)

    @property
    def closings(self) -> list[tuple[int, ...]]:
        """No pop depends on ticks."""
        return [()] * len(self._sets)

    @property
    def alone(self) -> list[int]:
        """No state is a standard one."""
        return [-1] * len(self._sets)

    @property
    def nbytes(self) -> int:
        """Bytes of the tables."""
        return self._next.nbytes + self._row_of.nbytes

    def start(self, state: int) -> int:
        """The number of the symbol as it is."""
        return self._number(self._machine.alone(state))

    def stacks(self, config: int) -> Stacks:
        """The set of stacks of a number."""
        return self._sets[config]

    def live(self, config: int) -> dict[int, tuple[int, int]]:
        """Per live byte the set that follows, and no ticks."""
        known = self._live[config]
        return self._expand(config) if known is None else known

    def after(self, config: Ids, byte: NDArray[np.uint8]) -> tuple[Ids, None]:
        """The sets that follow, and no ticks."""
        rows = np.take(self._row_of, config)
        if len(rows) and rows.min() < 0:
            for one in np.unique(config[rows < 0]).tolist():
                self._make_row(one)
            rows = np.take(self._row_of, config)
        return np.take(self._next.reshape(-1), rows * 256 + byte), None

    def _make_row(self, config: int) -> None:
        if self._rows == len(self._next):
            self._next = np.concatenate([self._next, np.zeros_like(self._next)])
        row = self._next[self._rows]
        for byte, (number, _) in self.live(config).items():
            row[byte] = number
        self._row_of[config] = self._rows
        self._rows += 1

    def _expand(self, config: int) -> dict[int, tuple[int, int]]:
        live: dict[int, tuple[int, int]] = {}
        stacks = self._sets[config]
        kinds = self._machine.live_classes(stacks)
        kind = 0
        while kinds >> kind:
            if kinds >> kind & 1:
                number = self._number(self._machine.step_class(stacks, kind))
                live |= dict.fromkeys(self._bytes[kind], (number, 0))
            kind += 1
        self._live[config] = live
        return live

    def _number(self, stacks: Stacks) -> int:
        known = self._ids.get(stacks)
        if known is None:
            known = self._ids[stacks] = len(self._sets)
            self._sets.append(stacks)
            self._live.append(None)
            self.pops.append((0,) if self._machine.is_complete(stacks) else ())
            if len(self._sets) > len(self._row_of):
                unknown = np.full_like(self._row_of, -1)
                self._row_of = np.concatenate([self._row_of, unknown])
        return known


class GrammarTransducer(Transducer):
    """``delta`` of one grammar over one vocabulary, filled as it is asked."""

    _machine: GrammarMachine  # type: ignore[assignment]
    _relatives: RelativeStacks  # type: ignore[assignment]

    def __init__(self, machine: GrammarMachine, trie: Trie) -> None:
        """The transducer of ``machine`` for the tokens of ``trie``."""
        super().__init__(machine, trie)  # type: ignore[arg-type]

    def _new_relatives(self) -> RelativeStacks:  # type: ignore[override]
        return RelativeStacks(self._machine)

    def _counts(self, state: int) -> bool:
        return False

    def stacks(self, config: int) -> Stacks:  # type: ignore[override]
        """The set of stacks of a number."""
        return self._relatives.stacks(config)
