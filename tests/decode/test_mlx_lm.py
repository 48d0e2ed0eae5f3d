"""One constraint object in every loop of mlx-lm, on the real model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stcon import constrain
from stcon.constraints.constraint import Constraint

pytestmark = pytest.mark.real

SCHEMA = {
    "type": "object",
    "properties": {
        "animal": {"enum": ["cat", "dog", "horse"]},
        "legs": {"type": "integer", "minimum": 0, "maximum": 8},
    },
    "required": ["animal", "legs"],
    "additionalProperties": False,
}
TREE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 6},
                "kids": {
                    "type": "array",
                    "maxItems": 1,
                    "items": {"$ref": "#/$defs/node"},
                },
            },
            "required": ["name"],
            "additionalProperties": False,
        }
    },
}
ASKED = ["Which animal barks? Answer as JSON.", "An animal that purrs, as JSON:"]


def prompt(tokenizer: Any, text: str) -> list[int]:
    message = [{"role": "user", "content": text}]
    ids: list[int] = tokenizer.apply_chat_template(message, add_generation_prompt=True)
    return ids


@pytest.fixture(scope="module", params=["host", "traced"])
def path(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def animal(path: str, smollm2: tuple[Any, Any]) -> Constraint:
    return constrain(smollm2[1], SCHEMA, path=path)


@pytest.fixture(scope="module")
def alone(path: str, smollm2: tuple[Any, Any]) -> list[str]:
    """What each prompt gives with an object of its own."""
    from mlx_lm import generate

    model, tokenizer = smollm2
    return [
        generate(
            model,
            tokenizer,
            prompt(tokenizer, text),
            max_tokens=40,
            logits_processors=[constrain(tokenizer, SCHEMA, path=path)],
        )
        for text in ASKED
    ]


def test_in_sequence(
    smollm2: tuple[Any, Any], animal: Constraint, alone: list[str]
) -> None:
    from mlx_lm import generate

    model, tokenizer = smollm2
    for text, want in zip(ASKED, alone, strict=True):
        assert animal.matches(want)
        have = generate(
            model,
            tokenizer,
            prompt(tokenizer, text),
            max_tokens=40,
            logits_processors=[animal],
        )
        assert have == want


def test_rows_of_a_batch(
    smollm2: tuple[Any, Any], animal: Constraint, alone: list[str]
) -> None:
    from mlx_lm import batch_generate

    model, tokenizer = smollm2
    prompts = [prompt(tokenizer, text) for text in (*ASKED, ASKED[0])]
    texts = batch_generate(
        model, tokenizer, prompts, max_tokens=40, logits_processors=[animal]
    ).texts
    assert all(animal.matches(text) for text in texts)
    assert texts[0] == texts[2] == alone[0]


def test_speculative(
    smollm2: tuple[Any, Any], animal: Constraint, alone: list[str]
) -> None:
    from mlx_lm import generate

    model, tokenizer = smollm2
    have = generate(
        model,
        tokenizer,
        prompt(tokenizer, ASKED[0]),
        max_tokens=40,
        draft_model=model,
        num_draft_tokens=3,
        logits_processors=[animal],
    )
    assert have == alone[0]


def test_cut_short_then_again(
    smollm2: tuple[Any, Any], animal: Constraint, alone: list[str]
) -> None:
    from mlx_lm import generate

    model, tokenizer = smollm2
    ids = prompt(tokenizer, ASKED[0])
    for most in (3, 40):
        have = generate(
            model, tokenizer, ids, max_tokens=most, logits_processors=[animal]
        )
        assert alone[0].startswith(have)
    assert have == alone[0]


def test_a_prompt_cache(
    smollm2: tuple[Any, Any], animal: Constraint, alone: list[str]
) -> None:
    from mlx_lm import generate
    from mlx_lm.models.cache import make_prompt_cache

    model, tokenizer = smollm2
    cache = make_prompt_cache(model)
    common: dict[str, Any] = {"prompt_cache": cache, "logits_processors": [animal]}
    first = generate(
        model, tokenizer, prompt(tokenizer, ASKED[0]), max_tokens=40, **common
    )
    assert first == alone[0]
    more = tokenizer.encode("\nAnd an animal that neighs:", add_special_tokens=False)
    second = generate(model, tokenizer, more, max_tokens=40, **common)
    assert animal.matches(second)


def test_sampling_stays_valid(smollm2: tuple[Any, Any], animal: Constraint) -> None:
    import mlx.core as mx
    from mlx_lm import generate
    from mlx_lm.sample_utils import make_sampler

    model, tokenizer = smollm2
    mx.random.seed(7)
    text = generate(
        model,
        tokenizer,
        prompt(tokenizer, ASKED[1]),
        max_tokens=40,
        sampler=make_sampler(temp=2.0),
        logits_processors=[animal],
    )
    assert animal.matches(text), animal.explain(text)


def test_a_schema_that_contains_itself(smollm2: tuple[Any, Any]) -> None:
    from mlx_lm import generate

    model, tokenizer = smollm2
    tree = constrain(tokenizer, TREE, max_tokens=60)
    assert tree.kind == "pushdown"
    asked = "A family tree as JSON: Ann, her son Bob, his daughter Cleo."
    text = generate(
        model,
        tokenizer,
        prompt(tokenizer, asked),
        max_tokens=60,
        logits_processors=[tree],
    )
    json.loads(text)
    assert tree.matches(text)


def test_patched_it_takes_fewer_runs(smollm2: tuple[Any, Any]) -> None:
    from mlx_lm import stream_generate

    import stcon

    model, tokenizer = smollm2
    animal = constrain(tokenizer, SCHEMA)
    runs: list[int] = []

    class Model:
        def __call__(self, tokens: Any, **more: Any) -> Any:
            runs.append(tokens.shape[1])
            return model(tokens, **more)

        def __getattr__(self, name: str) -> Any:
            return getattr(model, name)

    with stcon.patch():
        events = list(
            stream_generate(
                Model(),
                tokenizer,
                prompt(tokenizer, ASKED[0]),
                max_tokens=40,
                logits_processors=[animal],
            )
        )
    text = "".join(event.text for event in events)
    assert animal.matches(text) and events[-1].finish_reason == "stop"
    written = [event.token for event in events[:-1]]
    assert written == tokenizer.encode(text, add_special_tokens=False)
    assert len(runs) - 1 <= len(written) / 2, "the prompt, and few runs after it"


def test_all_ways_write_the_same(smollm2: tuple[Any, Any]) -> None:
    """At once, enqueued ahead, in a batch, with a draft model, and unpatched."""
    from mlx_lm import batch_generate, stream_generate

    import stcon

    model, tokenizer = smollm2
    prompts = [prompt(tokenizer, text) for text in ASKED]

    def run(**more: Any) -> list[int]:
        events = stream_generate(
            model,
            tokenizer,
            prompts[0],
            max_tokens=40,
            logits_processors=[constrain(tokenizer, SCHEMA)],
            **more,
        )
        return [int(event.token) for event in events]

    unpatched = run()
    with stcon.patch(pipelined=True):
        assert run() == unpatched
    with stcon.patch():
        assert run() == unpatched
        assert run(draft_model=model, num_draft_tokens=2) == unpatched
        rows = batch_generate(
            model,
            tokenizer,
            prompts,
            max_tokens=40,
            logits_processors=[constrain(tokenizer, SCHEMA)],
        )
    ends = tokenizer.eos_token_ids
    assert rows.texts[0] == tokenizer.decode([t for t in unpatched if t not in ends])
