"""The patched loop, on tiny random models: what it yields, feeds and leaves alone."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from threading import Thread
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import stcon
from stcon import LimitError, constrain
from stcon.constraints.constraint import Constraint
from tests import tiny

PROMPT = [5, 6, 7, 8, 9]
SCHEMAS: dict[str, Any] = {
    "form": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 4},
            "age": {"type": "integer", "minimum": 0, "maximum": 99},
            "unit": {"enum": ["celsius", "kelvin"]},
        },
        "required": ["name", "age", "unit"],
        "additionalProperties": False,
    },
    "list": {"type": "array", "items": {"type": "boolean"}, "maxItems": 3},
    "tree": {
        "type": "object",
        "properties": {
            "id": {"enum": [1, 2]},
            "kids": {"type": "array", "maxItems": 1, "items": {"$ref": "#"}},
        },
        "required": ["id"],
        "additionalProperties": False,
    },
}
KINDS = ("llama", "qwen3_5")


@pytest.fixture
def generate_step() -> Iterator[Callable[..., Any]]:
    """mlx-lm's, patched."""
    importlib.import_module("mlx_lm.generate")
    with stcon.patch():
        yield sys.modules["mlx_lm.generate"].generate_step


def constraint(name: str) -> Constraint:
    return constrain(tiny.tokenizer(), SCHEMAS[name], eos_token_ids=[tiny.end_id()])


