"""What the kernels' functions take, what they refuse, and what they promise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stcon.metal.advance import advance
from stcon.metal.kernel import Kernel
from stcon.metal.mask import mask
from stcon.metal.pushdown import advance_stacks, mask_stacks
from stcon.metal.pushdown_cases import some_stack_tables
from stcon.metal.samples import int32, some_constraints, some_tables
from stcon.metal.samples import vocabulary as some_vocabulary
from stcon.metal.sparse_head import DENSE, QUANTISED, dense_head, quantised_head
from stcon.metal.tables import TokenTables, join_classes
from stcon.metal.walk import ByteTables, mask_walked, some_bytes, step_walked, walk
from tests import worlds

EPSILON = {mx.float32: 2.0**-23, mx.float16: 2.0**-10, mx.bfloat16: 2.0**-7}


def exact(rows: mx.array, x: mx.array, chosen: mx.array) -> np.ndarray:
    whole = np.array(rows.astype(mx.float32)).astype(np.float64)
    return whole[np.array(chosen)] @ np.array(x.astype(mx.float32)).astype(np.float64)


def check_head(have: mx.array, want: np.ndarray, x: mx.array, size: float) -> None:
    """At most half a unit in the last place, and what float32 sums lose."""
    error = np.abs(np.array(have.astype(mx.float32)) - want)
    assert (error <= EPSILON[x.dtype] / 2 * np.abs(want) + 2.0**-20 * size).all()


@pytest.mark.parametrize("case", list(DENSE.cases()), ids=lambda case: case.name)
def test_dense_head(case: Any) -> None:
    x, chosen, weight = case.arguments
    want = exact(weight, x, chosen)
    check_head(dense_head(x, chosen, weight), want, x, np.abs(want).max())


@pytest.mark.parametrize("case", list(QUANTISED.cases()), ids=lambda case: case.name)
def test_quantised_head(case: Any) -> None:
    x, chosen, weight, scales, biases, bits, group = case.arguments
    single = scales.astype(mx.float32), biases.astype(mx.float32)
    rows = mx.dequantize(weight, *single, group_size=group, bits=bits)
    want = exact(rows, x, chosen)
    have = quantised_head(
        x, chosen, weight, scales, biases, bits=bits, group_size=group
    )
    size = float(np.abs(np.array(x.astype(mx.float32))).sum())
    check_head(have, want, x, max(size, np.abs(want).max()))


@given(
    st.integers(1, 40).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=1, max_size=5
        )
    )
)
def test_common_classes(maps: list[list[int]]) -> None:
    """They tell each map's classes, and no two are the same in all maps."""
    arrays = [np.array(one, np.uint16) for one in maps]
    common, owns = join_classes(arrays)
    for have, want in zip(owns, arrays, strict=True):
        assert np.array_equal(have[common], want)
    assert len(set(zip(*owns, strict=True))) == len(owns[0]) == common.max() + 1


