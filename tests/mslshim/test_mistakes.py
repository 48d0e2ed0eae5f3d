"""The runner and the strict pass see the mistakes they are there for."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from tests.mslshim import strict
from tests.mslshim.nvrtc import compile_cuda, cuda_text
from tests.mslshim.runner import SANITIZERS, CpuKernel, ShimError, need_text
from tests.mslshim.text import text_of

N = 256
PLACE = "uint i = thread_position_in_grid.x; "
LANE = "uint l = thread_index_in_simdgroup; "


def launch(threads: int = N) -> dict[str, Any]:
    return {
        "inputs": [mx.arange(N).astype(mx.float32), mx.zeros((4,))],
        "output_shapes": [(N,)],
        "output_dtypes": [mx.float32],
        "grid": (threads, 1, 1),
        "threadgroup": (64, 1, 1),
    }


def kernel(source: str) -> Any:
    return mx.fast.metal_kernel("k", ["x", "small"], ["o"], source)


def run(source: str, *flags: str) -> np.ndarray:
    need_text()
    return np.array(CpuKernel(kernel(source), flags)(**launch())[0])


def test_independent_threads() -> None:
    assert run(PLACE + "o[i] = x[i] + 1.0f;").tolist() == [*range(1, N + 1)]


def test_sums_of_a_simd_group() -> None:
    have = run(PLACE + "o[i] = simd_sum(x[i]);")
    assert have.tolist() == np.repeat(np.arange(N).reshape(8, 32).sum(1), 32).tolist()


def test_only_lanes_that_are_left_are_summed() -> None:
    have = run(
        PLACE + LANE + "o[i] = 0; if (l >= 30) { return; } o[i] = simd_sum(x[i]);"
    )
    assert have[:32].tolist() == [sum(range(30))] * 30 + [0, 0]


def test_a_loop_around_a_sum_lets_lanes_leave() -> None:
    have = run(
        PLACE + LANE + "float v = 0; for (uint k = 0; k <= l; ++k) { "
        "v += simd_sum(1.0f); } o[i] = v;"
    )
    assert have[:2].tolist() == [32, 63]


MISTAKES = {
    "two threads write one element": "o[i] = 0; o[i / 2] = x[i];",
    "a threadgroup reads what another wrote": "o[i] = x[i]; o[i] += o[(i + 64) % 256];",
    "an element is never written": "if (i != 17) { o[i] = x[i]; }",
    "lanes part before a sum": LANE
    + "if (l < 9) { o[i] = simd_sum(x[i]);\n} else { o[i] = simd_sum(x[i]); }",
    "double": "double z = 1; o[i] = float(z);",
    "a float becomes a bfloat by itself": "bfloat16_t z = x[i]; o[i] = z;",
    "threadgroup memory": "threadgroup float s[4]; s[0] = 1; o[i] = s[0];",
    "another name of a thread's place": "o[i] = float(threads_per_grid.x);",
    "a variable is not used": "int unused = 3; o[i] = x[i];",
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_an_error(name: str) -> None:
    with pytest.raises(ShimError):
        run(PLACE + MISTAKES[name])


BEYOND = {
    "read beyond an input": "o[i] = x[i + 1];",
    "write beyond the output": "o[i] = 0; o[i + 1] = 0;",
    "beyond a local array": "int m[4]; m[i] = 1; o[i] = float(m[i]);",
    "a shift by too much": "o[i] = float(1 << int(i));",
}


@pytest.mark.parametrize("name", BEYOND)
def test_a_sanitizer_sees_it(name: str) -> None:
    with pytest.raises(ShimError, match="run failed"):
        run(PLACE + BEYOND[name], *SANITIZERS)


SPACES = {
    "no address space": "float* p = x; o[0] = p[0];",
    "a device pointer to constant memory": (
        "const device float* p = small; o[0] = p[0];"
    ),
    "a reference without space": "const float& r = x[0]; o[0] = r;",
    "a local pointer without space": "float l[2]; float* p = l; o[0] = p[0];",
    "an input is written": "x[0] = 1.0f;",
    "double": "double z = 1; o[0] = z;",
    "std": "o[0] = std::exp(x[0]);",
    "a pointer to a function": "float (*f)(float) = simd_sum; o[0] = f(1.0f);",
    "a local of a reserved name": (
        "uint thread_position_in_grid = 3; o[0] = thread_position_in_grid;"
    ),
}


@pytest.mark.parametrize("name", SPACES)
def test_the_strict_pass_complains(name: str) -> None:
    need_text()
    if not strict.is_there():
        pytest.skip(f"{strict.CLANG} is not installed")
    assert strict.complaints(text_of(kernel(SPACES[name]), launch()))


@pytest.mark.parametrize(
    "source",
    [
        "const device float* p = x; o[0] = p[0];",
        "float l[2]; l[0] = x[0]; thread float* p = l; o[0] = p[0];",
        "const constant float* p = small; o[0] = p[0];",
    ],
)
def test_the_strict_pass_lets_good_texts_be(source: str) -> None:
    need_text()
    if not strict.is_there():
        pytest.skip(f"{strict.CLANG} is not installed")
    assert not strict.complaints(text_of(kernel(source), launch()))


@pytest.mark.parametrize(
    ("body", "fits"), [("o[0] = a[0];", True), ("o[0] = b[0];", False)]
)
def test_nvrtc_complains(body: str, fits: bool) -> None:
    parameters = [("const float*", "a"), ("bfloat16_t*", "o")]
    have = compile_cuda(cuda_text("k", parameters, [], "", body))
    assert bool(have) is not fits
