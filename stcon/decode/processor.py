"""A constraint as an mlx-lm logits processor.

Two paths, equal bit for bit but for pinned text.  On the CPU backend the history is
read, the state looked up and a kept numpy row applied (``HostProcessor``).  On a GPU
reading a token would stall the pipeline, in which mlx-lm prepares step n + 1 before
step n is known; there everything is a function of device values (``traced.py``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from stcon.constraints.budget import BudgetConstraint
from stcon.constraints.constraint import Constraint, LogitsProcessor
from stcon.constraints.dfa import DfaConstraint
from stcon.cpu.rows import Rows
from stcon.decode.arguments import check_logits, read_history
from stcon.decode.masks import Masks
from stcon.decode.pins import Pins
from stcon.decode.runs import Runs

ON_DEVICE = ("traced", "classes", "walk")
"""The paths that read nothing back: with plain operations, the default on GPUs, and
with kernels, which ``python -m stcon doctor`` tries on the machine at hand."""


def bind(path: str | None) -> Callable[[Constraint], LogitsProcessor]:
    """What makes the processor of a constraint.

    ``path``: ``"host"``; ``"traced"``, ``"classes"`` or ``"walk"``, see
    TracedProcessor; or None for the one that suits mlx's default device at the first
    call.
    """
    return lambda constraint: make_processor(constraint, path)


def make_processor(constraint: Constraint, path: str | None = None) -> LogitsProcessor:
    """The processor of ``constraint``; see ``bind``.

    A pushdown has no traced path yet, nor has a limit on tokens: on a GPU they run
    on the host path.
    """
    from stcon.decode.traced import TracedProcessor

    check_path(path, isinstance(constraint, BudgetConstraint))
    if path in ON_DEVICE and not isinstance(constraint, DfaConstraint):
        raise ValueError(f"a {constraint.kind} constraint has only the host path")
    if isinstance(constraint, DfaConstraint) and (path in ON_DEVICE or on_gpu(path)):
        return TracedProcessor(constraint, path or ON_DEVICE[0])
    return HostProcessor(constraint)


def check_path(path: str | None, has_limit: bool = False) -> None:
    """Nothing; raises ValueError for a path that is none, or that cannot keep a limit
    on tokens."""
    if path not in (None, "host", *ON_DEVICE):
        raise ValueError(
            f"path is 'host' or 'traced', 'classes' or 'walk', not {path!r}"
        )
    if path in ON_DEVICE and has_limit:
        raise ValueError("a limit on tokens is kept on the host path only")


def on_gpu(path: str | None) -> bool:
    """Whether no path was asked for and mlx computes on a GPU, so that the traced
    path is the better one."""
    import mlx.core as mx

    return path is None and bool(mx.default_device() == mx.gpu)


class HostProcessor:
    """Masks logits after reading the history on the host.

    ``pins``: whether forced text is written in the tokenizer's own split; else any
    split of it is allowed.
    """

    path = "host"

    def __init__(
        self, constraint: Constraint, rows: Rows | None = None, pins: bool = True
    ) -> None:
        self._vocabulary = constraint.vocabulary
        self._masks = Masks(constraint, rows)
        self._pins = Pins(constraint) if pins else None
        self._runs = Runs(self._pins or constraint)
        self._lock = threading.Lock()

    def __call__(self, tokens: Any, logits: Any) -> Any:
        """``logits`` with -inf where the constraint does not allow a token."""
        import mlx.core as mx

        row = self.row(tokens, check_logits(logits, self._vocabulary))
        if logits.ndim == 1:
            row = row[0]
        return mx.where(row, logits, mx.array(-np.inf, logits.dtype))

    def row(self, tokens: Any, width: int) -> Any:
        """bool mlx array [1, width]: what may follow the history ``tokens``."""
        history = read_history(tokens)
        with self._lock:
            if self._pins is not None:
                self._pins.width = width
            state = self._runs.state(history)
        if self._pins is None:
            return self._masks.row(state, width)
        return self._masks.pinned(state, width)
