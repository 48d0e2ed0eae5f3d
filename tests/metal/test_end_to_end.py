"""Whole outputs of a small model: the same tokens on every path."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import mlx.core as mx
import pytest

from stcon import constrain
from stcon.constraints.constraint import Constraint
from stcon.constraints.dfa import DfaConstraint
from stcon.constraints.pushdown import PushdownConstraint
from stcon.decode.processor import HostProcessor
from stcon.metal.formats import CLASSES, WALK, Formats, StackFormats
from stcon.metal.kernel import Kernel
from stcon.metal.samples import int32
from tests import tiny
from tests.mslshim.runner import CpuKernel, need_text

TOKENS = 24
PROMPT = [5, 6, 7]
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0},
        "unit": {"enum": ["celsius", "fahrenheit"]},
    },
    "required": ["name", "age", "unit"],
    "additionalProperties": False,
}


@cache
def model() -> Any:
    return tiny.model("llama")


def made(schema: Any, path: str | None = None) -> Constraint:
    return constrain(tiny.tokenizer(), schema, eos_token_ids=[tiny.end_id()], path=path)


def next_logits(tokens: list[int]) -> mx.array:
    """[1, width]; nudged by the place: a random model would repeat itself."""
    logits = model()(mx.array([PROMPT + tokens]))[:, -1]
    return logits + mx.random.normal(logits.shape, key=mx.random.key(len(tokens)))


def by_processor(processor: Callable[[Any, Any], Any]) -> list[int]:
    tokens: list[int] = []
    for _ in range(TOKENS):
        history = mx.array(PROMPT + tokens)
        masked = processor(history, next_logits(tokens))
        tokens.append(int(masked.argmax().item()))
    return tokens


def by_formats(formats: Any) -> list[int]:
    tokens: list[int] = []
    grammar, state = int32([0]), formats.starts
    for _ in range(TOKENS):
        step = formats.at(grammar, state)
        token = step.mask(next_logits(tokens)).argmax(axis=1)
        state, _ = step.advance(token)
        tokens.append(int(token.item()))
    return tokens


@pytest.fixture(params=["twins", "texts"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twins, or the kernels' texts in the runner."""
    if request.param == "texts":
        need_text()
        monkeypatch.setattr(Kernel, "__call__", on_runner)


def on_runner(kernel: Kernel[Any], arguments: Any) -> list[mx.array]:
    return kernel.on(CpuKernel(kernel.for_metal(), schedules=1), arguments)


FINITE: dict[str, Callable[[], list[int]]] = {
    "traced": lambda: by_processor(made(SCHEMA, "traced")),
    "classes": lambda: by_formats(finite(CLASSES)),
    "walk": lambda: by_formats(finite(WALK)),
}


def finite(path: str) -> Formats:
    constraint = made(SCHEMA)
    assert isinstance(constraint, DfaConstraint)
    return Formats([constraint], path=path)


@pytest.mark.parametrize("path", FINITE)
def test_finite_formats(backend: None, path: str) -> None:
    want = by_processor(HostProcessor(made(SCHEMA, "host"), pins=False))
    assert FINITE[path]() == want and len(set(want)) > 5


def test_formats_with_a_stack(backend: None) -> None:
    constraint = made(True)
    assert isinstance(constraint, PushdownConstraint)
    want = by_processor(HostProcessor(constraint, pins=False))
    assert by_formats(StackFormats([constraint])) == want and len(set(want)) > 2


def test_without_a_gpu_a_launch_is_an_error() -> None:
    step = finite(CLASSES).at(int32([0]), int32([1]))
    from stcon.metal.mask import KERNEL, checked

    logits = mx.zeros((1, 640))
    with pytest.raises(RuntimeError, match="back-end"):
        KERNEL.launch(checked(step.tables, step.grammar, step.state, None, logits))
