"""Compiles the text of a kernel as C++ and runs the whole grid on the CPU.

Every launch runs under four orders of threads, each with other bytes in the outputs
before; the outputs must be the same bits.  So a race, an output that is not written or
memory that is read before it is written shows.  A program of its own a kernel: what
crashes does not take the tests along.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from numpy.typing import NDArray

from stcon.cuda.text import PRELUDE, cuda_body
from tests.mslshim.text import NoText, Text, text_of

SCHEDULES = 4
HERE = Path(__file__).parent
KEPT = Path(tempfile.gettempdir(), f"stcon-mslshim-{os.getuid()}")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")

_FLAGS = (
    *("-std=c++17", "-O1", "-ffp-contract=off", "-fno-exceptions", "-Wall", "-Wextra"),
    *("-fno-strict-aliasing", "-fsingle-precision-constant", "-Wdouble-promotion"),
    *("-Wno-attributes", "-Wno-unused-parameter", "-Wno-clobbered", "-Werror"),
)
_HEADERS = ("msl.h", "cuda.h", "main.h")
_CUDA_PLACES = (
    "blockIdx = place.group; threadIdx = place.in_group; blockDim = place.size; "
)
_PLACES = {
    "thread_position_in_grid": "place.in_grid",
    "thread_index_in_simdgroup": "place.lane",
    "threads_per_simdgroup": "32u",
}


class ShimError(RuntimeError):
    """The text does not compile, or its run went wrong."""


@dataclass(frozen=True)
class CpuKernel:
    """In the place of a kernel that mlx built: the same call, run here.

    ``change``: what is done to the text first; ``flags``: more for the compiler;
    ``is_cuda``: the CUDA form of the text, and a grid of whole threadgroups;
    ``seconds``: how long a run may take; ``folder``: where programs are kept.
    """

    built: Callable[..., Any]
    flags: tuple[str, ...] = ()
    schedules: int = SCHEDULES
    change: Callable[[str], str] = str
    is_cuda: bool = False
    seconds: int = 120
    folder: Path = KEPT

    def __call__(self, **launch: Any) -> list[mx.array]:
        """The outputs; raises ShimError."""
        text = text_of(self.built, launch)
        text = Text(self.change(text.whole))
        source = program_text(text, self.is_cuda)
        program = compiled(source, self.flags, self.folder)
        shapes, kinds = launch["output_shapes"], launch["output_dtypes"]
        outputs = [
            np.empty(shape, _numpy_kind(kind))
            for shape, kind in zip(shapes, kinds, strict=True)
        ]
        inputs = [bits(array) for array in launch["inputs"]]
        head = [len(inputs), len(outputs), self.schedules, "simd_sum" in text.body]
        grid, group = launch["grid"], launch["threadgroup"]
        if self.is_cuda:
            grid = [-(-n // by) * by for n, by in zip(grid, group, strict=True)]
        head += [*grid, *group]
        head += [array.nbytes for array in (*inputs, *outputs)]
        packed = np.array(head, np.int64).tobytes()
        raw = _run(program, packed, inputs, self.seconds)
        made = []
        for array, kind in zip(outputs, kinds, strict=True):
            have = np.frombuffer(raw[: array.nbytes], array.dtype).reshape(array.shape)
            raw = raw[array.nbytes :]
            made.append(_as_mlx(have, kind))
        return made


def _run(program: Path, head: bytes, inputs: list[NDArray[Any]], seconds: int) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "launch")
        file.write_bytes(head + b"".join(array.tobytes() for array in inputs))
        try:
            done = subprocess.run(
                [str(program), str(file)],
                capture_output=True,
                text=True,
                timeout=seconds,
                env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"},
            )
        except subprocess.TimeoutExpired as error:
            raise ShimError(f"no end after {seconds} s") from error
        if done.returncode:
            raise ShimError(f"run failed ({done.returncode}): {done.stderr[:2000]}")
        return file.read_bytes()


def program_text(text: Text, as_cuda: bool = False) -> str:
    """C++ that holds the kernel, and runs it on a launch read from a file.

    ``as_cuda``: with the prelude and the body of its CUDA form.
    """
    unknown = [p.name for p in text.parameters if not _is_known(p)]
    if unknown or "threadgroup" in text.body:
        raise ShimError(f"not in this runner: {unknown or 'threadgroup memory'}")
    values, at = [], 0
    for parameter in text.parameters:
        if parameter.is_buffer:
            kind = parameter.kind.replace("device ", "").replace("constant ", "")
            values.append(f"({kind})buffers[{at}]")
            at += 1
        elif not as_cuda:
            values.append(_PLACES[parameter.name])
    constants = ", ".join(value for _, _, value in text.constants)
    instance = f"<{constants}>" if constants else ""
    return (
        f'#include "{"cuda" if as_cuda else "msl"}.h"\n#line 1 "kernel"\n'
        f'{_as_cuda(text) if as_cuda else text.function}\n#line 1 "launch"\n'
        "static void entry(void** buffers, const shim::Place& place) {\n"
        f"  (void)place; {_CUDA_PLACES if as_cuda else ''}"
        f"{text.name}{instance}({', '.join(values)});\n"
        '}\n#include "main.h"\n'
    )


def _as_cuda(text: Text) -> str:
    template = ", ".join(f"{kind} {name}" for kind, name, _ in text.constants)
    buffers = [f"{p.kind} {p.name}" for p in text.parameters if p.is_buffer]
    head = f"template <{template}>\n" if template else ""
    body = cuda_body(text.body)
    return f"{PRELUDE}{head}void {text.name}({', '.join(buffers)}) {{\n{body}\n}}\n"


def _is_known(parameter: Any) -> bool:
    return parameter.is_buffer or parameter.name in _PLACES


def compiled(source: str, flags: tuple[str, ...] = (), folder: Path = KEPT) -> Path:
    """The program of ``source``, compiled once and kept; raises ShimError."""
    headers = "".join((HERE / name).read_text("utf-8") for name in _HEADERS)
    content = "\0".join([source, headers, *_FLAGS, *flags])
    name = hashlib.sha256(content.encode()).hexdigest()[:24]
    folder.mkdir(exist_ok=True)
    program = folder / name
    if not program.exists():
        beside = folder / f"{name}.{os.getpid()}"
        command = ["g++", *_FLAGS, *flags, f"-I{HERE}", "-x", "c++", "-"]
        done = subprocess.run(
            [*command, "-o", str(beside)], input=source, capture_output=True, text=True
        )
        if done.returncode:
            raise ShimError(f"compile failed\n{done.stderr[:4000]}")
        beside.replace(program)
    return program


def need(program: str) -> None:
    """Nothing; skips the test where ``program`` is missing, and fails it in CI."""
    if shutil.which(program) is None:
        say = pytest.fail if os.environ.get("CI") else pytest.skip
        say(f"{program} is not installed")


def need_text() -> None:
    """Nothing; skips the test where g++ is missing, or an mlx that prints texts."""
    need("g++")
    launch: dict[str, Any] = {
        "grid": (1, 1, 1),
        "threadgroup": (1, 1, 1),
        "output_shapes": [(1,)],
    }
    launch |= {"inputs": [mx.zeros((1,))], "output_dtypes": [mx.float32]}
    try:
        built = mx.fast.metal_kernel("k", ["a"], ["b"], "uint i = 0; b[i] = a[i];")
        text_of(built, launch)
    except (NoText, RuntimeError) as error:  # before 0.32 none is made without Metal
        pytest.skip(f"mlx {mx.__version__}: {error}")


def bits(array: mx.array) -> NDArray[Any]:
    """The contents in rows without gaps, as mlx hands them to a kernel; bfloat16 as
    uint16."""
    whole = array.view(mx.uint16) if array.dtype == mx.bfloat16 else array
    return np.ascontiguousarray(np.array(whole))


def _numpy_kind(kind: mx.Dtype) -> Any:
    return np.uint16 if kind == mx.bfloat16 else np.array(mx.zeros((1,), kind)).dtype


def _as_mlx(array: NDArray[Any], kind: mx.Dtype) -> mx.array:
    made = mx.array(array)
    return made.view(mx.bfloat16) if kind == mx.bfloat16 else made
