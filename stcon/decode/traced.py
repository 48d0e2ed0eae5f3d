"""The processor for GPUs: states are device values, nothing is read back.

The straight case is a history one token longer than one seen before.  Lengths
are known on the host, contents are not: so the comparison of contents, the step
``table[state, class_of[token]]`` and the mask are all put into the graph, with
plain mlx ops.  A history that matches no remembered one is a new prompt, also
decided in the graph.  The last 256 histories are remembered, and more while
they are short, so that rows of a batch may share one object.  Of those forgotten
before they went on a hash is kept, so that one that goes on is an error and not a
new prompt; both are read when they have long been computed.

A token that contradicts the format cannot raise at once without a stall: it is
flagged in the graph, only end-of-text ids are left open, and the flag is read
some calls later, when it has long been computed.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from stcon.constraints.dfa import DfaConstraint
from stcon.decode.arguments import check_logits, read_history
from stcon.decode.forgotten import WIDTH, Forgotten
from stcon.errors import HistoryError
from stcon.machines.dfa import DEAD

_REMEMBERED = 256
_REMEMBERED_TOKENS = 1 << 22
_FLAG_DELAY = 4


@dataclass(frozen=True)
class _Seen:
    """One call: its history and, as device scalars, the state after it (int32),
    whether its last token went on with a run, and whether that was new."""

    tokens: Any
    length: int
    state: Any
    follows: Any
    is_new: Any


def _goes_on(history: bytes, longer: bytes) -> bool:
    """Whether ``longer`` is ``history`` and one token more."""
    return longer[:-WIDTH] == history


def _is_integer(tokens: Any) -> bool:
    import mlx.core as mx

    return bool(mx.issubdtype(tokens.dtype, mx.integer))


def _masked(state: Any, logits: Any, table: Any, class_of: Any) -> Any:
    """``logits`` with -inf where ``state`` does not allow a token."""
    import mlx.core as mx

    row = mx.take(mx.take(table, state, axis=0) != DEAD, class_of)
    row = row if logits.ndim == 1 else row[None]
    return mx.where(row, logits, mx.array(-np.inf, logits.dtype))


class TracedProcessor:
    """Masks logits inside the graph; for Metal and CUDA.

    ``path``: ``"traced"``: with plain operations; ``"classes"`` and ``"walk"``: with
    the kernels of ``stcon.metal``, whose twins are plain operations of the same bits.
    """

    def __init__(self, constraint: DfaConstraint, path: str = "traced") -> None:
        self._constraint = constraint
        self.path = path
        self._seen: deque[_Seen] = deque()
        self._tokens_held = 0
        self._forgotten = Forgotten()
        self._flags: deque[tuple[Any, int]] = deque()
        self._tables: dict[int, tuple[Any, Any, Any]] = {}
        self._lock = threading.Lock()

    def __call__(self, tokens: Any, logits: Any) -> Any:
        """``logits`` with -inf where the constraint does not allow a token."""
        import mlx.core as mx

        if not isinstance(tokens, mx.array):
            tokens = mx.array(np.frombuffer(read_history(tokens), np.uint32))
        elif tokens.ndim != 1 or not tokens.size or not _is_integer(tokens):
            read_history(tokens)  # raises
        tables = self._on_device(check_logits(logits, self._constraint.vocabulary))
        with self._lock:
            self._raise_flagged()
            self._refuse_forgotten(tokens)
            seen, wrong = self._look_up(tokens, *tables)
        if self.path == "traced":
            masked = _masked(seen.state, logits, *tables[:2])
        else:
            masked = self._masked_by_kernel(seen.state, logits)
        # so that the flags are computed along with the step
        return mx.depends(masked, [seen.follows, seen.is_new, wrong])

    def _masked_by_kernel(self, state: Any, logits: Any) -> Any:
        import mlx.core as mx

        step = self._formats.at(mx.zeros((1,), mx.int32), state.astype(mx.int32)[None])
        masked = step.mask(logits.reshape(1, -1))
        return masked.reshape(logits.shape)

    @cached_property
    def _formats(self) -> Any:
        """The tables of the kernels."""
        from stcon.metal.formats import Formats

        return Formats([self._constraint], path=self.path)

    def _on_device(self, width: int) -> tuple[Any, Any, Any]:
        """The table; the class of each of ``width`` logits; which states have
        ended.  Row 0, dead, opens the end-of-text class here: see above.
        """
        import mlx.core as mx

        if width not in self._tables:
            constraint = self._constraint
            table = constraint.table.astype(np.int32)
            ended = (table[:, :-1] == DEAD).all(axis=1) & (table[:, -1] != DEAD)
            table[DEAD, -1] = constraint.end
            classes = constraint.class_of[:width].astype(np.int32)
            classes = np.pad(classes, (0, width - len(classes)))
            on_device = mx.array(table), mx.array(classes), mx.array(ended)
            self._tables[width] = on_device
        return self._tables[width]

    def _look_up(
        self, tokens: Any, table: Any, class_of: Any, ended: Any
    ) -> tuple[_Seen, Any]:
        """``tokens`` with its state, now remembered; and whether its last token
        was wrong.  The rules are those of ``runs.py``."""
        import mlx.core as mx

        length = int(tokens.shape[0])
        no, start = mx.array(False), mx.array(self._constraint.start, mx.int32)
        asked, before = mx.array(0), start
        for seen in self._of_length(length - 1):
            same = (tokens[:-1] == seen.tokens).all()
            asked = asked + same
            before = mx.where(same, seen.state, before)
        waiting, known, state, follows = asked, no, start, no
        for seen in self._of_length(length):
            same = (tokens[:-1] == seen.tokens[:-1]).all()
            asked = asked - (same & seen.is_new)
            waiting = waiting - (same & seen.follows)
            again = same & (tokens[-1] == seen.tokens[-1])
            state = mx.where(again, seen.state, state)
            follows = mx.where(again, seen.follows, follows)
            known = known | again
        after = table[before, class_of[tokens[-1]]]
        dead = after == DEAD
        is_new = ~known & (asked > 0) & ~(dead & ((waiting <= 0) | ended[before]))
        state = mx.where(is_new, after, state)
        met = _Seen(tokens, length, state, follows | is_new, is_new)
        wrong = is_new & dead
        self._remember(met)
        self._flags.append((wrong, length - 1))
        return met, wrong

    def _remember(self, seen: _Seen) -> None:
        self._seen.append(seen)
        self._tokens_held += seen.length
        while len(self._seen) > _REMEMBERED and self._tokens_held > _REMEMBERED_TOKENS:
            old = self._seen.popleft()
            self._tokens_held -= old.length
            history = read_history(old.tokens)
            nexts = self._of_length(old.length + 1)
            if not any(_goes_on(history, read_history(n.tokens)) for n in nexts):
                self._forgotten.add(history)

    def _refuse_forgotten(self, tokens: Any) -> None:
        """Nothing; raises HistoryError when ``tokens`` goes on with a history that
        had to be forgotten.  Reads ``tokens`` only where the length is one of those."""
        length = int(tokens.shape[0]) - 1
        if not self._forgotten.has_length(length):
            return
        history = read_history(tokens)
        known = self._of_length(length)
        if not any(_goes_on(read_history(old.tokens), history) for old in known):
            self._forgotten.refuse(history, _REMEMBERED_TOKENS)

    def _of_length(self, length: int) -> list[_Seen]:
        """Remembered histories of ``length`` tokens, the latest last."""
        return [seen for seen in self._seen if seen.length == length]

    def _raise_flagged(self) -> None:
        """Nothing; raises HistoryError when a token read some calls ago was
        not allowed."""
        if len(self._flags) < _FLAG_DELAY:
            return
        wrong, position = self._flags.popleft()
        if wrong.item():
            self._flags.clear()
            raise HistoryError(
                f"the token at position {position} of the history was not allowed "
                "there",
                position=position,
                hint="the constraint must be the last logits processor, and the "
                "sampler must not pick tokens at -inf; for a new prompt that "
                "continues an earlier output, pass constraint.fresh()",
            )
