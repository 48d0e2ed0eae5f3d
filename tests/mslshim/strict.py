"""Type-checks the text of a kernel with address spaces, as C++ for OpenCL.

Metal and OpenCL share what compilers on Linux otherwise lack: a pointer says which
memory it points into.  What it cannot see: overloads that only Apple's library has.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from tests.mslshim.text import Text

CLANG = "clang-19"  # 17 or newer; Debian 12 has it beside its default of 14

_FLAGS = [
    *["-x", "clcpp", "-cl-std=clc++2021", "-cl-no-stdinc", "-fsyntax-only"],
    *["-target", "x86_64-linux-gnu", "-cl-single-precision-constant"],
    *["-Wall", "-Wextra", "-Wno-unknown-attributes", "-Wno-unused-parameter"],
    f"-I{Path(__file__).parent}",
]
_FEATURES = "-cl-ext=-all,+cl_khr_fp16,+__cl_clang_non_portable_kernel_param_types"
_GENERIC = ",+__opencl_c_generic_address_space"
# A pointer that was written without an address space gets the generic one.
_UNSAID = re.compile(r"VarDecl 0x\w+ <[^>]*> \S+ (?!.*implicit).*'[^']*__generic[^']*'")


def complaints(text: Text) -> str:
    """What is wrong with ``text``, in the compiler's words; "" if nothing; 0.2 s."""
    source = strict_text(text)
    found = _compile(source, [_FEATURES])
    dump = ["-w", "-Xclang", "-ast-dump", "-fno-color-diagnostics"]
    tree = _compile(source, [_FEATURES + _GENERIC, *dump], wants_tree=True)
    unsaid = [f"no address space: {line[0]}\n" for line in _UNSAID.finditer(tree)]
    return found + "".join(unsaid)


def strict_text(text: Text) -> str:
    """The kernel without a template: its constants are declared in the body."""
    lines = ""
    for kind, name, value in text.constants:
        is_type = kind == "typename"
        word = f"using {name} =" if is_type else f"constexpr {kind} {name} ="
        lines += f"{word} {value}; "
    parameters = [f"{p.kind} {p.name}" for p in text.parameters]
    return (
        '#include "strict.h"\n'
        f"__kernel void {text.name}({', '.join(parameters)}) {{\n"
        f"{lines}\n{text.body}\n}}\n"
    )


def _compile(source: str, flags: list[str], wants_tree: bool = False) -> str:
    features, *rest = flags
    command = [CLANG, *_FLAGS, "-Xclang", features, *rest, "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    return done.stdout if wants_tree else done.stderr


def is_there() -> bool:
    """Whether the compiler is installed."""
    return shutil.which(CLANG) is not None
