"""The limit of a call: ten schemas, every limit, samplers that mean no good."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from itertools import islice
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from jsonschema import Draft202012Validator

from stcon import LimitError, constrain
from stcon.bench.cases import cases
from stcon.constraints.budget import BudgetConstraint
from stcon.constraints.constraint import Constraint
from stcon.decode.constrained_loop import ConstrainedLoop
from stcon.decode.head import Fed
from stcon.decode.processor import HostProcessor
from tests import tiny
from tests.trees import TREES, nested

PROMPT = [5, 6, 7, 8, 9]
WIDTH = 640
CASES = {case.name: case for case in cases() if case.is_extraction}
SCHEMAS: dict[str, Any] = {name: case.schema for name, case in CASES.items()} | TREES


@cache
def made(name: str) -> Constraint:
    ends = [tiny.end_id()]
    return constrain(tiny.tokenizer(), SCHEMAS[name], eos_token_ids=ends)


def answer(name: str) -> str:
    """A full answer, such as a model might give without a limit."""
    value = CASES[name].instances[0] if name in CASES else nested(name, 3)
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class Noise:
    """A model without sense: logits from a seed and the place."""

    is_kept, width = False, None

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._fed = 0
        self.runs = 0

    def run(self, tokens: Any) -> Fed:
        self.runs += 1
        rng = np.random.default_rng((self._seed, self._fed))
        self._fed += len(tokens)
        logits = rng.normal(size=(len(tokens), WIDTH)).astype(np.float32)
        return Fed(mx.array(logits))

    def start(self, fed: Fed) -> None:
        pass

    def checkpoint(self, count: int) -> None:
        pass

    def settle(self) -> None:
        pass


def worst(logprobs: Any) -> Any:
    """The token the model likes least of those that are allowed."""
    return mx.argmin(mx.where(mx.isinf(logprobs), mx.inf, logprobs), axis=-1)


def uniform(seed: int) -> Callable[[Any], Any]:
    """Any token that is allowed, as likely as any other."""
    rng = random.Random(seed)

    def sample(logprobs: Any) -> Any:
        allowed = np.flatnonzero(np.isfinite(np.array(logprobs[0])))
        return mx.array([int(rng.choice(allowed))])

    return sample


def greedy(logprobs: Any) -> Any:
    """The token the model likes most."""
    return mx.argmax(logprobs, axis=-1)


def written(
    constraint: Constraint, limit: int, seed: int, sampler: Callable[[Any], Any]
) -> list[int]:
    """The tokens the loop yields."""
    loop = ConstrainedLoop(constraint, Noise(seed), sampler)
    loop.begin(mx.array(PROMPT), limit)
    return [token for token, _ in loop.steps(mx.array(PROMPT[-1:]))]


def text_of(tokens: list[int]) -> str:
    kept = [token for token in tokens if token != tiny.end_id()]
    return made("person").vocabulary.decode(kept).decode()


def is_valid(name: str, text: str) -> bool:
    validator = Draft202012Validator(SCHEMAS[name])
    return made(name).matches(text) and validator.is_valid(json.loads(text))


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_limit_of_the_patched_loop(name: str) -> None:
    constraint = made(name)
    with pytest.raises(LimitError, match="the least is") as error:
        written(constraint, 1, 0, greedy)
    least = int(error.value.limit)
    full = len(tiny.tokenizer().encode(answer(name)).ids)
    assert least < full
    for limit in range(1, full + 1):
        sampler = (greedy, worst, uniform(limit))[limit % 3]
        if limit >= least:
            tokens = written(constraint, limit, limit, sampler)
            assert len(tokens) <= limit
            assert is_valid(name, text_of(tokens)), (limit, text_of(tokens))
            continue
        model = Noise(0)
        with pytest.raises(LimitError, match=f"the least is {least}"):
            ConstrainedLoop(constraint, model, worst).begin(mx.array(PROMPT), limit)
        assert model.runs == 0


@pytest.mark.parametrize("name", SCHEMAS)
def test_near_the_least_every_sampler_is_held(name: str) -> None:
    constraint = made(name)
    least = constraint.costs.least(constraint.start)
    for limit in (least, least + 1, least + 2, least + 7):
        for seed in range(3):
            for sampler in (greedy, worst, uniform(seed)):
                tokens = written(constraint, limit, seed, sampler)
                assert is_valid(name, text_of(tokens)), (limit, text_of(tokens))


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_limit_of_a_processor(name: str) -> None:
    """As mlx-lm's own loop uses it, which stops at the limit."""
    constraint = made(name)
    least = constraint.costs.least(constraint.start)
    full = len(tiny.tokenizer().encode(answer(name)).ids)
    for limit in range(least, full + 1, 3):
        limited = constraint.within(limit)
        processor = HostProcessor(limited)
        rng, tokens = random.Random(limit), list(PROMPT)
        for _ in range(limit):
            row = np.flatnonzero(np.array(processor.row(tokens, WIDTH)[0]))
            tokens.append(int(rng.choice(row)))
            if tokens[-1] == tiny.end_id():
                break
        processor.row(tokens, WIDTH)  # mlx-lm asks once more
        assert is_valid(name, text_of(tokens[len(PROMPT) :]))


@pytest.mark.parametrize("name", SCHEMAS)
def test_with_room_to_spare_nothing_changes(name: str) -> None:
    """Random text that does not end for long: its first tokens."""
    constraint, prompt = made(name), mx.array(PROMPT)
    for seed, sampler in enumerate((greedy, worst)):
        first: list[list[int]] = []
        for limit in (-1, 600, 5000):
            loop = ConstrainedLoop(constraint, Noise(seed), sampler)
            loop.begin(prompt, limit)
            steps = loop.steps(prompt[-1:])
            first.append([token for token, _ in islice(steps, 120)])
        assert first[0] == first[1] == first[2]


def test_a_limit_of_the_constraint_itself() -> None:
    constraint = made("person")
    limited = constraint.within(60)
    assert isinstance(limited, BudgetConstraint)
    for limit in (-1, 60, 200):
        tokens = written(limited, limit, 1, worst)
        assert len(tokens) <= 61 and is_valid("person", text_of(tokens))
    assert len(written(limited, 45, 1, worst)) <= 45


@pytest.mark.parametrize("name", ["person", "solar"])
def test_a_limit_while_a_model_thinks(name: str) -> None:
    """What is thought counts, and leaves enough for the mark and the format."""
    mark, ends = "</think>", [tiny.end_id()]
    inner = constrain(tiny.tokenizer(), SCHEMAS[name], eos_token_ids=ends, after=mark)
    least = inner.costs.least(inner.start)
    for limit in (least, least + 1, least + 10, least + 25):
        for sampler in (greedy, worst, uniform(limit)):
            tokens = written(inner, limit, limit, sampler)
            assert len(tokens) <= limit
            kept = [token for token in tokens if token != tiny.end_id()]
            text = inner.vocabulary.decode(kept).partition(mark.encode())[2]
            assert is_valid(name, text.decode().lstrip("\n"))
    with pytest.raises(LimitError, match=f"the least is {least}"):
        written(inner, least - 1, 0, greedy)
