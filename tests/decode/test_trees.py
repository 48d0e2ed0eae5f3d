"""Formats that contain themselves, on the real model and to the last level."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from stcon import LimitError, constrain
from stcon.constraints.constraint import Constraint
from tests.test_api import BYTES
from tests.trees import TREES, nested

ASKED = {
    "solar": "The sun, the earth and the moon, as JSON.",
    "thread": "A forum thread as JSON: Ann asks for a recipe, Bob answers, Ann thanks.",
    "files": "The files of a small Python project, as JSON.",
    "categories": "Categories of a shop for shoes, as JSON.",
}


def valid(name: str, text: str) -> bool:
    return Draft202012Validator(TREES[name]).is_valid(json.loads(text))


@pytest.mark.parametrize("name", TREES)
def test_every_depth_to_the_last(name: str) -> None:
    constraint = constrain(BYTES, TREES[name])
    for levels in range(1, 30):
        value = nested(name, levels)
        text = json.dumps(value, separators=(",", ":"))
        assert constraint.matches(text) and valid(name, text)
        state = constraint.read(constraint.start, text[: len(text) // 2].encode())
        whole = text[: len(text) // 2] + constraint.shortest(state).decode()
        assert constraint.matches(whole) and valid(name, whole)


@pytest.mark.parametrize("name", TREES)
def test_one_level_too_many_is_an_error(name: str) -> None:
    constraint = constrain(BYTES, TREES[name], depth=64)
    deepest = max(
        levels
        for levels in range(1, 100)
        if constraint.matches(json.dumps(nested(name, levels), separators=(",", ":")))
    )
    assert deepest >= 31  # a level takes an object and a list
    text = json.dumps(nested(name, deepest + 1), separators=(",", ":"))
    with pytest.raises(LimitError, match="deeper than 64"):
        constraint.read(constraint.start, text.encode())


@pytest.mark.real
@pytest.mark.parametrize("name", TREES)
def test_the_real_model_writes_trees(smollm2: tuple[Any, Any], name: str) -> None:
    from mlx_lm import generate

    model, tokenizer = smollm2
    constraint: Constraint = constrain(tokenizer, TREES[name])
    assert constraint.kind == "pushdown"
    chat = [{"role": "user", "content": ASKED[name]}]
    text = generate(
        model,
        tokenizer,
        tokenizer.apply_chat_template(chat, add_generation_prompt=True),
        max_tokens=48,
        logits_processors=[constraint],
    )
    state = constraint.read(constraint.start, text.encode())
    assert state, constraint.explain(text)
    assert valid(name, text + constraint.shortest(state).decode())
