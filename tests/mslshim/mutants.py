"""Changes one token of a kernel's text at a time and sees whether the tests notice.

``python -m tests.mslshim.mutants [KERNEL ...]``: for each kernel how many mutants were
noticed, and the ones that were not; some minutes.  docs/kernels.md has the last run and
says why the survivors are no mistakes.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stcon.metal.catalogue import KERNELS
from stcon.metal.kernel import Case, Kernel
from tests.mslshim.runner import SANITIZERS, CpuKernel, ShimError, bits

_OTHERS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "&&": "||",
    "||": "&&",
    "+": "-",
    "-": "+",
    "*": "+",
    "/": "*",
    "+=": "-=",
    "-=": "+=",
    ">>=": "<<=",
    "<<": ">>",
    "?": "? !",
    "++": "--",
    "--": "++",
    "true": "false",
    "false": "true",
}
_TOKENS = re.compile(
    r"(?<![\w.])\d+(?=u?\b)(?!\.)"
    r"|(?<= )(?:<=|>=|==|!=|&&|\|\||\+=|-=|>>=|<<|[<>+*/?-])(?= )"
    r"|\+\+|--|\btrue\b|\bfalse\b"
)


class Mutant(NamedTuple):
    """The place of a token in the text, and what is put there."""

    begin: int
    end: int
    text: str


def mutants(source: str) -> Iterator[Mutant]:
    """Numbers one higher, operators and truth values exchanged, comments left out."""
    for found in _TOKENS.finditer(source):
        token = found[0]
        other = str(int(token) + 1) if token.isdigit() else _OTHERS[token]
        yield Mutant(found.start(), found.end(), other)


def is_noticed(
    kernel: Kernel[Any], mutant: Mutant, cases: Sequence[Case], folder: Path
) -> bool:
    """Whether a case fails to compile, to run, or to give the twin's bits; programs are
    put into ``folder``."""
    body = kernel.source
    changed = body[: mutant.begin] + mutant.text + body[mutant.end :]

    def change(whole: str) -> str:
        return whole.replace(body, changed)

    built = kernel.for_metal()
    runs = [
        CpuKernel(built, change=change, seconds=5, folder=folder),
        CpuKernel(built, SANITIZERS, 1, change, True, 5, folder),
    ]
    try:
        for run, chosen in zip(runs, (cases, cases[-2:]), strict=True):
            for case in chosen:
                have, want = kernel.on(run, case.arguments), kernel.twin(case.arguments)
                for one, other in zip(have, want, strict=True):
                    raw = bits(one).view(np.uint8), bits(other).view(np.uint8)
                    if not np.array_equal(*raw):
                        return True
    except ShimError:
        return True
    return False


def some_cases(kernel: Kernel[Any]) -> list[Case]:
    """All cases of six of its compiled forms: a form takes a compilation a mutant."""
    forms: dict[Any, list[Case]] = {}
    for case in kernel.cases():
        call = kernel.plan(case.arguments)
        sizes = tuple((array.dtype, array.size < 8) for array in call.inputs)
        forms.setdefault((tuple(call.template), sizes), []).append(case)
    every = list(forms.values())
    middle = len(every) // 2
    chosen = [*every[:2], *every[middle : middle + 2], *every[-2:]]
    return [case for cases in chosen for case in cases]


def survivors(kernel: Kernel[Any], every: Sequence[Mutant]) -> Iterator[Mutant]:
    """Those of ``every`` mutant that no case notices."""
    cases = some_cases(kernel)
    for one in every:
        with tempfile.TemporaryDirectory() as folder:
            if not is_noticed(kernel, one, cases, Path(folder)):
                yield one


def main(names: Sequence[str]) -> int:
    """The exit status: 1 if less than nine in ten were noticed."""
    noticed = total = 0
    for kernel in KERNELS:
        if names and kernel.name not in names:
            continue
        every = list(mutants(kernel.source))
        alive = list(survivors(kernel, every))
        noticed, total = noticed + len(every) - len(alive), total + len(every)
        print(f"{kernel.name}: {len(every) - len(alive)} of {len(every)}", flush=True)
        for one in alive:
            line = kernel.source.count("\n", 0, one.begin) + 1
            print(f"    line {line}: {_shown(kernel.source, one)}", flush=True)
    print(f"{noticed} of {total}")
    return int(noticed < 0.9 * total)


def _shown(source: str, mutant: Mutant) -> str:
    begin = source.rindex("\n", 0, mutant.begin) + 1
    line = source[begin : source.index("\n", mutant.end)]
    at = mutant.begin - begin
    token = source[mutant.begin : mutant.end]
    return f"{line[:at]}[{token} -> {mutant.text}]{line[at + len(token) :]}".strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
