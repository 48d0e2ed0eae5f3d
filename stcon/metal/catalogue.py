"""All kernels, for tests and for the doctor."""

from __future__ import annotations

from typing import Any

from stcon.metal import advance, mask, pushdown, sparse_head, walk
from stcon.metal.kernel import Kernel

KERNELS: tuple[Kernel[Any], ...] = (
    mask.KERNEL,
    advance.KERNEL,
    walk.KERNEL,
    pushdown.MASK,
    pushdown.ADVANCE,
    sparse_head.DENSE,
    sparse_head.QUANTISED,
)
