"""What the kernels take for granted about a GPU, as small kernels with twins.

The runner of the tests takes the same for granted, so what is not so on a device would
make tests on other machines worth less.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import mlx.core as mx
import numpy as np

from stcon.metal.kernel import Call, Case, Kernel

_THREADS = 64
_TINY = 2.0**-140  # below the normal float32


class Probe(NamedTuple):
    """An assumption: ``says`` it in words; ``is_needed``: whether the kernels' answers
    depend on it, else only how exactly the head's bits are the twin's."""

    kernel: Kernel[Any]
    says: str
    is_needed: bool


class Values(NamedTuple):
    """One array that a probe reads."""

    x: mx.array


def _call(a: Values, kind: mx.Dtype) -> Call:
    threads = (_THREADS, 1, 1)
    return Call([a.x], [], threads, threads, [(_THREADS,)], [kind])


def _values(name: str, x: Any) -> Iterator[Case]:
    yield Case(name, Values(mx.array(np.asarray(x, np.float32))))


def _random() -> Iterator[Case]:
    yield from _values(
        "64 floats", np.random.default_rng(0).standard_normal(_THREADS) * 1e3
    )


def _lanes_twin(a: Values) -> list[mx.array]:
    return [(3200 + mx.arange(_THREADS) % 32).astype(mx.int32)]


def _sum_twin(a: Values) -> list[mx.array]:
    total = a.x.reshape(2, 32)
    while total.shape[1] > 1:
        total = total[:, ::2] + total[:, 1::2]
    return [mx.repeat(total[:, 0], 32)]


def _kept_twin(a: Values) -> list[mx.array]:
    is_even = mx.arange(_THREADS) % 2 == 0
    return [mx.where(is_even, a.x, mx.array(-np.inf))]


def _products() -> Iterator[Case]:
    """Products whose rounding a fused sum would skip."""
    some = np.random.default_rng(1).standard_normal(_THREADS)
    yield from _values("64 products", some)


def _odd_floats() -> Iterator[Case]:
    odd = [0.0, -0.0, np.inf, -np.inf, _TINY, -_TINY, 1.0, -3.5]
    yield from _values("infinities, zeros, floats below the normal", odd * 8)


LANES: Kernel[Values] = Kernel(
    "stcon_probe_lanes",
    ("x",),
    ("out",),
    """
    uint i = thread_position_in_grid.x;
    uint lane = thread_index_in_simdgroup;
    out[i] = int(threads_per_simdgroup * 100u + lane);
""",
    lambda a: _call(a, mx.int32),
    _lanes_twin,
    _random,
)
SUM: Kernel[Values] = Kernel(
    "stcon_probe_sum",
    ("x",),
    ("out",),
    """
    uint i = thread_position_in_grid.x;
    out[i] = simd_sum(x[i]);
""",
    lambda a: _call(a, mx.float32),
    _sum_twin,
    _random,
)
KEPT: Kernel[Values] = Kernel(
    "stcon_probe_kept",
    ("x",),
    ("out",),
    """
    uint i = thread_position_in_grid.x;
    bool is_even = (i & 1u) == 0u;
    out[i] = is_even ? x[i] : -INFINITY;
""",
    lambda a: _call(a, mx.float32),
    _kept_twin,
    _odd_floats,
)
PRODUCTS: Kernel[Values] = Kernel(
    "stcon_probe_products",
    ("x",),
    ("out",),
    """
    uint i = thread_position_in_grid.x;
    float product = x[i] * x[63u - i];
    out[i] = product + x[(i + 1u) & 63u];
""",
    lambda a: _call(a, mx.float32),
    lambda a: [a.x * a.x[::-1] + mx.roll(a.x, -1)],
    _products,
)

PROBES = (
    Probe(LANES, "a SIMD group has 32 lanes, numbered along the threads", True),
    Probe(KEPT, "a float that is passed on keeps its bits", True),
    Probe(SUM, "simd_sum adds lanes in pairs: 1, 2, 4, 8, 16 apart", False),
    Probe(PRODUCTS, "a product is rounded before it is added", False),
)
