"""The doctor, on this machine and on one that pretends to have a GPU."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from stcon.__main__ import main
from stcon.doctor import checks, report, timings
from stcon.doctor.checks import FAIL, NOTE, PASS, all_checks, distance
from stcon.doctor.probes import PROBES, SUM
from stcon.metal.catalogue import KERNELS
from stcon.metal.kernel import Kernel
from tests.mslshim.runner import CpuKernel, need_text


def on_runner(kernel: Kernel[Any], arguments: Any) -> list[mx.array]:
    return kernel.on(CpuKernel(kernel.for_metal(), schedules=1), arguments)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels run by the tests' runner, as if there were a GPU."""
    need_text()
    for module in (checks, report):
        monkeypatch.setattr(module, "has_gpu", lambda: True)
    monkeypatch.setattr(Kernel, "launch", on_runner)


def few(monkeypatch: pytest.MonkeyPatch, kernels: Sequence[Kernel[Any]]) -> None:
    monkeypatch.setattr(checks, "KERNELS", tuple(kernels))


def test_without_a_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "report.json"
    assert main(["doctor", "--json", str(file)]) == 0
    said = capsys.readouterr().out
    assert "no kernel was run or timed" in said and "Nothing failed" in said
    found = json.loads(file.read_text())
    assert found["failed"] == 0 and found["microseconds"] == {}
    assert found["versions"]["mlx"] and found["device"]["backend"] == "cpu"
    names = [check["name"] for check in found["checks"]]
    assert names == ["mlx-lm", *(k.name for k in KERNELS), "paths agree"]


def test_with_a_gpu(gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    few(monkeypatch, KERNELS[1:3])
    results = list(all_checks())
    assert [result.status for result in results] == [PASS] * len(results)
    assert len(results) == 1 + len(PROBES) + 2 + 1
    assert results[-2].says == "10 cases, the twin's bits"


def test_timings(gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timings, "TOKENS", 300)
    monkeypatch.setattr(timings, "_LAUNCHES", 5)
    timings.large_vocabulary.cache_clear()
    have = dict(timings.timings())
    timings.large_vocabulary.cache_clear()
    monkeypatch.undo()
    full = [arguments for _, _, arguments in timings.launches()]
    assert len(full) == len(have) and full[0].logits.shape[1] > 200_000
    timings.large_vocabulary.cache_clear()
    assert "mask, 16 rows" in have and all(value > 0 for value in have.values())
    said = report._tables([], have)
    assert "µs" in said and "no GPU" not in said


WRONG = [
    ("own[places[4 * g + 3]", "own[places[4 * g + 2]", "inf units in the last place"),
    ("is_open ? logits[at]", "!is_open ? logits[at]", "inf units"),
    ("int g = grammar[b];", "int g = grammar[b]", "compile failed"),
]


@pytest.mark.parametrize(("old", "new", "words"), WRONG)
def test_a_wrong_kernel_fails(
    gpu: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    old: str,
    new: str,
    words: str,
) -> None:
    kernel = KERNELS[0]
    assert old in kernel.source
    few(monkeypatch, [replace(kernel, source=kernel.source.replace(old, new))])
    monkeypatch.setattr(report, "timings", lambda: [("mask", 1.5)])
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "FAIL  stcon_mask" in said and words in said and "1 failed" in said


def test_what_is_only_good_to_know_does_not_fail(
    gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(SUM, source=SUM.source.replace("simd_sum(x[i])", "x[i]"))
    probe = next(probe for probe in PROBES if probe.kernel is SUM)
    monkeypatch.setattr(checks, "PROBES", [probe._replace(kernel=other)])
    few(monkeypatch, [])
    results = list(all_checks())
    assert [result.status for result in results] == [PASS, NOTE, PASS]


def test_a_twin_of_another_shape_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    short = replace(KERNELS[1], twin=lambda a: [a.state])
    few(monkeypatch, [short])
    found = next(x for x in all_checks() if x.name == "stcon_advance")
    assert found.status == FAIL and "outputs are" in found.says


def test_an_mlx_lm_that_cannot_be_patched(monkeypatch: pytest.MonkeyPatch) -> None:
    import mlx_lm

    monkeypatch.setattr(mlx_lm, "__version__", "0.30.0")
    few(monkeypatch, [])
    found = next(all_checks())
    assert found.status == FAIL and "0.30.0 is not supported" in found.says


@pytest.mark.parametrize(
    ("have", "want", "apart"),
    [
        ([0.0, 1.0], [-0.0, 1.0], 2**-20),
        ([1.0, -2.0], [1.0, -2.0], 0.0),
        ([1.0, -2.0 - 2**-22], [1.0, -2.0], 1.0),
        ([0.0], [-0.0], np.inf),
        ([np.inf], [1.0], np.inf),
        ([1], [2], np.inf),
    ],
)
def test_distance(have: list[Any], want: list[Any], apart: float) -> None:
    assert distance(mx.array(have), mx.array(want)) == apart


def test_without_mlx(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mlx.core", None)
    with pytest.raises(SystemExit) as caught:
        main(["doctor"])
    assert caught.value.code == 1
    assert "mlx cannot be imported" in capsys.readouterr().err


def test_timings_that_fail_are_told(
    gpu: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> Any:
        raise RuntimeError("the device is gone")

    few(monkeypatch, [])
    monkeypatch.setattr(report, "timings", broken)
    assert main(["doctor"]) == 1
    assert "RuntimeError: the device is gone" in capsys.readouterr().out
