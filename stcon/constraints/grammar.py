"""A constraint whose machine is that of a grammar: any context-free language.

A state is a set of stacks (``machines/stacks.py``); two sentinels stand for dead and
for the end.  Masks come from the stack-reading transducer: a few lookups once its hops
are known.  Nothing limits how deep an output may nest but its length.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stcon.constraints.constraint import Constraint, LogitsProcessor, State
from stcon.constraints.grammar_costs import GrammarCosts, Read
from stcon.constraints.missing_bytes import (
    gets_stuck,
    missing_bytes,
    refuse_missing,
    usable_bytes,
)
from stcon.constraints.stacked import StackConstraint
from stcon.constraints.storage import write
from stcon.machines.dfa import DEAD
from stcon.machines.grammar import GrammarMachine
from stcon.machines.grammar_shortest import CheapestStack, GrammarShortest
from stcon.machines.grammar_stored import packed
from stcon.machines.limits import Limits
from stcon.machines.stacks import Stacks
from stcon.tokens.displacement import DisplacementClasses
from stcon.tokens.grammar_hops import GrammarTransducer
from stcon.tokens.grammar_table import displacement_classes, fill
from stcon.tokens.hops import NOTHING, ROOT, Hop
from stcon.tokens.mask_classes import MaskClasses

if TYPE_CHECKING:
    from stcon.tokens.vocabulary import Vocabulary

BUILD_LIMITS = Limits(states=200_000, seconds=600.0, bytes=2 << 30)
"""What ``build`` may take; decoding needs none of it."""

_lock = threading.Lock()


class GrammarConstraint(StackConstraint):
    """See Constraint; states are sets of stacks, ``DEAD`` and ``END``."""

    kind = "grammar"
    stacks = Stacks

    def __init__(
        self,
        machine: GrammarMachine,
        vocabulary: Vocabulary,
        bind: Callable[[Constraint], LogitsProcessor],
        notes: dict[str, Any] | None = None,
    ) -> None:
        """``notes``: what ``report`` says beside sizes."""
        super().__init__(bind)
        self.machine = machine
        self.vocabulary = vocabulary
        self.start = machine.start
        self.notes = notes or {}
        self._transducer: GrammarTransducer | None = None
        self._refuse_dead_ends()

    @property
    def transducer(self) -> GrammarTransducer:
        """Made at the first mask."""
        with _lock:
            if self._transducer is None:
                self._transducer = GrammarTransducer(self.machine, self.vocabulary.trie)
            return self._transducer

    def build(
        self,
        progress: Callable[[int, int], None] | None = None,
        limits: Limits = BUILD_LIMITS,
    ) -> int:
        """How many hops there are; works out all that an output can meet, or reads
        them from the cache folder, where they are kept for this grammar and tokenizer.

        ``progress``: told how many are done, and how many are known of.  Cost: 0.1 s
        for JSON, 10 to 25 s for SQL or a programming language (128k tokens); 0.3 s to
        read.  Without it hops are worked out as outputs come to them, 2 ms each.
        Raises LimitError over ``limits`` (hops, seconds, bytes).
        """
        report = progress or _unreported
        fill(self.transducer, self.vocabulary.fingerprint, report, limits)
        return len(self.transducer.hops)

    def mask_classes(self) -> MaskClasses:
        """The classes of tokens that no hop known so far tells apart; after ``build``
        those that no place of the grammar does."""
        return MaskClasses(self.transducer.hops.values(), self.vocabulary.size)

    def displacement_classes(
        self,
        progress: Callable[[int, int], None] | None = None,
        limits: Limits = BUILD_LIMITS,
    ) -> DisplacementClasses:
        """The classes of tokens that do the same to every stack an output can have;
        those that end an output are one.

        ``progress``, ``limits``, errors and cost as of ``build``, which this includes
        unless the classes are in the cache folder; there they take 1 ms to read.
        """
        report = progress or _unreported
        known_as = self.vocabulary.fingerprint
        found = displacement_classes(self.transducer, known_as, report, limits)
        return found.with_class_of_ends(self.vocabulary.eos_ids)

    def allowed(self, state: State) -> NDArray[np.bool_]:
        """bool [vocabulary size]: which tokens may come next."""
        row = np.zeros(self.vocabulary.size, np.bool_)
        for hop in self._hops(state):
            hop.paint(row, None)
        row[list(self.vocabulary.eos_ids)] = self.is_complete(state)
        return row

    def row_key(self, state: State) -> Hashable:
        """What the row of ``state`` depends on: the tokens of its hops."""
        digests = frozenset(hop.digest for hop in self._hops(state))
        return digests, self.is_complete(state)

    def _hops(self, state: State) -> list[Hop]:
        delta = self.transducer.delta
        return [delta(pending, symbol) for pending, symbol, _ in self._reads(state)]

    def _reads(self, state: State) -> list[Read]:
        """(P, symbol, what is below) of all that is met while the stacks are read
        from the top."""
        if not isinstance(state, Stacks):
            return []
        delta = self.transducer.delta
        found: list[Read] = []
        todo = [(ROOT, state)]
        seen = set(todo)
        for pending, stacks in todo:
            for symbol, below in stacks.cells:
                found.append((pending, symbol, below))
                rest = delta(pending, symbol).rest(None)
                if rest != NOTHING and below.cells and (rest, below) not in seen:
                    seen.add((rest, below))
                    todo.append((rest, below))
        return found

    def read(self, state: State, data: bytes) -> State:
        """The state after the bytes ``data``, or ``DEAD``."""
        if not isinstance(state, Stacks):
            return DEAD if data else state
        after = self.machine.run(state, data)
        return after if after.cells or after.has_empty else DEAD

    def shortest(self, state: State) -> bytes:
        """A shortest text that completes the output from ``state``.

        Raises LimitError when it is longer than a million bytes.
        """
        if not isinstance(state, Stacks):
            return b""
        return bytes(choices[0] for choices in self._cheapest.text(state))

    @cached_property
    def _shortest(self) -> GrammarShortest:
        return GrammarShortest(self.machine, usable_bytes(self.vocabulary))

    @cached_property
    def _cheapest(self) -> CheapestStack:
        return CheapestStack(self._shortest.of_state, self._shortest)

    @cached_property
    def costs(self) -> GrammarCosts:
        """See Constraint; made at the first limit on tokens."""
        return GrammarCosts(
            self.machine,
            self.vocabulary,
            self.transducer,
            self._shortest,
            self._reads,
        )

    def report(self) -> dict[str, Any]:
        """How the format is enforced: machine kind, states, bytes; and which rules
        the grammar does not need."""
        return {
            "kind": self.kind,
            "states": self.machine.states,
            "bytes": self.nbytes,
            **self.notes,
        }

    def save(self, path: str | Path) -> None:
        """Nothing; writes the constraint to ``path`` for ``stcon.load``."""
        arrays, facts = packed(self.machine)
        notes = {"notes": self.notes, "machine": facts}
        write(Path(path), self.kind, self.vocabulary.fingerprint, arrays, notes)

    def _refuse_dead_ends(self) -> None:
        """Nothing; raises VocabularyError unless every state that bytes of tokens
        reach can be finished with one-byte tokens.

        That is stricter than need be: it does not look at longer tokens.
        """
        network = self.machine.network
        lacking = missing_bytes(network, usable_bytes(self.vocabulary))
        if lacking and gets_stuck(network, self._shortest, self.vocabulary):
            refuse_missing(lacking)


def _unreported(done: int, known: int) -> None:
    """Nothing."""