ONE, LOGITS = int32([0]), mx.zeros((1, 517))
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "logits of integers": (
        lambda: mask(some_tables(), ONE, ONE, None, LOGITS.astype(mx.int32)),
        r"logits is float32 or float16 or bfloat16 \[any, any\], not int32 \[1, 517\]",
    ),
    "states of another batch": (
        lambda: mask(some_tables(), ONE, int32([0, 0]), None, LOGITS),
        r"state is int32 \[1\], not int32 \[2\]",
    ),
    "a limit without costs": (
        lambda: mask(TokenTables(some_constraints()), ONE, ONE, ONE, LOGITS),
        "without limits=True",
    ),
    "tokens of floats": (
        lambda: advance(some_tables(), ONE, ONE, None, mx.zeros(1)),
        r"token is uint32 or int32 \[any\]",
    ),
    "no logits": (lambda: walk(some_bytes(), ONE, ONE, 0), "a number of logits, not 0"),
    "walks with a limit without costs": (
        lambda: mask_walked(
            ByteTables(some_constraints()), ONE, LOGITS.astype(mx.int16), ONE, LOGITS
        ),
        "without limits=True",
    ),
    "steps with a limit without costs": (
        lambda: step_walked(
            ByteTables(some_constraints()), ONE, ONE, ONE, LOGITS.astype(mx.int16), ONE
        ),
        "without limits=True",
    ),
    "no constraint": (lambda: TokenTables([]), "one constraint at least"),
    "two vocabularies": (
        lambda: TokenTables(
            [some_constraints()[0], worlds.constraint(worlds.record())]
        ),
        "one vocabulary",
    ),
    "a head of odd size": (
        lambda: dense_head(mx.zeros(6), ONE, mx.zeros((3, 6))),
        "a multiple of 4, not 6",
    ),
    "a head of another size": (
        lambda: dense_head(mx.zeros(8), ONE, mx.zeros((3, 4))),
        r"weight is .* \[any, 8\], not float32 \[3, 4\]",
    ),
    "three bits": (
        lambda: quantised_head(mx.zeros(64), ONE, *quantised(), bits=3, group_size=32),
        r"bits are \(2, 4, 8\)",
    ),
    "other bits than the weight has": (
        lambda: quantised_head(mx.zeros(64), ONE, *quantised(), bits=8, group_size=32),
        r"weight is uint32 \[3, 16\], not uint32 \[3, 8\]",
    ),
}


def quantised() -> list[mx.array]:
    return list(mx.quantize(mx.ones((3, 64)), group_size=32, bits=4))


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    act, words = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        act()


def classes_step(logits: mx.array, state: mx.array, left: mx.array) -> list[mx.array]:
    tables, grammar = some_tables(), int32([0, 5])
    token = mask(tables, grammar, state, left, logits).argmax(axis=1)
    return list(advance(tables, grammar, state, left, token))


def walked_step(logits: mx.array, state: mx.array, left: mx.array) -> list[mx.array]:
    tables, grammar = some_bytes(), int32([0, 5])
    after = walk(tables, grammar, state, logits.shape[1])
    token = mask_walked(tables, grammar, after, left, logits).argmax(axis=1)
    return list(step_walked(tables, grammar, state, left, after, token))


def stacks_step(logits: mx.array, state: mx.array, left: mx.array) -> list[mx.array]:
    tables = some_stack_tables(False)
    grammar = int32([0, 1])
    stacks = type(tables.starts)(*(array[:2] for array in tables.starts))
    token = mask_stacks(tables, grammar, stacks, left, logits).argmax(axis=1)
    after, rest = advance_stacks(tables, grammar, stacks, left, token)
    return [after.top, after.entries, after.cost, rest]


STATES = (mx.zeros((2, 517)), int32([1, 1]), int32([9, 9]))


@pytest.mark.parametrize("step", [classes_step, walked_step, stacks_step])
def test_a_step_on_a_gpu_reads_nothing_back(
    step: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Traced with the kernels in place: reading a value would be an error."""
    step(*STATES)  # tables are made from what the host knows, before
    monkeypatch.setattr(Kernel, "__call__", lambda k, a: k.on(k.for_metal(), a))
    try:
        mx.export_function(str(tmp_path / "step"), step, *STATES)
    except RuntimeError as error:
        if "Metal" in str(error):
            pytest.skip(f"mlx {mx.__version__} records no kernels")
        raise


@pytest.mark.parametrize("step", [classes_step, walked_step])
def test_a_step_of_twins_reads_nothing_back(step: Any, tmp_path: Path) -> None:
    step(*STATES)
    mx.export_function(str(tmp_path / "step"), step, *STATES)


def test_reading_back_would_be_seen(tmp_path: Path) -> None:
    def reads(state: mx.array) -> list[mx.array]:
        return [state + state.sum().item()]

    with pytest.raises((RuntimeError, ValueError)):
        mx.export_function(str(tmp_path / "reads"), reads, STATES[1])


def test_samples_are_the_same_each_time() -> None:
    first, second = (some_vocabulary.__wrapped__(3) for _ in range(2))
    assert first.fingerprint == second.fingerprint
