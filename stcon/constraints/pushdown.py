"""A constraint whose machine is a pushdown: formats that contain themselves.

A state is a configuration of the machine, a set of stacks; two sentinels stand
for dead and for the end.  Masks come from the stack-reading transducer, so a
mask costs a few lookups once its hops are known.  Outputs may nest ``depth``
levels (64 unless asked otherwise); that limit is part of the format, and going
beyond it is an error while decoding, not a silent cut.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stcon.constraints.constraint import Constraint, LogitsProcessor, State
from stcon.constraints.missing_bytes import refuse_missing
from stcon.constraints.pushdown_costs import PushdownCosts
from stcon.constraints.stacked import StackConstraint
from stcon.constraints.storage import write
from stcon.constraints.unfinishable import unfinishable
from stcon.machines.dfa import DEAD
from stcon.machines.frames import Window
from stcon.machines.pushdown import Cell, Pushdown
from stcon.machines.stored import packed
from stcon.tokens.hops import NOTHING, ROOT, Hop
from stcon.tokens.transducer import Transducer

if TYPE_CHECKING:
    from stcon.tokens.vocabulary import Vocabulary

_lock = threading.Lock()


class PushdownConstraint(StackConstraint):
    """See Constraint; states are configurations, ``DEAD`` and ``END``."""

    kind = "pushdown"
    stacks = frozenset

    def __init__(
        self,
        machine: Pushdown,
        vocabulary: Vocabulary,
        bind: Callable[[Constraint], LogitsProcessor],
        notes: dict[str, Any] | None = None,
        standard: Sequence[str | int] = (),
    ) -> None:
        """``standard``: the name of the standard rules of ``machine``."""
        super().__init__(bind)
        self.machine = machine
        self.vocabulary = vocabulary
        self.start = machine.start
        self.notes = notes or {}
        self._standard = standard
        self._transducer: Transducer | None = None
        self._refuse_dead_ends()

    @property
    def transducer(self) -> Transducer:
        """Made at the first mask; what the standard rules need is shared."""
        with _lock:  # of two, each would number its sets of nodes in its own way
            if self._transducer is None:
                shared = self.machine.standard
                standard = self.vocabulary.transducer(shared) if shared else None
                trie = self.vocabulary.trie
                self._transducer = Transducer(self.machine, trie, standard)
            return self._transducer

    def allowed(self, state: State) -> NDArray[np.bool_]:
        """bool [vocabulary size]: which tokens may come next."""
        row = np.zeros(self.vocabulary.size, np.bool_)
        for hop, window in self._hops(state):
            hop.paint(row, window)
        row[list(self.vocabulary.eos_ids)] = self.is_complete(state)
        return row

    def row_key(self, state: State) -> Hashable:
        """What the row of ``state`` depends on: the tokens of its hops, and the
        windows as far as a token can tell.  The places of a form share most."""
        hops = frozenset(
            (hop.digest, hop.window(window))
            for hop, window in self._hops(state)
            if hop.digest
        )
        return hops, self.is_complete(state)

    def _hops(self, state: State) -> Iterator[tuple[Hop, Window | None]]:
        for pending, cell in self._reads(state):
            yield self.transducer.delta(pending, cell[0]), cell[3]

    def _reads(self, state: State) -> list[tuple[int, Cell]]:
        """The pairs (P, cell) met while reading the stacks from the top."""
        if not isinstance(state, frozenset):
            return []
        todo = [(ROOT, cell) for cell in state]
        for pending, (symbol, below, _, window) in todo:
            hop = self.transducer.delta(pending, symbol)
            rest = hop.rest(hop.window(window))
            if rest != NOTHING and below is not None and (rest, below) not in todo:
                todo.append((rest, below))
        return todo

    def read(self, state: State, data: bytes) -> State:
        """The state after the bytes ``data``, or ``DEAD``."""
        if not isinstance(state, frozenset):
            return DEAD if data else state
        return self.machine.run(state, data) or DEAD

    def shortest(self, state: State) -> bytes:
        """A shortest text that completes the output from ``state``."""
        return self.machine.shortest(state) if isinstance(state, frozenset) else b""

    @cached_property
    def costs(self) -> PushdownCosts:
        """See Constraint; made at the first limit on tokens."""
        return PushdownCosts(
            self.machine, self.vocabulary, self.transducer, self._reads
        )

    def report(self) -> dict[str, Any]:
        """How the format is enforced: machine kind, states, depth, bytes."""
        return {
            "kind": self.kind,
            "states": self.machine.states,
            "depth": self.machine.depth,
            "bytes": self.nbytes,
            **self.notes,
        }

    def save(self, path: str | Path) -> None:
        """Nothing; writes the constraint to ``path`` for ``stcon.load``."""
        arrays, facts = packed(self.machine)
        notes = {
            "notes": self.notes,
            "machine": facts,
            "standard": list(self._standard),
        }
        write(Path(path), self.kind, self.vocabulary.fingerprint, arrays, notes)

    def _refuse_dead_ends(self) -> None:
        """Nothing; raises VocabularyError unless every state that bytes of
        tokens reach can be finished with one-byte tokens.

        That is stricter than need be: it does not look at longer tokens.
        """
        lacking = unfinishable(self.machine, self.vocabulary)
        if lacking:
            refuse_missing(lacking)
