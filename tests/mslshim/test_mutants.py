"""The mutation run: what it changes, and that it tells right from wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from stcon.metal.catalogue import KERNELS
from stcon.metal.sparse_head import DENSE
from tests.mslshim.mutants import Mutant, is_noticed, mutants, some_cases
from tests.mslshim.runner import need_text

SOURCE = "for (uint k = 0; k < 4; ++k) { x[k] += a ? 1.5f * b2 : -1; }"
WANT = ["0 -> 1", "< -> <=", "4 -> 5", "++ -> --", "+= -> -=", "? -> ? !"]


def test_what_is_changed() -> None:
    have = [f"{SOURCE[one.begin : one.end]} -> {one.text}" for one in mutants(SOURCE)]
    assert have == [*WANT, "* -> +", "1 -> 2"]


def test_every_kernel_has_many() -> None:
    for kernel in KERNELS:
        assert len(list(mutants(kernel.source))) > 15, kernel.name


@pytest.mark.parametrize(
    ("old", "new", "noticed"),
    [
        ("dot += float", "dot -= float", True),
        ("lane == 0", "lane == 1", False),  # every lane has the sum
        ("float total = 0.0f;", "float total = 0.0f", True),
    ],
)
def test_is_noticed(old: str, new: str, noticed: bool, tmp_path: Path) -> None:
    need_text()
    begin = DENSE.source.index(old)
    mutant = Mutant(begin, begin + len(old), new)
    assert is_noticed(DENSE, mutant, some_cases(DENSE)[:2], tmp_path) is noticed
