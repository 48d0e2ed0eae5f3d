"""Rows of batches: joining, leaving, limits, and what an error leaves behind."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import stcon
from stcon import LimitError
from tests import tiny
from tests.decode.test_ways import LIMIT, PROMPTS, alone, batched, made, module

__all__ = ["module"]  # a fixture


def test_rows_join_and_leave_at_any_step(module: Any) -> None:
    """A new row each two steps; one is removed half-way."""
    model, names = tiny.model("llama", seed=1), ["form", "list", "tree", "form", "list"]
    generator = module.BatchGenerator(model, completion_batch_size=3)
    rows: dict[int, list[int]] = {}
    waiting, uids, step = list(names), {}, 0
    while waiting or rows.keys() - {u for u in rows if u in uids and uids[u][1]}:
        if waiting and step % 2 == 0:
            name = waiting.pop(0)
            [uid] = generator.insert(
                [PROMPTS[name]], [LIMIT], logits_processors=[[made(name)]]
            )
            uids[uid], rows[uid] = [name, False], []
        if step == 5:
            generator.remove([0])
            uids[0][1] = True
        for response in generator.next_generated():
            rows[response.uid].append(response.token)
            is_end = response.token == tiny.end_id()
            if is_end and not response.finish_reason:
                generator.remove([response.uid])
            uids[response.uid][1] |= is_end or response.finish_reason is not None
        step += 1
    for uid, tokens in rows.items():
        want = alone(module, model, uids[uid][0])
        assert tokens == (want[: len(tokens)] if uid == 0 else want)
    generator.close()


def test_a_row_that_joins_after_plain_rows_have_left(module: Any) -> None:
    """mlx-lm 0.31 gives it the processors of a row that is gone: none."""
    model = tiny.model("llama", seed=1)
    generator = module.BatchGenerator(model)
    for name in ("list", "form"):
        [plain] = generator.insert([PROMPTS[name]], [3])
        while generator.next_generated():
            pass
    [uid] = generator.insert(
        [PROMPTS["form"]], [LIMIT], logits_processors=[[made("form")]]
    )
    tokens: list[int] = []
    while not tokens or tokens[-1] != tiny.end_id():
        tokens += [response.token for response in generator.next_generated()]
    assert tokens == alone(module, model, "form") and uid != plain
    generator.close()


def test_limits_of_rows_are_kept(module: Any) -> None:
    model = tiny.model("llama", seed=1)
    least = made("form").costs.least(made("form").start)
    for limit in (least, least + 2, least + 5):
        for name, row in zip(
            ("form", "list"),
            batched(module, model, ["form", "list"], limit),
            strict=True,
        ):
            constraint = made(name)
            assert len(row) <= limit
            assert constraint.matches(constraint.vocabulary.decode(row)), (limit, row)


def test_a_limit_that_is_too_small_takes_no_row(module: Any) -> None:
    generator = module.BatchGenerator(tiny.model("llama"))
    with pytest.raises(LimitError, match="the least is"):
        generator.insert(
            [PROMPTS["list"], PROMPTS["form"]],
            [LIMIT, 2],
            logits_processors=[[made("list")], [made("form")]],
        )
    assert not generator._unprocessed_sequences
    generator.close()


def test_a_batch_that_is_unpatched_half_way_goes_on() -> None:
    module, model = import_module("mlx_lm.generate"), tiny.model("llama", seed=1)
    with stcon.patch():
        generator = module.BatchGenerator(model)
        [uid] = generator.insert(
            [PROMPTS["form"]], [LIMIT], logits_processors=[[made("form")]]
        )
        tokens = [generator.next_generated()[0].token for _ in range(4)]
    while responses := generator.next_generated():
        tokens.append(responses[0].token)
        if tokens[-1] == tiny.end_id():
            generator.remove([uid])
    assert made("form").matches(made("form").vocabulary.decode(tokens[:-1]))
    generator.close()
