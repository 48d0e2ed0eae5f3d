"""Every kernel's own text, run on the CPU, against its twin, on all its cases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from stcon.cuda.text import PRELUDE, cuda_body
from stcon.metal.catalogue import KERNELS
from stcon.metal.kernel import Case, Kernel
from stcon.metal.samples import BATCHES
from tests.mslshim import strict
from tests.mslshim.nvrtc import compile_cuda, cuda_text
from tests.mslshim.runner import SANITIZERS, CpuKernel, bits, need, need_text
from tests.mslshim.text import Text, text_of

EACH = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)


def same(have: list[mx.array], want: list[mx.array], case: Case) -> None:
    """Nothing; fails unless both are the same bits, shapes and dtypes."""
    for one, other in zip(have, want, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape, case.name
        raw = bits(one).view(np.uint8), bits(other).view(np.uint8)
        assert np.array_equal(*raw), f"{case.name}: {np.argwhere(raw[0] != raw[1])[:5]}"


def some(kernel: Kernel[Any], *rows: int) -> list[Case]:
    """The first case of each of these numbers of rows."""
    found: dict[int, Case] = {}
    for case in kernel.cases():
        found.setdefault(int(case.name.split(" ")[0]), case)
    return [found[number] for number in rows]


def texts(kernel: Kernel[Any]) -> Iterator[tuple[Case, Text]]:
    """The text for each case."""
    built, met = kernel.for_metal(), []

    def keep(**launch: Any) -> list[mx.array]:
        met.append(text_of(built, launch))
        return []

    for case in kernel.cases():
        kernel.on(keep, case.arguments)
        yield case, met.pop()


def kinds_of(kernel: Kernel[Any]) -> dict[tuple[str, ...], Text]:
    """One text for each set of types and address spaces."""
    found = {}
    for _, text in texts(kernel):
        types = [value for kind, _, value in text.constants if kind == "typename"]
        found[(*types, *(p.kind for p in text.parameters))] = text
    return found


@EACH
def test_same_bits_as_the_twin(kernel: Kernel[Any]) -> None:
    need_text()
    cpu = CpuKernel(kernel.for_metal())
    batches = set()
    for case in kernel.cases():
        same(kernel.on(cpu, case.arguments), kernel.twin(case.arguments), case)
        batches.add(int(case.name.split(" ")[0]))
    assert batches >= set(BATCHES)


@EACH
def test_no_access_beyond_a_buffer(kernel: Kernel[Any]) -> None:
    need_text()
    cpu = CpuKernel(kernel.for_metal(), SANITIZERS, schedules=1)
    for case in some(kernel, 7, 33):
        same(kernel.on(cpu, case.arguments), kernel.twin(case.arguments), case)


@EACH
def test_cuda_form(kernel: Kernel[Any]) -> None:
    """Prelude and body of CUDA, which runs whole threadgroups: surplus threads do
    nothing."""
    need_text()
    cpu = CpuKernel(kernel.for_metal(), SANITIZERS, schedules=2, is_cuda=True)
    (case,) = some(kernel, 9)
    same(kernel.on(cpu, case.arguments), kernel.twin(case.arguments), case)


@EACH
def test_text(kernel: Kernel[Any]) -> None:
    need_text()
    spaces = set()
    for case, text in texts(kernel):
        assert text.whole.isascii(), "mlx hands ASCII to Metal's compiler"
        assert text.body == kernel.source
        buffers = [p for p in text.parameters if p.is_buffer]
        assert [p.name for p in buffers] == [*kernel.inputs, *kernel.outputs]
        assert len(buffers) <= 31, "Metal has no more"
        rows = int(case.name.split(" ")[0])
        spaces.add((rows < 8, "constant" in buffers[1].kind))
    assert spaces == {(True, True), (False, False)}, "7 rows lie elsewhere than 8"


@EACH
def test_address_spaces(kernel: Kernel[Any]) -> None:
    need_text()
    if not strict.is_there():
        pytest.skip(f"{strict.CLANG} is not installed")
    for text in kinds_of(kernel).values():
        assert not strict.complaints(text)


@EACH
def test_cuda_compiles(kernel: Kernel[Any]) -> None:
    need_text()
    for text in kinds_of(kernel).values():
        parameters = [
            (p.kind.replace("device ", "").replace("constant ", ""), p.name)
            for p in text.parameters
            if p.is_buffer
        ]
        body = cuda_body(text.body)
        whole = cuda_text(text.name, parameters, text.constants, PRELUDE, body)
        assert not compile_cuda(whole)


@EACH
def test_calls_give_the_twin_on_the_cpu(kernel: Kernel[Any]) -> None:
    assert mx.default_device() == mx.cpu
    for case in some(kernel, 1, 8):
        same(kernel(case.arguments), kernel.twin(case.arguments), case)


def test_the_runner_needs_a_compiler() -> None:
    need("g++")
