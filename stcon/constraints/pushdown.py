"""A constraint whose machine is a pushdown: formats that contain themselves.

A state is a configuration of the machine, a set of stacks; two sentinels stand
for dead and for the end.  Masks come from the stack-reading transducer, so a
mask costs a few lookups once its hops are known.  Outputs may nest ``depth``
levels (64 unless asked otherwise); that limit is part of the format, and going
beyond it is an error while decoding, not a silent cut.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from stcon.constraints.constraint import Constraint, LogitsProcessor, State
from stcon.constraints.storage import write
from stcon.errors import VocabularyError
from stcon.machines.dfa import DEAD
from stcon.machines.pushdown import Pushdown
from stcon.tokens.transducer import NOTHING, ROOT, Hop, Transducer

if TYPE_CHECKING:
    from stcon.tokens.vocabulary import Vocabulary

END = -1


class PushdownConstraint(Constraint):
    """See Constraint; states are configurations, ``DEAD`` and ``END``."""

    kind = "pushdown"

    def __init__(
        self,
        machine: Pushdown,
        vocabulary: Vocabulary,
        bind: Callable[[Constraint], LogitsProcessor],
        notes: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(bind)
        self.machine = machine
        self.vocabulary = vocabulary
        self.start = machine.start
        self.notes = notes or {}
        self._refuse_dead_ends()

    @cached_property
    def transducer(self) -> Transducer:
        """Made at the first mask: an index of the vocabulary, 30 ms."""
        return Transducer(self.machine, self.vocabulary.trie)

    def advance(self, state: State, token: int) -> State:
        """The state after ``token``; ``DEAD`` when it is not allowed.

        Raises LimitError when the output would nest too deep.
        """
        if token in self.vocabulary.eos_ids:
            return END if self.is_complete(state) else DEAD
        if not 0 <= token < self.vocabulary.size or not self.vocabulary.is_text(token):
            return DEAD
        return self.read(state, self.vocabulary.token_bytes(token))

    def allowed(self, state: State) -> NDArray[np.bool_]:
        """bool [vocabulary size]: which tokens may come next."""
        row = np.zeros(self.vocabulary.size, np.bool_)
        for hop in self._hops(state):
            row[hop.tokens] = True
        row[list(self.vocabulary.eos_ids)] = self.is_complete(state)
        return row

    def row_key(self, state: State) -> Hashable:
        """What the row of ``state`` depends on: the symbols its tokens pop."""
        hops = tuple(sorted((p, cell[0]) for p, cell in self._reads(state)))
        return hops, self.is_complete(state)

    def _hops(self, state: State) -> Iterator[Hop]:
        for pending, cell in self._reads(state):
            yield self.transducer.delta(pending, cell[0])

    def _reads(self, state: State) -> list[tuple[int, Any]]:
        """The pairs (P, cell) met while reading the stacks from the top."""
        if not isinstance(state, frozenset):
            return []
        todo = [(ROOT, cell) for cell in state]
        for pending, (symbol, below, _) in todo:
            rest = self.transducer.delta(pending, symbol).rest
            if rest != NOTHING and below is not None and (rest, below) not in todo:
                todo.append((rest, below))
        return todo

    def is_complete(self, state: State) -> bool:
        """Whether the output may end in ``state``."""
        if isinstance(state, frozenset):
            return self.machine.is_complete(state)
        return bool(state == END)

    def read(self, state: State, data: bytes) -> State:
        """The state after the bytes ``data``, or ``DEAD``."""
        if not isinstance(state, frozenset):
            return DEAD if data else state
        return self.machine.run(state, data) or DEAD

    def live(self, state: State) -> tuple[int, ...]:
        """The bytes that may come next, ascending."""
        return self.machine.live(state) if isinstance(state, frozenset) else ()

    def forced(self, state: State) -> bytes:
        """The text that every valid continuation of ``state`` starts with."""
        out = bytearray()
        while len(live := self.live(state)) == 1 and not self.is_complete(state):
            out += bytes(live)
            state = self.read(state, bytes(live))
        return bytes(out)

    def shortest(self, state: State) -> bytes:
        """A shortest text that completes the output from ``state``."""
        return self.machine.shortest(state) if isinstance(state, frozenset) else b""

    @property
    def nbytes(self) -> int:
        """Size of the machine and of the hops worked out so far, in bytes."""
        made = "transducer" in self.__dict__
        return self.machine.nbytes + (self.transducer.nbytes if made else 0)

    def report(self) -> dict[str, Any]:
        """How the format is enforced: machine kind, states, depth, bytes."""
        return {
            "kind": self.kind,
            "states": self.machine.states,
            "byte_classes": self.machine.next.shape[1],
            "depth": self.machine.depth,
            "bytes": self.nbytes,
            **self.notes,
        }

    def save(self, path: str | Path) -> None:
        """Nothing; writes the constraint to ``path`` for ``stcon.load``."""
        machine = self.machine
        calls = [(q, s, r) for q, at in enumerate(machine.calls) for s, r in at]
        arrays: dict[str, NDArray[Any]] = {
            "next": machine.next,
            "byte_class": machine.byte_class,
            "accepts": machine.accepts,
            "calls": np.array(calls, np.int32).reshape(-1, 3),
            "start_and_depth": np.array([machine.start_state, machine.depth]),
        }
        write(Path(path), self.kind, self.vocabulary.fingerprint, arrays, self.notes)

    def _refuse_dead_ends(self) -> None:
        """Nothing; raises VocabularyError unless every state that bytes of
        tokens reach can be finished with one-byte tokens.

        That is stricter than need be: it does not look at longer tokens.
        """
        vocabulary, byte_class = self.vocabulary, self.machine.byte_class
        classes = self.machine.next.shape[1]
        occurring, single = (np.zeros(classes, np.bool_) for _ in range(2))
        occurring[byte_class[np.unique(vocabulary.data)]] = True
        single[byte_class[vocabulary.byte_tokens >= 0]] = True
        stuck = self.machine.reached(occurring) & ~self.machine.finishing(single)
        if stuck.any():
            self._refuse(int(np.argmax(stuck)))

    def _refuse(self, state: int) -> NoReturn:
        byte_class = self.machine.byte_class
        missing = self.vocabulary.byte_tokens < 0
        here = (self.machine.next[state] != DEAD)[byte_class] & missing
        anywhere = (self.machine.next != DEAD).any(axis=0)[byte_class] & missing
        lacking = np.flatnonzero(here if here.any() else anywhere)
        shown = ", ".join(repr(bytes([b]))[1:] for b in lacking[:20].tolist())
        raise VocabularyError(
            f"no token of this vocabulary is just the byte {shown}, and without it "
            "the format may get stuck",
            hint="a format that contains itself needs one-byte tokens to finish "
            "from everywhere; use a byte-level tokenizer",
        )


def unpack(arrays: dict[str, NDArray[Any]]) -> Pushdown:
    """The machine that ``PushdownConstraint.save`` packed."""
    start, depth = arrays["start_and_depth"].tolist()
    calls: list[list[tuple[int, int]]] = [[] for _ in arrays["next"]]
    for state, entry, back in arrays["calls"].tolist():
        calls[state].append((entry, back))
    return Pushdown(
        arrays["next"],
        arrays["byte_class"],
        arrays["accepts"],
        tuple(tuple(pairs) for pairs in calls),
        start,
        depth,
    )
