"""What the doctor looks at: each check gives a Result and never raises."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import mlx.core as mx
import numpy as np
from numpy.typing import NDArray

from stcon.decode.patch import patch
from stcon.doctor.probes import PROBES
from stcon.metal.catalogue import KERNELS
from stcon.metal.kernel import Case, Kernel
from stcon.metal.mask import mask
from stcon.metal.samples import int32, some_constraints, some_tables
from stcon.metal.walk import mask_walked, some_bytes, walk

PASS, FAIL, NOTE = "PASS", "FAIL", "note"

_LEAST = 2.0**-20  # units, of what differs in no more than the sign of a zero


@dataclass(frozen=True)
class Result:
    """``status``: PASS, FAIL, or NOTE for what is only good to know.

    ``says``: one line, of a failure the error; ``seconds``: how long it took.
    """

    name: str
    status: str
    says: str
    seconds: float


def has_gpu() -> bool:
    """Whether mlx computes on a GPU here."""
    return bool(mx.default_device() == mx.gpu)


def all_checks() -> Iterator[Result]:
    """Every check, in order; 5 s on a CPU, and a compilation a kernel and type on a
    GPU."""
    yield timed("mlx-lm", _mlx_lm)
    for probe in PROBES if has_gpu() else ():
        otherwise = FAIL if probe.is_needed else NOTE
        yield timed(probe.says, partial(_kernel, probe.kernel), otherwise)
    for kernel in KERNELS:
        yield timed(kernel.name, partial(_kernel, kernel))
    yield timed("paths agree", _paths)


def timed(name: str, check: Callable[[], str], otherwise: str = FAIL) -> Result:
    """What ``check`` says, passed; or ``otherwise``, with the error it raised."""
    began = time.perf_counter()
    try:
        status, says = PASS, check()
    except Exception as error:  # a report is worth more than a traceback
        status, says = otherwise, f"{type(error).__name__}: {error}"
    return Result(name, status, says, time.perf_counter() - began)


class Differs(AssertionError):
    """A kernel and its twin give other outputs."""


def _mlx_lm() -> str:
    with patch():
        import mlx_lm

        return f"{mlx_lm.__version__} can be patched, and put back"


def _kernel(kernel: Kernel[Any]) -> str:
    """Raises Differs unless every case gives the twin's outputs; without a GPU unless
    the twin's outputs are what a launch would give by shape and dtype."""
    count, furthest = 0, 0.0
    for case in kernel.cases():
        with mx.stream(mx.cpu):
            want = kernel.twin(case.arguments)
            mx.eval(want)
        have = kernel.launch(case.arguments) if has_gpu() else want
        _check_kinds(kernel, case, have)
        furthest = max(furthest, *map(distance, have, want))
        if furthest > kernel.ulp:
            raise Differs(f"{case.name}: {furthest:.3g} units in the last place apart")
        count += 1
    return _verdict(count, furthest)


def _verdict(count: int, furthest: float) -> str:
    if not has_gpu():
        return f"{count} cases by its twin: there is no GPU"
    if furthest:
        return f"{count} cases, {furthest:.2g} units in the last place from the twin"
    return f"{count} cases, the twin's bits"


def _check_kinds(kernel: Kernel[Any], case: Case, outputs: list[mx.array]) -> None:
    call = kernel.plan(case.arguments)
    have = [(output.shape, output.dtype) for output in outputs]
    want = list(zip(map(tuple, call.shapes), call.dtypes, strict=True))
    if have != want:
        raise Differs(f"{case.name}: outputs are {have}, not {want}")


def distance(have: mx.array, want: mx.array) -> float:
    """How far two arrays are apart: 0 for the same bits only, infinity for other
    integers or infinities, else in units in the last place of the largest number."""
    if _bits(have) == _bits(want):
        return 0.0
    if not mx.issubdtype(want.dtype, mx.floating):
        return math.inf
    one, other = _wide(have), _wide(want)
    largest = np.abs(other).max()
    if not (np.isfinite(one) & np.isfinite(other)).all() or not largest:
        return math.inf
    digits = {mx.float32: 23, mx.float16: 10, mx.bfloat16: 7}[want.dtype]
    unit = 2.0 ** (np.floor(np.log2(largest)) - digits)
    return max(float(np.abs(one - other).max() / unit), _LEAST)


def _wide(array: mx.array) -> NDArray[np.float64]:
    wide: NDArray[np.float64] = np.array(array.astype(mx.float32)).astype(np.float64)
    return wide


def _bits(array: mx.array) -> bytes:
    whole = array.view(mx.uint16) if array.dtype == mx.bfloat16 else array
    return np.array(whole).tobytes()


def _paths() -> str:
    """Raises Differs unless class table, walk and the host allow the same tokens."""
    tables, automata, states = some_tables(), some_bytes(), 0
    for number, one in enumerate(some_constraints()):
        rows = range(1, one.dfa.states + 1)
        grammar, state = int32([number] * len(rows)), int32(rows)
        logits = mx.zeros((len(rows), one.vocabulary.size))
        after = walk(automata, grammar, state, one.vocabulary.size)
        want = np.stack([one.allowed(row) for row in rows])
        for name, masked in (
            ("class table", mask(tables, grammar, state, None, logits)),
            ("walk", mask_walked(automata, grammar, after, None, logits)),
        ):
            if not np.array_equal(np.array(masked) == 0, want):
                raise Differs(f"the {name} of sample {number} is not the host's")
        states += len(rows)
    return f"class table, walk and host, {states} states of 16 automata"