class Counted:
    """A model that counts its runs and the tokens fed."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.fed: list[list[int]] = []

    def __call__(self, tokens: Any, **more: Any) -> Any:
        self.fed.append(tokens[0].tolist())
        return self._model(tokens, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def text_of(tokens: list[int]) -> str:
    assert tokens[-1] == tiny.end_id()
    return str(tiny.tokenizer().decode(tokens[:-1]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SCHEMAS)
def test_outputs_are_valid(
    generate_step: Callable[..., Any], name: str, kind: str
) -> None:
    made = constraint(name)
    for seed in range(4):
        model = tiny.model(kind, seed=seed)
        steps = generate_step(
            mx.array(PROMPT), model, max_tokens=200, logits_processors=[made]
        )
        tokens = [int(token) for token, _ in steps]
        if len(tokens) == 200:  # a random model may nest on and on
            state = made.advance_all(tokens)
            assert made.matches(
                tiny.tokenizer().decode(tokens).encode() + made.shortest(state)
            )
        else:
            assert made.matches(text_of(tokens)), text_of(tokens)


@pytest.mark.parametrize("kind", KINDS)
def test_forced_text_costs_no_runs(
    generate_step: Callable[..., Any], kind: str
) -> None:
    model = Counted(tiny.model(kind))
    made = constraint("form")
    steps = generate_step(
        mx.array(PROMPT), model, max_tokens=200, logits_processors=[made]
    )
    tokens = [int(token) for token, _ in steps]
    assert [t for run in model.fed for t in run] == [*PROMPT, *tokens]
    assert model.fed[0] == PROMPT[:-1]
    assert len(model.fed[1]) > 1, "the prompt's run carries the forced beginning"
    assert len(model.fed) < len(tokens)


@pytest.mark.parametrize("kind", KINDS)
def test_log_probabilities_are_those_of_one_run(
    generate_step: Callable[..., Any], kind: str
) -> None:
    model, made = tiny.model(kind), constraint("form")
    steps = list(
        generate_step(mx.array(PROMPT), model, max_tokens=200, logits_processors=[made])
    )
    tokens = [int(token) for token, _ in steps]
    logits = model(mx.array([[*PROMPT, *tokens]]))[0][len(PROMPT) - 1 :]
    whole = np.array(logits - mx.logsumexp(logits, axis=-1, keepdims=True))
    for place, (token, logprobs) in enumerate(steps):
        have = np.array(logprobs)
        assert have.shape == whole[place].shape
        kept = np.isfinite(have)
        assert kept[token]
        shift = have[kept] - whole[place][kept]  # masked ones are scaled up
        assert np.allclose(shift, shift[0], atol=1e-3)


def test_limits_are_kept(generate_step: Callable[..., Any]) -> None:
    model, made = tiny.model("llama"), constraint("form")

    def run(limit: int) -> list[int]:
        steps = generate_step(
            mx.array(PROMPT), model, max_tokens=limit, logits_processors=[made]
        )
        return [int(token) for token, _ in steps]

    whole = run(-1)
    assert run(len(whole)) == run(len(whole) + 9) == whole
    assert run(len(whole) - 1) == whole[:-1]  # all but the end
    with pytest.raises(LimitError, match="the least is") as error:
        run(3)
    least = int(error.value.limit)
    for limit in range(1, len(whole) - 1):
        if limit < least:
            with pytest.raises(LimitError, match=f"the least is {least}"):
                run(limit)
        else:
            tokens = run(limit)
            assert len(tokens) <= limit
            assert made.matches(made.vocabulary.decode(tokens))


@pytest.mark.parametrize("kind", KINDS)
def test_a_cache_that_is_given_holds_all_tokens(
    generate_step: Callable[..., Any], kind: str
) -> None:
    from mlx_lm.models.cache import make_prompt_cache

    model, made = tiny.model(kind), constraint("form")
    cache = make_prompt_cache(model)
    steps = generate_step(
        mx.array(PROMPT),
        model,
        max_tokens=200,
        logits_processors=[made],
        prompt_cache=cache,
    )
    tokens = [int(token) for token, _ in steps]
    after = model(mx.array([[11, 12]]), cache=cache)[0]
    fresh = model(mx.array([[*PROMPT, *tokens, 11, 12]]))[0][-2:]
    assert np.allclose(np.array(after), np.array(fresh), atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stop", [1, 2, 5, 8])
def test_an_output_that_is_left_early_leaves_its_cache_right(
    generate_step: Callable[..., Any], kind: str, stop: int
) -> None:
    """It holds what was yielded and nothing of the forced text that was not."""
    from mlx_lm.models.cache import make_prompt_cache

    model, made = tiny.model(kind), constraint("form")
    cache = make_prompt_cache(model)
    steps = generate_step(
        mx.array(PROMPT),
        model,
        max_tokens=200,
        logits_processors=[made],
        prompt_cache=cache,
    )
    tokens = [int(token) for token, _ in islice(steps, stop)]
    steps.close()
    after = model(mx.array([[11, 12]]), cache=cache)[0]
    fresh = model(mx.array([[*PROMPT, *tokens, 11, 12]]))[0][-2:]
    assert np.allclose(np.array(after), np.array(fresh), atol=1e-3)


def test_a_cache_may_go_on_in_another_thread(
    generate_step: Callable[..., Any],
) -> None:
    from mlx_lm.models.cache import make_prompt_cache

    model, made = tiny.model("llama"), constraint("form")
    cache, found = make_prompt_cache(model), []

    def run(prompt: list[int]) -> None:
        steps = generate_step(
            mx.array(prompt),
            model,
            max_tokens=200,
            logits_processors=[made.fresh()],
            prompt_cache=cache,
        )
        found.append([int(token) for token, _ in steps])

    for prompt in (PROMPT, [20, 21]):
        thread = Thread(target=run, args=(prompt,))
        thread.start()
        thread.join()
    assert len(found) == 2 and all(made.matches(text_of(tokens)) for tokens in found)


def test_long_forced_text_is_fed_in_chunks(generate_step: Callable[..., Any]) -> None:
    word = "a quick brown fox " * 40
    made = constrain(
        tiny.tokenizer(),
        choices=[word + "b", word + "c"],
        eos_token_ids=[tiny.end_id()],
    )
    outputs = []
    for size in (7, 2048):
        model = Counted(tiny.model("llama"))
        steps = generate_step(
            mx.array(PROMPT),
            model,
            max_tokens=2000,
            logits_processors=[made],
            prefill_step_size=size,
        )
        outputs.append([int(token) for token, _ in steps])
        assert max(map(len, model.fed)) <= size
    assert outputs[0] == outputs[1]


def test_other_processors_come_before_the_constraint(
    generate_step: Callable[..., Any],
) -> None:
    model, made = tiny.model("llama"), constraint("form")
    seen: list[list[int]] = []

    def other(tokens: Any, logits: Any) -> Any:
        seen.append(tokens.tolist())
        return logits + 100.0 * (mx.arange(logits.shape[-1]) == 90)

    steps = generate_step(
        mx.array(PROMPT), model, max_tokens=200, logits_processors=[made, other]
    )
    tokens = [int(token) for token, _ in steps]
    assert made.matches(text_of(tokens))
    for history in seen:
        assert history == [*PROMPT, *tokens][: len(history)]
    assert seen[0][: len(PROMPT)] == PROMPT and len(seen) < len(tokens)


def test_a_call_without_a_constraint_is_the_stock_one(
    generate_step: Callable[..., Any],
) -> None:
    model = tiny.model("llama")

    def run() -> list[int]:
        return [int(t) for t, _ in generate_step(mx.array(PROMPT), model, max_tokens=9)]

    have = run()
    stcon.unpatch()
    stock = sys.modules["mlx_lm.generate"].generate_step
    assert [int(t) for t, _ in stock(mx.array(PROMPT), model, max_tokens=9)] == have


OPTIONS: dict[str, dict[str, Any]] = {
    "small prefill": {"prefill_step_size": 2},
    "rotating": {"max_kv_size": 64},  # models that make their own caches ignore it
    "full rotating": {"prompt_cache": 8},
    "quantised": {"kv_bits": 8, "kv_group_size": 32, "quantized_kv_start": 0},
    "sampled": {"sampler": lambda logprobs: mx.random.categorical(logprobs)},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(generate_step: Callable[..., Any], name: str) -> None:
    from mlx_lm.models.cache import RotatingKVCache

    model, made = tiny.model("llama"), constraint("form")
    reports: list[tuple[int, int]] = []
    options = dict(OPTIONS[name])
    if size := options.get("prompt_cache"):
        options["prompt_cache"] = [RotatingKVCache(size, keep=4) for _ in model.layers]
    steps = generate_step(
        mx.array(PROMPT),
        model,
        max_tokens=200,
        logits_processors=[made],
        prompt_progress_callback=lambda *at: reports.append(at),
        **options,
    )
    tokens = [int(token) for token, _ in steps]
    assert made.matches(text_of(tokens))
    assert reports[0] == (0, 5) and reports[-1] == (5, 5)


def test_stream_generate_tells_the_truth() -> None:
    from mlx_lm import stream_generate
    from mlx_lm.tokenizer_utils import TokenizerWrapper
    from transformers import PreTrainedTokenizerFast

    wrapped = TokenizerWrapper(
        PreTrainedTokenizerFast(tokenizer_object=tiny.tokenizer(), eos_token="<end>")
    )
    made = constrain(wrapped, SCHEMAS["form"])
    with stcon.patch():
        events = list(
            stream_generate(
                tiny.model("llama"),
                wrapped,
                PROMPT,
                max_tokens=200,
                logits_processors=[made],
            )
        )
    assert events[-1].finish_reason == "stop"
    assert made.matches("".join(event.text for event in events))
    assert events[-1].generation_tokens == len(events)
    assert not any(event.from_draft for event in events)


def test_two_constraints_are_refused(generate_step: Callable[..., Any]) -> None:
    both = [constraint("form"), constraint("list")]
    with pytest.raises(ValueError, match="2 constraints"):
        list(
            generate_step(mx.array(PROMPT), tiny.model("llama"), logits_processors=both)
        )


def test_a_constraint_without_its_list_is_told(
    generate_step: Callable[..., Any],
) -> None:
    with pytest.raises(TypeError, match=r"pass \[constraint\]"):
        generate_step(
            mx.array(PROMPT), tiny.model("llama"), logits_processors=constraint("form")
        )
