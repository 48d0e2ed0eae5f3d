"""The logits of some tokens alone: chosen rows of the output head times one vector.

Where a format allows few tokens the rest of the head need not be read: of 248,320 rows
of 2,048 weights in 4 bits, 286 MB, ten tokens take 12 kB.  A SIMD group a row, each
lane a word of weights at a time.

The order of the sums is part of the contract: a lane adds its words in turn, then lanes
are added in pairs (1, 2, 4, 8, 16 apart), all in float32.  The twin does the same, so
that a device that does not contract products and sums gives its bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import mlx.core as mx
import numpy as np

from stcon.metal.kernel import Call, Case, Kernel, check
from stcon.metal.samples import BATCHES, FLOATS

_LANES = 32
_DENSE_WORD = 4  # weights that a lane reads at a time
_BITS = (2, 4, 8)
_GROUPS = (32, 64, 128)

_DENSE_SOURCE = """
    uint m = thread_position_in_grid.y;
    uint lane = thread_index_in_simdgroup;
    uint row = uint(rows[m]) * uint(K);
    float total = 0.0f;
    for (uint k = 4 * lane; k < uint(K); k += 128) {
        float dot = 0.0f;
        for (uint j = 0; j < 4; ++j) {
            dot += float(x[k + j]) * float(weight[row + k + j]);
        }
        total += dot;
    }
    total = simd_sum(total);
    if (lane == 0) { out[m] = static_cast<T>(total); }
"""

_QUANTISED_SOURCE = """
    uint m = thread_position_in_grid.y;
    uint lane = thread_index_in_simdgroup;
    uint n = uint(rows[m]);
    uint word = n * uint(K / PER);
    uint group = n * uint(K / G);
    float total = 0.0f;
    for (uint k = uint(PER) * lane; k < uint(K); k += 32 * uint(PER)) {
        uint rest = weight[word + k / uint(PER)];
        float dot = 0.0f;
        float sum = 0.0f;
        for (uint j = 0; j < uint(PER); ++j) {
            float value = float(x[k + j]);
            dot += value * float(rest & ((1u << uint(BITS)) - 1u));
            sum += value;
            rest >>= uint(BITS);
        }
        float scale = float(scales[group + k / uint(G)]);
        float bias = float(biases[group + k / uint(G)]);
        total += scale * dot + bias * sum;
    }
    total = simd_sum(total);
    if (lane == 0) { out[m] = static_cast<T>(total); }
