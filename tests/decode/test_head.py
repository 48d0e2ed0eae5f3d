"""Models whose head is called apart give the logits they give as a whole."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from mlx_lm.models.cache import make_prompt_cache

import stcon
from stcon.decode.feed import Feed
from stcon.decode.head import Fed, Head, head_of, shared_heads
from tests import tiny
from tests.decode.test_ways import LIMIT, PROMPTS, alone, made

KINDS = ("llama", "qwen3_5")
TOKENS = [5, 6, 7]
FEW = [0, 3, 90, 91, 92, 350, 376, 639]


def untied() -> Any:
    module = import_module("mlx_lm.models.llama")
    config = {**tiny.CONFIGS["llama"], "vocab_size": 640, "tie_word_embeddings": False}
    return module.Model(module.ModelArgs.from_dict(config))


def quantised(model: Any, bits: int) -> Any:
    nn.quantize(model, group_size=32, bits=bits)
    return model


MODELS = {
    "tied": lambda: tiny.model("llama"),
    "recurrent": lambda: tiny.model("qwen3_5"),
    "untied": untied,
    "tied 4 bits": lambda: quantised(tiny.model("llama"), 4),
    "untied 8 bits": lambda: quantised(untied(), 8),
}


def options(model: Any) -> dict[str, Any]:
    return {
        **{"model": model, "prompt": mx.array(TOKENS), "kv_bits": None},
        **{"prompt_cache": None, "prefill_step_size": 2048},
    }


@pytest.mark.parametrize("name", MODELS)
def test_logits_and_those_of_a_few_tokens(name: str) -> None:
    model = MODELS[name]()
    want = model(mx.array([TOKENS]))[0]
    fed = Feed(model, make_prompt_cache(model), options(model)).run(mx.array(TOKENS))
    assert fed.is_sparse and fed.width == 640 and len(fed) == 3
    assert mx.array_equal(fed.logits(0, 3), want)
    for place in range(3):
        row = np.array(fed.logits_of(place, mx.array(FEW)))
        assert row.shape == (1, 640)
        kept = np.isfinite(row[0])
        assert np.flatnonzero(kept).tolist() == FEW
        assert np.allclose(
            row[0, FEW], np.array(want[place])[FEW], rtol=1e-5, atol=1e-6
        )


def test_a_layer_with_a_bias() -> None:
    class Biased(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lm_head = nn.Linear(8, 16, bias=True)

    model, hidden = Biased(), mx.random.normal((1, 8))
    for layer in (model.lm_head, nn.Linear(32, 16).to_quantized(32, 8)):
        model.lm_head = layer
        size = 32 if "scales" in layer else 8
        hidden = mx.random.normal((1, size))
        few = Head((), is_tied=False).logits_of(model, hidden, mx.array([1, 15]))
        want = layer(hidden)[:, mx.array([1, 15])]
        assert np.allclose(np.array(few), np.array(want), atol=1e-5)


def test_models_that_do_more_than_multiply_are_called_whole() -> None:
    model = tiny.model("llama")
    assert head_of(model) is not None
    stock = type(model)

    class Capped(stock):  # type: ignore[misc, valid-type]
        def __call__(self, *args: Any, **more: Any) -> Any:
            return mx.tanh(super().__call__(*args, **more))

    class Steered(nn.Module):
        """Does more only after some tokens, which no probe would see."""

        def __init__(self) -> None:
            super().__init__()
            self.language_model = tiny.model("llama")

        def __call__(self, *args: Any, **more: Any) -> Any:
            return self.language_model(*args, **more)

    other = tiny.model("llama")
    other.__class__ = Capped
    assert head_of(other) is None and head_of(Steered()) is None
    assert head_of(lambda tokens, cache: None) is None
    fed = Feed(other, make_prompt_cache(other), options(other)).run(mx.array(TOKENS))
    assert not fed.is_sparse
    assert mx.array_equal(fed.logits(0, 3), other(mx.array([TOKENS]))[0])


def test_adapters_around_a_head_are_called_whole() -> None:
    from mlx_lm.tuner.lora import LoRALinear

    model = untied()
    model.lm_head = LoRALinear.from_base(model.lm_head)
    assert head_of(model) is None


def test_an_adapter_that_comes_later_is_seen() -> None:
    from mlx_lm.tuner.lora import LoRAEmbedding

    model = tiny.model("llama")
    assert head_of(model) is not None
    model.model.embed_tokens = LoRAEmbedding.from_base(model.model.embed_tokens)
    assert head_of(model) is None


def test_heads_are_forgotten_with_their_models() -> None:
    import gc

    gc.collect()
    before = len(shared_heads())
    model = tiny.model("llama")
    head_of(model)
    assert len(shared_heads()) == before + 1
    del model
    gc.collect()
    assert len(shared_heads()) == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PROMPTS)
def test_outputs_do_not_depend_on_it(
    monkeypatch: pytest.MonkeyPatch, kind: str, name: str
) -> None:
    module, calls = import_module("mlx_lm.generate"), []
    stock = Fed.logits_of

    def counted(self: Fed, place: int, ids: Any) -> Any:
        calls.append(len(ids))
        return stock(self, place, ids)

    monkeypatch.setattr(Fed, "logits_of", counted)
    with stcon.patch():
        for seed in range(3):
            model = tiny.model(kind, seed=seed)
            sparse = alone(module, model, name)
            with monkeypatch.context() as without:
                without.setattr("stcon.decode.feed.head_of", lambda _: None)
                assert alone(module, model, name) == sparse
    assert calls and max(calls) <= 128


def test_other_processors_see_all_logits() -> None:
    module, model, seen = import_module("mlx_lm.generate"), tiny.model("llama"), []

    def other(tokens: Any, logits: Any) -> Any:
        seen.append(np.isfinite(np.array(logits)).all())
        return logits

    with stcon.patch():
        steps = module.generate_step(
            mx.array(PROMPTS["list"]),
            model,
            max_tokens=LIMIT,
            logits_processors=[made("list"), other],
        )
        list(steps)
    assert seen and all(seen)
