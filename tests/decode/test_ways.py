"""All ways to decode give the same tokens: at once, enqueued ahead, in a batch, with a
draft model; on attention and on recurrent models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from itertools import islice
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import stcon
from stcon import HistoryError, constrain
from stcon.constraints.constraint import Constraint
from stcon.decode import generate_step as steps_module
from tests import tiny
from tests.decode.test_patch import SCHEMAS

PROMPTS = {"form": [5, 6, 7, 8, 9], "list": [20, 21], "tree": [30, 31, 32]}
if version("mlx-lm").startswith("0.31."):  # it pads rows of recurrent models wrongly
    PROMPTS = {name: prompt[:2] for name, prompt in PROMPTS.items()}
LIMIT = 60
KINDS = ("llama", "qwen3_5")


@pytest.fixture
def module() -> Iterator[Any]:
    """mlx_lm.generate, patched."""
    found = import_module("mlx_lm.generate")
    with stcon.patch(pipelined=False):
        yield found


def made(name: str) -> Constraint:
    return constrain(tiny.tokenizer(), SCHEMAS[name], eos_token_ids=[tiny.end_id()])


def alone(module: Any, model: Any, name: str, limit: int = LIMIT) -> list[int]:
    """The tokens of one call."""
    steps = module.generate_step(
        mx.array(PROMPTS[name]),
        model,
        max_tokens=limit,
        logits_processors=[made(name)],
    )
    return [int(token) for token, _ in steps]


def drafted(module: Any, model: Any, draft: Any, name: str, most: int) -> list[int]:
    """The tokens of one call with a draft model."""
    steps = module.speculative_generate_step(
        mx.array(PROMPTS[name]),
        model,
        draft,
        num_draft_tokens=most,
        max_tokens=LIMIT,
        logits_processors=[made(name)],
    )
    return [int(token) for token, _, _ in steps]


def batched(
    module: Any, model: Any, names: list[str | None], limit: int = LIMIT
) -> list[list[int]]:
    """The tokens of rows in one batch; a row without a name has no constraint."""
    generator = module.BatchGenerator(model)
    uids = generator.insert(
        [PROMPTS[name or "list"] for name in names],
        [limit] * len(names),
        logits_processors=[[made(name)] if name else [] for name in names],
    )
    rows: dict[int, list[int]] = {uid: [] for uid in uids}
    ends = {tiny.end_id()}
    while responses := generator.next_generated():
        for response in responses:
            rows[response.uid].append(response.token)
        done = [r.uid for r in responses if r.token in ends and not r.finish_reason]
        if done:
            generator.remove(done)
    generator.close()
    return list(rows.values())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_a_batch_writes_what_each_row_alone_writes(
    module: Any, kind: str, seed: int
) -> None:
    model = tiny.model(kind, seed=seed)
    names: list[str | None] = ["form", None, "list", "tree", "form"]
    rows = batched(module, model, names)
    for name, row in zip(names, rows, strict=True):
        if name is None:
            free = module.generate_step(
                mx.array(PROMPTS["list"]), model, max_tokens=LIMIT
            )
            assert row[:9] == [int(token) for token, _ in free][:9]
        else:
            assert row == alone(module, model, name), name


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("name", PROMPTS)
def test_a_draft_model_changes_nothing(module: Any, name: str, most: int) -> None:
    model = tiny.model("llama", seed=1)
    want = alone(module, model, name)
    for draft in (model, tiny.model("llama", seed=2)):
        assert drafted(module, model, draft, name, most) == want


def test_forced_text_counts_as_drafted(module: Any) -> None:
    model = tiny.model("llama", seed=1)
    steps = module.speculative_generate_step(
        mx.array(PROMPTS["form"]),
        model,
        model,
        max_tokens=LIMIT,
        logits_processors=[made("form")],
    )
    whole = [(int(t), type(t).__name__, from_draft) for t, _, from_draft in steps]
    assert all(from_draft for _, kind, from_draft in whole[:-1] if kind == "Forced")
    assert sum(from_draft for *_, from_draft in whole) > len(whole) / 2


@pytest.mark.parametrize("name", PROMPTS)
def test_draft_caches_hold_what_was_yielded(module: Any, name: str) -> None:
    from mlx_lm.models.cache import make_prompt_cache

    model, draft = tiny.model("llama", seed=1), tiny.model("llama", seed=2)
    for stop in (1, 4, 7, LIMIT):
        caches = [*make_prompt_cache(model), *make_prompt_cache(draft)]
        steps = module.speculative_generate_step(
            mx.array(PROMPTS[name]),
            model,
            draft,
            max_tokens=LIMIT,
            prompt_cache=caches,
            logits_processors=[made(name)],
        )
        tokens = [int(token) for token, *_ in islice(steps, stop)]
        steps.close()
        held = caches[0].offset
        whole = [*PROMPTS[name], *tokens]
        assert len(PROMPTS[name]) <= held <= len(whole)
        after = model(
            mx.array([[*whole[held:], 11]]), cache=caches[: len(model.layers)]
        )
        fresh = model(mx.array([[*whole, 11]]))
        assert np.allclose(np.array(after[0, -1]), np.array(fresh[0, -1]), atol=1e-3)


class Watched:
    """Counts runs that were taken back."""

    def __init__(self, undo: Callable[[], None], counts: list[int]) -> None:
        self._undo, self._counts = undo, counts

    def __call__(self) -> None:
        self._counts[0] += 1
        self._undo()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PROMPTS)
def test_runs_enqueued_ahead_change_nothing(
    monkeypatch: pytest.MonkeyPatch, kind: str, name: str
) -> None:
    """Whether or not a guess is worth it: all are made, and most taken back."""
    import stcon.decode.feed as feed

    module = import_module("mlx_lm.generate")
    stock, counts = feed.checkpoint, [0]
    monkeypatch.setattr(
        feed,
        "checkpoint",
        lambda caches, count: Watched(stock(caches, count), counts),
    )
    for seed in range(2):
        model = tiny.model(kind, seed=seed)
        with stcon.patch(pipelined=False):
            want = alone(module, model, name)
        for worth in (0.2, 1.0):
            monkeypatch.setattr("stcon.decode.ahead._WORTH", worth)
            with stcon.patch(pipelined=True):
                assert alone(module, model, name) == want
    assert counts[0] > 0 or name == "list"  # which may end before text is forced


@pytest.mark.parametrize("kind", KINDS)
def test_with_the_same_seed_the_same_sample(kind: str) -> None:
    module, model = import_module("mlx_lm.generate"), tiny.model(kind)
    found = []
    for pipelined in (False, True):
        with stcon.patch(pipelined=pipelined):
            mx.random.seed(7)
            steps = module.generate_step(
                mx.array(PROMPTS["form"]),
                model,
                max_tokens=LIMIT,
                sampler=mx.random.categorical,
                logits_processors=[made("form")],
            )
            found.append([int(token) for token, _ in steps])
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_pipelined_batch_is_the_same(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    module, model = import_module("mlx_lm.generate"), tiny.model(kind, seed=1)
    names: list[str | None] = ["form", "tree", None, "list"]
    with stcon.patch(pipelined=False):
        want = batched(module, model, names)
    monkeypatch.setattr("stcon.decode.ahead._WORTH", 1.0)
    with stcon.patch(pipelined=True):
        assert batched(module, model, names) == want


def test_an_end_that_is_not_allowed_is_told(module: Any) -> None:
    """By all ways: a sampler that ends the text too early breaks the format."""
    model = tiny.model("llama", seed=1)

    def ends(logprobs: Any) -> Any:
        return mx.full(logprobs.shape[:1], tiny.end_id(), mx.uint32)

    common: dict[str, Any] = {"max_tokens": LIMIT, "sampler": ends}
    prompt = mx.array(PROMPTS["form"])
    own = [made("form")]
    with pytest.raises(HistoryError, match="is not allowed there"):
        list(module.generate_step(prompt, model, logits_processors=own, **common))
    with pytest.raises(HistoryError, match="is not allowed there"):
        list(
            module.speculative_generate_step(
                prompt, model, model, logits_processors=own, **common
            )
        )
    generator = module.BatchGenerator(model)
    generator.insert(
        [PROMPTS["form"], PROMPTS["list"]],
        [LIMIT] * 2,
        samplers=[ends, None],
        logits_processors=[own, [made("list")]],
    )
    with pytest.raises(HistoryError, match="is not allowed there"):
        while generator.next_generated():
            pass
    generator.remove([0])  # the other row has not moved, and goes on
    tokens = []
    while not tokens or tokens[-1] != tiny.end_id():
        tokens += [response.token for response in generator.next_generated()]
    want = alone(module, model, "list")
    assert want[-len(tokens) :] == tokens
    generator.close()


def test_no_tokens_are_none(module: Any) -> None:
    model = tiny.model("llama")
    common: dict[str, Any] = {
        "max_tokens": 0,
        "logits_processors": [
            constrain(tiny.tokenizer(), regex="a*", eos_token_ids=[tiny.end_id()])
        ],
    }
    prompt = mx.array([5, 6])
    assert list(module.generate_step(prompt, model, **common)) == []
    assert list(module.speculative_generate_step(prompt, model, model, **common)) == []


@pytest.mark.parametrize("width", [345, 360])
def test_models_with_fewer_logits_than_tokens(module: Any, width: int) -> None:
    """No token that the model lacks is fed, though the tokenizer would write it."""
    vocabulary = constrain(
        tiny.tokenizer(), regex="a", eos_token_ids=[tiny.end_id()]
    ).vocabulary
    assert vocabulary.size > width
    model = tiny.model("llama", width, seed=1)
    for name in PROMPTS:
        tokens = alone(module, model, name)
        [row] = batched(module, model, [name])
        assert max(tokens) < width and tokens == row


def test_a_sliding_window_that_is_full_drafts_nothing(module: Any) -> None:
    from mlx_lm.models.cache import RotatingKVCache

    model = tiny.model("llama", seed=1)
    for size in (8, 300, 2000):
        caches = [RotatingKVCache(size, keep=0) for _ in range(4)]
        alone_cache = [RotatingKVCache(size, keep=0) for _ in range(2)]
        steps = module.speculative_generate_step(
            mx.array(PROMPTS["form"]),
            model,
            model,
            max_tokens=LIMIT,
            prompt_cache=caches,
            logits_processors=[made("form")],
        )
        have = [(int(token), is_drafted) for token, _, is_drafted in steps]
        want = module.generate_step(
            mx.array(PROMPTS["form"]),
            model,
            max_tokens=LIMIT,
            prompt_cache=alone_cache,
            logits_processors=[made("form")],
        )
        if size > 8:  # a full window sees other tokens with other chunks
            assert [token for token, _ in have] == [int(token) for token, _ in want]
        text = made("form").vocabulary.decode([t for t, _ in have[:-1]])
        assert made("form").matches(text)


def test_patched_steps_are_chosen_by_device() -> None:
    assert steps_module.suits(True) and not steps_module.suits(False)
    assert steps_module.suits(None) == (mx.default_device() == mx.gpu)
