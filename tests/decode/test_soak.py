"""Very many generations: random formats and stops, rows that join and leave, samplers
that fail.  Nothing of one is seen in another, and nothing is kept."""

from __future__ import annotations

import gc
import random
import tracemalloc
from importlib import import_module
from typing import Any

import mlx.core as mx
import pytest

import stcon
from stcon import HistoryError, constrain
from stcon.constraints.constraint import Constraint
from tests import tiny
from tests.decode.test_patch import SCHEMAS
from tests.decode.test_unpatch import everything
from tests.decode.test_ways import LIMIT

GENERATIONS = 1000
WORDS = ["name", "age", "city", "unit", "zip code", "é", "a-b"]


class Boom(Exception):
    """What a sampler throws."""


def schema(rng: random.Random) -> Any:
    """A small random form, or one of the known ones."""
    if rng.random() < 0.2:
        return SCHEMAS[rng.choice(sorted(SCHEMAS))]
    parts: list[Any] = [
        {"type": "integer", "minimum": 0, "maximum": rng.randint(1, 300)},
        {"type": "string", "maxLength": rng.randint(0, 5)},
        {"enum": rng.sample(WORDS, 2)},
        {"type": "array", "items": {"type": "boolean"}, "maxItems": rng.randint(0, 3)},
        {"const": rng.choice(WORDS)},
    ]
    keys = rng.sample(WORDS, rng.randint(1, 3))
    return {
        "type": "object",
        "properties": {key: rng.choice(parts) for key in keys},
        "required": keys,
        "additionalProperties": False,
    }


def sampler(rng: random.Random) -> Any:
    """Greedy or random; one in eight fails after some tokens."""
    left = rng.randint(0, 12) if rng.random() < 0.125 else 1 << 30

    def sample(logprobs: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise Boom
        return mx.random.categorical(logprobs)

    return sample


def made(rng: random.Random) -> Constraint:
    return constrain(tiny.tokenizer(), schema(rng), eos_token_ids=[tiny.end_id()])


def prompt(rng: random.Random) -> list[int]:
    return [rng.randrange(1, 300) for _ in range(rng.randint(1, 9))]


def is_whole(constraint: Constraint, tokens: list[int]) -> bool:
    kept = [token for token in tokens if token != tiny.end_id()]
    return constraint.matches(constraint.vocabulary.decode(kept))


class Soak:
    """All ways to generate, counted."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.module = import_module("mlx_lm.generate")
        self.models = [tiny.model("llama"), tiny.model("qwen3_5")]
        self.done = self.failed = self.stopped = 0

    def one(self) -> None:
        """One call, to its end, to a random stop, or to a failure."""
        rng, constraint = self.rng, made(self.rng)
        steps = self.module.generate_step(
            mx.array(prompt(rng)),
            rng.choice(self.models),
            max_tokens=LIMIT,
            sampler=sampler(rng),
            logits_processors=[constraint],
        )
        self.follow(steps, constraint)

    def drafted(self) -> None:
        """The same with a draft model."""
        rng, constraint = self.rng, made(self.rng)
        model = self.models[0]
        steps = self.module.speculative_generate_step(
            mx.array(prompt(rng)),
            model,
            model,
            max_tokens=LIMIT,
            sampler=sampler(rng),
            logits_processors=[constraint],
        )
        self.follow((step[:2] for step in steps), constraint)

    def follow(self, steps: Any, constraint: Constraint) -> None:
        stop = self.rng.randint(1, 20) if self.rng.random() < 0.25 else 1 << 30
        tokens: list[int] = []
        try:
            for token, _ in steps:
                tokens.append(int(token))
                if len(tokens) == stop:
                    self.stopped += 1
                    return
        except Boom:
            self.failed += 1
            return
        finally:
            steps.close()
        assert is_whole(constraint, tokens), tokens
        self.done += 1

    def batch(self) -> int:
        """Rows that join and leave; how many there were."""
        rng = self.rng
        generator = self.module.BatchGenerator(
            rng.choice(self.models), completion_batch_size=4, sampler=sampler(rng)
        )
        rows: dict[int, tuple[Constraint | None, list[int]]] = {}
        waiting = rng.randint(2, 8)
        total = waiting
        try:
            while True:
                if waiting and rng.random() < 0.5:
                    constraint = made(rng) if rng.random() < 0.8 else None
                    own = [[constraint]] if constraint else [[]]
                    [uid] = generator.insert([prompt(rng)], [40], logits_processors=own)
                    rows[uid] = constraint, []
                    waiting -= 1
                responses = generator.next_generated() if rows else []
                self.follow_rows(generator, rows, responses)
                if not waiting and not rows:
                    return total
        except Boom:
            self.failed += total - waiting
            return total
        finally:
            generator.close()

    def follow_rows(self, generator: Any, rows: Any, responses: Any) -> None:
        for response in responses:
            constraint, tokens = rows[response.uid]
            tokens.append(response.token)
            is_end = constraint and response.token == tiny.end_id()
            is_left = self.rng.random() < 0.01
            if response.finish_reason or is_end or is_left:
                if not response.finish_reason:
                    generator.remove([response.uid])
                del rows[response.uid]
                if constraint and not is_left:
                    assert is_whole(constraint, tokens), tokens
                self.done += not is_left
                self.stopped += is_left


def test_a_thousand_generations() -> None:
    soak, count, held = Soak(1), 0, []
    soak.one()
    soak.drafted()
    soak.batch()  # what they import is no leak
    before = everything()
    tracemalloc.start()
    with stcon.patch():
        while count < GENERATIONS:
            way = soak.rng.random()
            if way < 0.5:
                soak.one()
            elif way < 0.65:
                soak.drafted()
            count += soak.batch() if way >= 0.65 else 1
            if count % 100 < 5:
                gc.collect()
                traced = tracemalloc.get_traced_memory()[0]
                held.append((count, traced, mx.get_active_memory()))
    tracemalloc.stop()
    after = everything()
    assert before.keys() == after.keys()
    assert all(after[key] is value for key, value in before.items())
    assert soak.done > GENERATIONS / 3 and soak.failed > 20 and soak.stopped > 20
    late = [memory for at, *memory in held if at > GENERATIONS / 3]
    for kind in zip(*late, strict=True):
        assert max(kind) - min(kind) < 8 << 20, held


def test_an_error_leaves_mlx_lm_patched_and_well() -> None:
    """What a call throws is its own; the next one does not see it."""
    module, model = import_module("mlx_lm.generate"), tiny.model("llama")
    constraint = made(random.Random(5))

    def run(sampler: Any) -> list[int]:
        steps = module.generate_step(
            mx.array([5, 6]),
            model,
            max_tokens=LIMIT,
            sampler=sampler,
            logits_processors=[constraint],
        )
        return [int(token) for token, _ in steps]

    with stcon.patch():
        want = run(None)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                run(lambda _: 1 / 0)
            assert run(None) == want


def test_a_sampler_that_breaks_the_format_is_told() -> None:
    constraint = made(random.Random(5))
    module, model = import_module("mlx_lm.generate"), tiny.model("llama")
    with stcon.patch():
        steps = module.generate_step(
            mx.array([5, 6]),
            model,
            max_tokens=LIMIT,
            sampler=lambda logprobs: mx.argmin(logprobs, axis=-1),
            logits_processors=[constraint],
        )
        with pytest.raises(HistoryError, match="is not allowed there"):
            list(steps)
