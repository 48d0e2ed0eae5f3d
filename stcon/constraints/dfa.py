"""A constraint whose machine is a DFA: one table of kilobytes.

``table[state, class_of[token]]`` is the state after a token.  Two additions to
the token classes make the table the whole truth: a class of its own for the
end-of-text ids, and a state ``end`` after one of them, where only they are
open.  A mask is one gather, ``take(table[state] != 0, class_of)``, in numpy
here and in mlx on a device.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stcon.constraints.constraint import Constraint, LogitsProcessor
from stcon.constraints.dead_ends import refuse_dead_ends
from stcon.constraints.dfa_costs import DfaCosts
from stcon.constraints.storage import write
from stcon.errors import StconError
from stcon.machines.dfa import DEAD, Dfa
from stcon.machines.limits import Limits, Meter
from stcon.tokens.classes import classify
from stcon.tokens.displacement import DisplacementClasses

if TYPE_CHECKING:
    from stcon.tokens.vocabulary import Vocabulary

Table = NDArray[np.int16] | NDArray[np.int32]


class DfaConstraint(Constraint):
    """See Constraint; states are the automaton's, then ``end``.

    ``table``: int16 or int32 [states + 1, classes + 1].
    ``class_of``: uint16 or int32 [vocabulary size].
    """

    kind = "dfa"

    def __init__(
        self,
        dfa: Dfa,
        vocabulary: Vocabulary,
        table: Table,
        class_of: NDArray[np.uint16] | NDArray[np.int32],
        bind: Callable[[Constraint], LogitsProcessor],
        notes: dict[str, Any],
    ) -> None:
        super().__init__(bind)
        self.dfa = dfa
        self.vocabulary = vocabulary
        self.table = table
        self.class_of = class_of
        self.start = dfa.start
        self.end = dfa.states
        self.notes = notes

    @staticmethod
    def of(
        dfa: Dfa,
        vocabulary: Vocabulary,
        bind: Callable[[Constraint], LogitsProcessor],
        limits: Limits | Meter | None = None,
        notes: dict[str, Any] | None = None,
    ) -> DfaConstraint:
        """The constraint of ``dfa`` over ``vocabulary``.

        Raises LimitError when the table is too large, VocabularyError when the
        tokens cannot write every text the automaton asks for, and StconError
        when it accepts none.
        """
        if dfa.start == DEAD:
            raise StconError("no text at all is in this format")
        classes = classify(dfa, vocabulary.trie, Meter.of(limits))
        table, class_of = _with_end(classes.next, classes.class_of, dfa, vocabulary)
        refuse_dead_ends(dfa, table, vocabulary)
        return DfaConstraint(dfa, vocabulary, table, class_of, bind, notes or {})

    def build(
        self,
        progress: Callable[[int, int], None] | None = None,
        limits: Limits | None = None,
    ) -> int:
        """How many states there are; all that masks need is there already.  For
        grammars that became a finite automaton; see GrammarConstraint."""
        count = len(self.table)
        if progress:
            progress(count, count)
        return count

    def displacement_classes(
        self,
        progress: Callable[[int, int], None] | None = None,
        limits: Limits | None = None,
    ) -> DisplacementClasses:
        """The classes of tokens that do the same in every state; those that end an
        output are one.  See GrammarConstraint."""
        numbers = np.unique(self.class_of, return_inverse=True)[1]
        return DisplacementClasses(numbers.reshape(-1).astype(np.int32))

    def advance(self, state: int, token: int) -> int:
        """The state after ``token``; ``DEAD`` when it is not allowed."""
        if not 0 <= token < len(self.class_of):
            return DEAD
        return int(self.table[state, self.class_of[token]])

    def allowed(self, state: int) -> NDArray[np.bool_]:
        """bool [vocabulary size]: which tokens may come next (0.15 ms for 248k)."""
        row: NDArray[np.bool_] = np.take(self.table[state] != DEAD, self.class_of)
        return row

    def open_classes(self, state: int) -> NDArray[np.bool_]:
        """bool [classes + 1]: which token classes are open."""
        is_open: NDArray[np.bool_] = self.table[state] != DEAD
        return is_open

    def row_key(self, state: int) -> bytes:
        """What the row of ``state`` depends on: its set of open classes."""
        return np.packbits(self.open_classes(state)).tobytes()

    def is_complete(self, state: int) -> bool:
        """Whether the output may end in ``state``."""
        return state == self.end or bool(self.dfa.accepts[state])

    def read(self, state: int, data: bytes) -> int:
        """The state after the bytes ``data``, or ``DEAD``."""
        if state == self.end:
            return DEAD if data else state
        return self.dfa.run(data, state)

    def live(self, state: int) -> tuple[int, ...]:
        """The bytes that may come next, ascending."""
        return () if state == self.end else self.dfa.live(state)

    def forced(self, state: int) -> bytes:
        """The text that every valid continuation of ``state`` starts with."""
        return b"" if state == self.end else self.dfa.forced(state)

    def shortest(self, state: int) -> bytes:
        """A shortest text that completes the output from ``state``."""
        return b"" if state == self.end else self.dfa.shortest(state)

    @cached_property
    def costs(self) -> DfaCosts:
        """See Constraint; made at the first limit on tokens."""
        accepts = self.dfa.accepts
        return DfaCosts(self.table, self.class_of, accepts, self.vocabulary)

    @cached_property
    def nbytes(self) -> int:
        """Size of the automaton and the token table in bytes, and of the 2
        bytes a token that say its class."""
        return self.dfa.nbytes + self.table.nbytes + self.class_of.nbytes

    def report(self) -> dict[str, Any]:
        """How the format is enforced: machine kind, states, classes, bytes."""
        return {
            "kind": self.kind,
            "states": self.dfa.states,
            "byte_classes": self.dfa.next.shape[1],
            "token_classes": self.table.shape[1],
            "bytes": self.nbytes,
            "path": getattr(self._processor, "path", None),  # None before it is used
            **self.notes,
        }

    def save(self, path: str | Path) -> None:
        """Nothing; writes the constraint to ``path`` for ``stcon.load``."""
        arrays: dict[str, NDArray[Any]] = {
            "next": self.dfa.next,
            "byte_class": self.dfa.byte_class,
            "accepts": self.dfa.accepts,
            "table": self.table,
            "class_of": self.class_of,
        }
        write(Path(path), self.kind, self.vocabulary.fingerprint, arrays, self.notes)


def _with_end(
    table: Table,
    class_of: NDArray[np.uint16] | NDArray[np.int32],
    dfa: Dfa,
    vocabulary: Vocabulary,
) -> tuple[Table, NDArray[np.uint16] | NDArray[np.int32]]:
    """The token table with the class of the end-of-text ids and the state
    after them."""
    states, classes = table.shape
    kind = np.int16 if states < (1 << 15) - 1 else np.int32
    whole = np.zeros((states + 1, classes + 1), kind)
    whole[:states, :classes] = table
    whole[:states, classes] = np.where(dfa.accepts, states, DEAD)
    whole[states, classes] = states
    wide = class_of if classes < (1 << 16) else class_of.astype(np.int32)
    wide = wide.copy()
    wide[list(vocabulary.eos_ids)] = classes
    return whole, wide
