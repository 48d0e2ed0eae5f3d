"""A token taken back from a cache leaves no trace; caches that cannot, say so."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from mlx_lm.models import cache as kinds

from stcon.decode.rollback import checkpoint
from tests import tiny

TOKENS = [5, 6, 7, 8, 9, 10, 11]


def caches(kind: str, model: Any) -> list[Any]:
    if kind == "quantised":
        return [kinds.QuantizedKVCache(group_size=32) for _ in model.layers]
    if kind == "rotating":
        return [kinds.RotatingKVCache(64, keep=4) for _ in model.layers]
    return list(kinds.make_prompt_cache(model))


KINDS = ["llama", "qwen3_5", "quantised", "rotating"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_evaluated", [False, True])
def test_a_token_taken_back_leaves_no_trace(kind: str, is_evaluated: bool) -> None:
    """The very bits of a cache that never saw it, with one token and with several."""
    model = tiny.model("qwen3_5" if kind == "qwen3_5" else "llama")
    cache, never = caches(kind, model), caches(kind, model)
    for at in (slice(0, 4), slice(4, 5), slice(5, 7)):
        part = mx.array([TOKENS[at]])
        undo = checkpoint(cache)
        assert undo is not None
        wrong = model(mx.array([[99]]), cache=cache)
        if is_evaluated:
            mx.eval(wrong)
        undo()
        have, want = model(part, cache=cache), model(part, cache=never)
        assert mx.array_equal(have, want), (kind, at)


@pytest.mark.parametrize("kind", ["llama", "qwen3_5"])
def test_batches_are_taken_back(kind: str) -> None:
    model = tiny.model(kind)
    rows = []
    for length in (3, 5):
        cache = kinds.make_prompt_cache(model)
        model(mx.array([TOKENS[:length]]), cache=cache)
        rows.append(cache)
    merged = [
        [first.merge([first, second]) for first, second in zip(*rows, strict=True)]
        for _ in range(2)
    ]
    undo = checkpoint(merged[0])
    assert undo is not None
    mx.eval(model(mx.array([[99], [98]]), cache=merged[0]))
    undo()
    step = mx.array([[20], [21]])
    have, want = (model(step, cache=each) for each in merged)
    assert np.array_equal(np.array(have), np.array(want))


def test_a_full_rotating_cache_cannot_take_back() -> None:
    model = tiny.model("llama")
    cache = [kinds.RotatingKVCache(8, keep=4) for _ in model.layers]
    for token in range(7):
        assert checkpoint(cache) is not None
        mx.eval(model(mx.array([[token]]), cache=cache))
    assert checkpoint(cache) is None


def test_unknown_caches_cannot_take_back() -> None:
    class Other(kinds._BaseCache):
        pass

    assert checkpoint([kinds.KVCache(), Other()]) is None
    assert checkpoint([kinds.CacheList(kinds.KVCache(), Other())]) is None
    assert checkpoint([kinds.CacheList(kinds.KVCache(), kinds.KVCache())]) is not None


def test_a_cache_that_was_quantised_meanwhile_comes_back() -> None:
    model = tiny.model("llama")
    cache = kinds.make_prompt_cache(model)
    model(mx.array([TOKENS]), cache=cache)
    before = list(cache)
    undo = checkpoint(cache)
    assert undo is not None
    model(mx.array([[99]]), cache=cache)
    cache[0] = cache[0].to_quantized(group_size=32, bits=8)
    undo()
    assert cache[0] is before[0] and cache[0].offset == len(TOKENS)
