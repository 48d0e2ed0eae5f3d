"""Tool calls on real tokenizers, and written by the real model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcon
from stcon import constrain_tools
from stcon.decode.masks import Masks
from stcon.decode.pins import Pins
from stcon.syntax.tools import FORMS
from stcon.tools import parse_tool_calls
from tests import assets
from tests.decode.test_reachable import Walk, vocabulary
from tests.syntax.tools.test_tools import CALLS, TOOLS, written

NAMES = ("qwen3", "qwen3.5", "llama-3.1")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_calls_can_be_written_in_the_tokenizers_split(name: str, form: str) -> None:
    constraint = constrain_tools(
        vocabulary(name), TOOLS, form=form, tool_choice="required"
    )
    walk = Walk(constraint)
    for call in CALLS:
        assert walk.writes(written(form, *call).encode()), call


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["qwen3", "qwen3.5"])
def test_a_call_that_must_come_begins_with_its_mark(name: str, form: str) -> None:
    constraint = constrain_tools(
        vocabulary(name), TOOLS, form=form, tool_choice="required"
    )
    pins = Pins(constraint)
    row = np.array(Masks(constraint).pinned(pins.start, constraint.vocabulary.size)[0])
    mark = assets.tokenizer(name).tokenizer.token_to_id("<tool_call>")
    assert np.flatnonzero(row).tolist() == [mark]


@pytest.mark.parametrize("form", FORMS)
def test_free_text_may_go_over_into_a_call(form: str) -> None:
    words = vocabulary("qwen3")
    constraint = constrain_tools(words, TOOLS, form=form)
    mark = assets.tokenizer("qwen3").tokenizer.token_to_id("<tool_call>")
    state = constraint.read(constraint.start, b"Let me see.")
    row = constraint.allowed(state)
    assert row[mark] and row[list(words.eos_ids)].all()
    state = constraint.advance(state, mark)
    row = constraint.allowed(state)
    assert not row[list(words.eos_ids)].any()
    assert constraint.forced(state).startswith(b"\n")


@pytest.mark.real
@pytest.mark.parametrize("form", FORMS)
def test_the_model_calls_a_tool(smollm2: tuple[Any, Any], form: str) -> None:
    """Patched in fewer runs, the same tokens, within a limit and read back."""
    from mlx_lm import stream_generate

    model, tokenizer = smollm2
    message = {"role": "user", "content": "How warm is it in Paris? Call weather."}
    prompt = tokenizer.apply_chat_template([message], add_generation_prompt=True)
    limit = 60

    def run() -> list[Any]:
        calls = constrain_tools(
            *(tokenizer, TOOLS),
            **{"form": form, "tool_choice": "weather", "max_tokens": limit},
        )
        processors = {"logits_processors": [calls], "max_tokens": limit}
        return list(stream_generate(model, tokenizer, prompt, **processors))

    unpatched = run()
    with stcon.patch():
        patched = run()
    assert [e.token for e in patched] == [e.token for e in unpatched]
    _, [call] = parse_tool_calls("".join(e.text for e in patched), TOOLS)
    assert call["name"] == "weather" and isinstance(call["arguments"]["city"], str)
