"""All ways to decode give the same tokens, with Qwen3.5's own 248k tokens.

The model is a random one of Qwen3.5's kind, recurrent layers and attention, with its
whole head of 248,320 rows; six extractions and four schemas that contain themselves.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import mlx.core as mx
import pytest

import stcon
from stcon import Vocabulary, constrain
from stcon.bench.prompts import asked_cases
from stcon.constraints.constraint import Constraint
from tests import assets, tiny

CASES = {case.name: case for case in asked_cases()}
LIMIT = 48
WIDTH = 248_320


@cache
def vocabulary() -> Vocabulary:
    real = assets.tokenizer("qwen3.5")
    return Vocabulary.of(real.tokenizer, real.eos_ids)


@cache
def model() -> Any:
    return tiny.model("qwen3_5", WIDTH, seed=4)


@cache
def made(name: str) -> Constraint:
    return constrain(vocabulary(), CASES[name].schema)


def prompt(name: str) -> list[int]:
    return [100 + place for place, _ in enumerate(name)]


def written(name: str, **more: Any) -> list[int]:
    """The tokens of one call."""
    steps = import_module("mlx_lm.generate").generate_step(
        mx.array(prompt(name)),
        model(),
        max_tokens=LIMIT,
        logits_processors=[made(name)],
        **more,
    )
    return [int(token) for token, _ in steps]


def limited(name: str) -> bool:
    """Whether an answer fits; contact cards are longer."""
    return made(name).costs.least(made(name).start) <= LIMIT


NAMES = [name for name in CASES if name != "form_96"]


@pytest.mark.parametrize("name", NAMES)
def test_enqueued_ahead_and_sampled(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stcon.decode.ahead._WORTH", 1.0)
    assert limited(name)
    found = []
    for pipelined in (False, True):
        with stcon.patch(pipelined=pipelined):
            greedy = written(name)
            mx.random.seed(3)
            sampled = written(name, sampler=mx.random.categorical)
        found.append((greedy, sampled))
    assert found[0] == found[1]
    for tokens in found[0]:
        text = vocabulary().decode([t for t in tokens if t not in vocabulary().eos_ids])
        assert made(name).matches(text), text


def test_a_batch_of_all() -> None:
    module = import_module("mlx_lm.generate")
    with stcon.patch():
        generator = module.BatchGenerator(
            model(), stop_tokens=[[t] for t in vocabulary().eos_ids]
        )
        uids = generator.insert(
            [prompt(name) for name in NAMES],
            [LIMIT] * len(NAMES),
            logits_processors=[[made(name)] for name in NAMES],
        )
        rows: dict[int, list[int]] = {uid: [] for uid in uids}
        while responses := generator.next_generated():
            for response in responses:
                rows[response.uid].append(response.token)
        generator.close()
        for name, row in zip(NAMES, rows.values(), strict=True):
            assert row == written(name), name
