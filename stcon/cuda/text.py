"""A kernel's text as the body of a CUDA kernel.

The text keeps to rules under which a prelude of macros and a line for each name of
a thread's place make it CUDA: scalars are arrays, a test of bounds first (CUDA has
surplus threads), arithmetic in float, no barriers.  Nothing here knows a kernel.
Source: mlx/backend/cuda/custom_kernel.cpp for what mlx writes around a body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

PRELUDE = r"""
typedef unsigned int uint;
typedef unsigned short ushort;
#define device
#define constant
#define thread
#undef INFINITY
#define INFINITY __int_as_float(0x7f800000)
template <class T> __device__ inline T simd_sum(T v) {
    for (int k = 1; k < 32; k *= 2) { v += __shfl_xor_sync(0xffffffffu, v, k); }
    return v;
}
"""

# The names that the kernels use, each with its type and value.
_PLACES = {
    "thread_position_in_grid": (
        "uint3",
        "make_uint3(blockIdx.x * blockDim.x + threadIdx.x, "
        "blockIdx.y * blockDim.y + threadIdx.y, "
        "blockIdx.z * blockDim.z + threadIdx.z)",
    ),
    "thread_index_in_simdgroup": ("uint", "threadIdx.x & 31u"),
    "threads_per_simdgroup": ("uint", "32u"),
}


def cuda_body(source: str) -> str:
    """``source`` with the names of a thread's place declared in front of it."""
    lines = [
        f"    const {kind} {name} = {value};\n"
        for name, (kind, value) in _PLACES.items()
        if name in source
    ]
    return "".join(lines) + source


def cuda_kernel(
    name: str, inputs: Sequence[str], outputs: Sequence[str], source: str
) -> Callable[..., Any]:
    """mlx's CUDA kernel of the text; raises RuntimeError without a CUDA backend."""
    import mlx.core as mx

    built: Any = mx.fast.cuda_kernel(
        name=name,
        input_names=list(inputs),
        output_names=list(outputs),
        source=cuda_body(source),
        header=PRELUDE,
    )
    found: Callable[..., Any] = built
    return found
