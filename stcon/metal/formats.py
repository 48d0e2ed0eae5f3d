"""The formats of a batch on the device: finite ones, and those with a stack.

What a decoder calls: a step masks logits and advances states, whichever path is
taken, and the bits are the same.  For finite formats class tables are the faster path,
a walk the smaller one: see ``LARGEST_TABLES``.  The third path, rows on demand, is the
host's.  A batch with formats of both kinds takes a step of each: rows of the other kind
have NO_GRAMMAR there, and pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mlx.core as mx

from stcon.constraints.dfa import DfaConstraint
from stcon.constraints.pushdown import PushdownConstraint
from stcon.metal.advance import advance
from stcon.metal.mask import mask
from stcon.metal.pushdown import advance_stacks, mask_stacks
from stcon.metal.stacks import Stacks, StackTables, fitted
from stcon.metal.tables import TokenTables, check_vocabulary
from stcon.metal.walk import ByteTables, mask_walked, step_walked, walk

LARGEST_TABLES = 32_000_000
"""Bytes of class tables in one batch, beyond which tokens are walked.  A row by classes
reads 0.5 MB for 248k tokens and a walk 2.8 MB; on a CPU that takes 2 to 10 times as
long.  But automata are a tenth to a quarter of their class tables (docs/kernels.md)."""

CLASSES, WALK, STACKS = "classes", "walk", "stacks"


class Formats:
    """``constraints`` on the device, numbered from 0; never changes.

    ``path``: ``"classes"`` or ``"walk"``.  ``starts``: int32 [formats], the states
    before the first token.  ``nbytes``: bytes on the device.
    """

    def __init__(
        self,
        constraints: Sequence[DfaConstraint],
        *,
        limits: bool = False,
        path: str | None = None,
    ) -> None:
        """``limits``: whether rows may have a limit on tokens; ``path``: to have one
        path whatever the size.  Raises ValueError as TokenTables does, and for a path
        that is none."""
        if path not in (None, CLASSES, WALK):
            raise ValueError(f"path is 'classes' or 'walk', not {path!r}")
        self.path = path or self._fitting(constraints)
        made = TokenTables if self.path == CLASSES else ByteTables
        self._tables: TokenTables | ByteTables = made(constraints, limits)
        self._count = len(constraints)
        self.starts = self._tables.starts
        self.nbytes = self._tables.nbytes

    @staticmethod
    def _fitting(constraints: Sequence[DfaConstraint]) -> str:
        size = sum(one.table.nbytes for one in constraints)
        return CLASSES if size <= LARGEST_TABLES else WALK

    def at(
        self, grammar: mx.array, state: mx.array, left: mx.array | None = None
    ) -> Step:
        """The step of a batch in these states; the arguments of ``mask``."""
        return Step(self._tables, grammar, state, left)

    def report(self) -> dict[str, Any]:
        """Which path is taken, for how many formats, in how many bytes."""
        return {"path": self.path, "formats": self._count, "bytes": self.nbytes}


@dataclass(frozen=True)
class Step:
    """One step of a batch: a mask, and after sampling the states."""

    tables: TokenTables | ByteTables
    grammar: mx.array
    state: mx.array
    left: mx.array | None

    def mask(self, logits: mx.array) -> mx.array:
        """``logits`` [rows, width] with -inf where a row does not allow the token."""
        if isinstance(self.tables, TokenTables):
            return mask(self.tables, self.grammar, self.state, self.left, logits)
        after = self._walked[:, : logits.shape[1]]
        missing = logits.shape[1] - after.shape[1]
        after = mx.pad(after, [(0, 0), (0, missing)])
        return mask_walked(self.tables, self.grammar, after, self.left, logits)

    def advance(self, token: mx.array) -> tuple[mx.array, mx.array]:
        """The states int32 [rows] after ``token`` [rows], and the tokens left."""
        rows = (self.grammar, self.state, self.left)
        if isinstance(self.tables, TokenTables):
            return advance(self.tables, *rows, token)
        return step_walked(self.tables, *rows, self._walked, token)

    @cached_property
    def _walked(self) -> mx.array:
        """The states after every token, walked once for mask and step."""
        assert isinstance(self.tables, ByteTables)
        return walk(self.tables, self.grammar, self.state, self.tables.tokens)


class StackFormats:
    """``constraints`` with a stack on the device, numbered from 0; never changes.

    ``starts``: the stacks before the first token, a row for each.  ``nbytes``: bytes on
    the device.
    """

    path = STACKS

    def __init__(
        self, constraints: Sequence[PushdownConstraint], *, limits: bool = False
    ) -> None:
        """Raises NotDeterministic for a format that needs several stacks, LimitError
        for one of too many states, and ValueError as ``fitted`` and StackTables do:
        all these keep the host path."""
        check_vocabulary(constraints)
        machines = [fitted(one.machine) for one in constraints]
        self._tables = StackTables(machines, constraints[0].vocabulary, limits)
        self.starts = self._tables.starts
        self.nbytes = self._tables.nbytes

    def at(
        self, grammar: mx.array, stacks: Stacks, left: mx.array | None = None
    ) -> StackStep:
        """The step of a batch with these stacks; the arguments of ``mask_stacks``."""
        return StackStep(self._tables, grammar, stacks, left)

    def report(self) -> dict[str, Any]:
        """Which path is taken, for how many formats, in how many bytes."""
        count = self._tables.grammars
        return {"path": self.path, "formats": count, "bytes": self.nbytes}


@dataclass(frozen=True)
class StackStep:
    """One step of a batch of stacks: a mask, and after sampling the stacks."""

    tables: StackTables
    grammar: mx.array
    stacks: Stacks
    left: mx.array | None

    def mask(self, logits: mx.array) -> mx.array:
        """``logits`` [rows, width] with -inf where a row does not allow the token."""
        return mask_stacks(self.tables, self.grammar, self.stacks, self.left, logits)

    def advance(self, token: mx.array) -> tuple[Stacks, mx.array]:
        """The stacks after ``token`` [rows], and the tokens left int32 [rows]."""
        return advance_stacks(self.tables, self.grammar, self.stacks, self.left, token)
