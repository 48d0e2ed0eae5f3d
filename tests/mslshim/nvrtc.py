"""Compiles CUDA text with NVRTC, where it is installed; nothing is run."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

# What mlx writes around a body, without its own headers, which the CPU build lacks.
_HEAD = """
#include <cuda_bf16.h>
#include <cuda_fp16.h>
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef short int16_t;
typedef int int32_t;
"""
_TYPES = {"float": "float", "float16_t": "__half", "bfloat16_t": "__nv_bfloat16"}


def cuda_text(
    name: str,
    parameters: Sequence[tuple[str, str]],
    constants: Sequence[tuple[str, str, str]],
    header: str,
    body: str,
) -> str:
    """The kernel as CUDA; ``parameters``: pairs (``const float*``, name)."""
    lines = ""
    for kind, constant, value in constants:
        if kind == "typename":
            lines += f"  using {constant} = {_cuda_type(value)};\n"
        else:
            lines += f"  constexpr {kind} {constant} = {value};\n"
    listed = ", ".join(f"{_cuda_type(kind)} {name}" for kind, name in parameters)
    return (
        f"{_HEAD}{header}"
        f'extern "C" __global__ void {name}({listed}) {{\n{lines}\n{body}\n}}\n'
    )


def _cuda_type(kind: str) -> str:
    for word, other in _TYPES.items():
        if word in kind.split("*")[0].split():
            return kind.replace(word, other)
    return kind


def compile_cuda(text: str, architecture: str = "sm_90") -> str:
    """What NVRTC says against ``text``; "" if it compiles."""
    library, include = _library()
    program = ctypes.c_void_p()
    raw = text.encode()
    _must(library.nvrtcCreateProgram(ctypes.byref(program), raw, b"k", 0, None, None))
    options = [f"--gpu-architecture={architecture}", f"--include-path={include}"]
    options += ["--std=c++17", "--device-as-default-execution-space"]
    listed = (ctypes.c_char_p * len(options))(*[x.encode() for x in options])
    status = library.nvrtcCompileProgram(program, len(options), listed)
    size = ctypes.c_size_t()
    _must(library.nvrtcGetProgramLogSize(program, ctypes.byref(size)))
    log = ctypes.create_string_buffer(size.value)
    _must(library.nvrtcGetProgramLog(program, log))
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return log.value.decode() or "no message" if status else ""


def _must(status: int) -> None:
    if status:
        raise RuntimeError(f"NVRTC failed with status {status}")


@cache
def _library() -> tuple[Any, Path]:
    """NVRTC and the folder of CUDA's headers, as NVIDIA's wheels or a toolkit have
    them; skips the test without."""
    for library, include in _places():
        if library.exists() and (include / "cuda_fp16.h").exists():
            for part in library.parent.glob("libnvrtc-builtins.so*"):
                ctypes.CDLL(str(part), ctypes.RTLD_GLOBAL)  # NVRTC opens it by name
            return ctypes.CDLL(str(library)), include
    pytest.skip("NVRTC and CUDA's headers are not installed")


def _places() -> list[tuple[Path, Path]]:
    found = []
    spec = importlib.util.find_spec("nvidia")
    for folder in map(Path, (spec and spec.submodule_search_locations) or ()):
        for library in sorted(folder.glob("*/lib/libnvrtc.so.*")):
            found.append((library, library.parents[1] / "include"))
    for toolkit in sorted(Path("/usr/local").glob("cuda*")):
        for library in sorted(toolkit.glob("lib64/libnvrtc.so*")):
            found.append((library, toolkit / "include"))
    return found