"""


class Dense(NamedTuple):
    """See ``dense_head``."""

    x: mx.array
    rows: mx.array
    weight: mx.array


class Quantised(NamedTuple):
    """See ``quantised_head``."""

    x: mx.array
    rows: mx.array
    weight: mx.array
    scales: mx.array
    biases: mx.array
    bits: int
    group_size: int


def dense_head(x: mx.array, rows: mx.array, weight: mx.array) -> mx.array:
    """``x @ weight[rows].T``, summed in float32: [chosen rows], of the dtype of ``x``.

    ``x``: float32, float16 or bfloat16 [size], a multiple of 4.  ``rows``: int32 or
    uint32 [chosen rows].  ``weight``: float of any of these [tokens, size].
    Raises ValueError for other shapes or dtypes.
    """
    return DENSE(checked_dense(x, rows, weight))[0]


def quantised_head(
    x: mx.array,
    rows: mx.array,
    weight: mx.array,
    scales: mx.array,
    biases: mx.array,
    *,
    bits: int,
    group_size: int,
) -> mx.array:
    """``dense_head`` for a weight as ``mx.quantize(..., mode="affine")`` makes it.

    ``weight``: uint32 [tokens, size * bits / 32]; ``scales``, ``biases``: float
    [tokens, size / group_size]; ``bits``: 2, 4 or 8; ``group_size``: 32, 64 or 128.
    Raises ValueError for others: 3, 5 and 6 bits lie across words.
    """
    found = checked_quantised(x, rows, weight, scales, biases, bits, group_size)
    return QUANTISED(found)[0]


def checked_dense(x: mx.array, rows: mx.array, weight: mx.array) -> Dense:
    """The arguments of ``dense_head``, with its errors."""
    check("x", x, (-1,), *FLOATS)
    check("rows", rows, (-1,), mx.int32, mx.uint32)
    check("weight", weight, (-1, x.shape[0]), *FLOATS)
    if x.shape[0] % _DENSE_WORD:
        raise ValueError(f"the size of x is a multiple of 4, not {x.shape[0]}")
    return Dense(x, rows, weight)


def checked_quantised(
    x: mx.array,
    rows: mx.array,
    weight: mx.array,
    scales: mx.array,
    biases: mx.array,
    bits: int,
    group_size: int,
) -> Quantised:
    """The arguments of ``quantised_head``, with its errors."""
    if bits not in _BITS or group_size not in _GROUPS:
        raise ValueError(
            f"bits are {_BITS} and groups {_GROUPS}, not {bits} and {group_size}"
        )
    check("x", x, (-1,), *FLOATS)
    check("rows", rows, (-1,), mx.int32, mx.uint32)
    tokens, size = weight.shape[0], x.shape[0]
    if size % group_size:
        raise ValueError(f"x has {size} entries, which are no groups of {group_size}")
    check("weight", weight, (tokens, size * bits // 32), mx.uint32)
    check("scales", scales, (tokens, size // group_size), *FLOATS)
    check("biases", biases, (tokens, size // group_size), *FLOATS)
    return Quantised(x, rows, weight, scales, biases, bits, group_size)


def _plan_dense(a: Dense) -> Call:
    return _head_call(a, [a.x, a.rows, a.weight], [])


def _plan_quantised(a: Quantised) -> Call:
    template = [("PER", 32 // a.bits), ("BITS", a.bits), ("G", a.group_size)]
    return _head_call(a, [a.x, a.rows, a.weight, a.scales, a.biases], template)


def _head_call(
    a: Dense | Quantised, inputs: list[mx.array], template: list[tuple[str, int]]
) -> Call:
    rows = a.rows.shape[0]
    return Call(
        inputs,
        [("T", a.x.dtype), ("K", a.x.shape[0]), *template],
        (_LANES, rows, 1),
        (_LANES, 1, 1),
        [(rows,)],
        [a.x.dtype],
    )


def _twin_dense(a: Dense) -> list[mx.array]:
    x = _by_lane(a.x[None].astype(mx.float32), _DENSE_WORD)
    weight = _by_lane(a.weight[a.rows].astype(mx.float32), _DENSE_WORD)
    total = _lanes_added(_in_turn(x * weight, axis=3))
    return [total.astype(a.x.dtype)]


def _twin_quantised(a: Quantised) -> list[mx.array]:
    per = 32 // a.bits
    x = _by_lane(a.x[None].astype(mx.float32), per)
    shifts = mx.arange(per).astype(mx.uint32) * a.bits
    values = (a.weight[a.rows][:, :, None] >> shifts) & ((1 << a.bits) - 1)
    values = values.reshape(values.shape[0], -1).astype(mx.float32)
    dot = _in_turn(x * _by_lane(values, per), axis=3)
    each = mx.repeat(a.scales[a.rows].astype(mx.float32), a.group_size // per, axis=1)
    scale = _by_lane(each, 1)[:, :, :, 0]
    each = mx.repeat(a.biases[a.rows].astype(mx.float32), a.group_size // per, axis=1)
    bias = _by_lane(each, 1)[:, :, :, 0]
    total = _lanes_added(scale * dot + bias * _in_turn(x, axis=3))
    return [total.astype(a.x.dtype)]


def _by_lane(values: mx.array, per: int) -> mx.array:
    """[rows, turns, 32, per]: which lane takes what in which turn; padded with 0."""
    rows, size = values.shape
    turns = -(-size // (_LANES * per))
    values = mx.pad(values, [(0, 0), (0, turns * _LANES * per - size)])
    return values.reshape(rows, turns, _LANES, per)


def _in_turn(values: mx.array, axis: int) -> mx.array:
    """The sum along ``axis``, one after the other from 0."""
    total = mx.zeros_like(mx.take(values, 0, axis))
    for at in range(values.shape[axis]):
        total = total + mx.take(values, at, axis)
    return total


def _lanes_added(values: mx.array) -> mx.array:
    """[rows]: [rows, turns, 32] added in turn, then lanes in pairs."""
    total = _in_turn(values, axis=1)
    while total.shape[1] > 1:
        total = total[:, ::2] + total[:, 1::2]
    return total[:, 0]


def _some_head(
    rows: int, size: int, kind: mx.Dtype, seed: int
) -> tuple[mx.array, mx.array, mx.array]:
    rng = np.random.default_rng(seed)
    x = mx.array(rng.standard_normal(2 * size).astype(np.float32)).astype(kind)
    weight = mx.array(rng.standard_normal((41, size)).astype(np.float32)).astype(kind)
    chosen = mx.array(rng.integers(0, 41, rows).astype(np.int32))
    return x[size:] if seed % 2 else x[::2], chosen, weight


def dense_cases() -> Iterator[Case]:
    """Sizes that fill the lanes and that do not; slices."""
    for seed, rows in enumerate(BATCHES):
        for kind in FLOATS:
            size = (64, 132, 576)[seed % 3]
            arguments = checked_dense(*_some_head(rows, size, kind, seed))
            yield Case(f"{rows} rows of {size}, {str(kind)[9:]}", arguments)


def quantised_cases() -> Iterator[Case]:
    """All bits and groups; sizes that fill the lanes and that do not; slices."""
    for seed, rows in enumerate(BATCHES):
        for at, kind in enumerate(FLOATS):
            size = (128, 640, 384)[(seed + at) % 3]
            bits = _BITS[(seed + at) % 3]
            group = _GROUPS[(2 * seed + at) % 3]
            x, chosen, weight = _some_head(rows, size, kind, seed)
            packed = mx.quantize(weight, group_size=group, bits=bits)
            arguments = checked_quantised(x, chosen, *packed, bits, group)
            name = f"{rows} rows of {size}, {str(kind)[9:]}, {bits} bits"
            yield Case(f"{name} in groups of {group}", arguments)


DENSE: Kernel[Dense] = Kernel(
    "stcon_dense_head",
    ("x", "rows", "weight"),
    ("out",),
    _DENSE_SOURCE,
    _plan_dense,
    _twin_dense,
    dense_cases,
    ulp=4,
)
QUANTISED: Kernel[Quantised] = Kernel(
    "stcon_quantised_head",
    ("x", "rows", "weight", "scales", "biases"),
    ("out",),
    _QUANTISED_SOURCE,
    _plan_quantised,
    _twin_quantised,
    quantised_cases,
    ulp=4,
)
