"""Events and growing values."""

from __future__ import annotations

import json
import random
from importlib import import_module
from itertools import pairwise
from typing import Any

import mlx.core as mx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stcon
from stcon import LimitError, StconError, constrain
from stcon.decode.forced import Forced
from tests import tiny
from tests.decode.test_patch import SCHEMAS
from tests.decode.test_ways import LIMIT, PROMPTS, alone, made

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 999) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("is_patched", [False, True])
@pytest.mark.parametrize("name", PROMPTS)
def test_events_are_those_of_the_patched_loop(name: str, is_patched: bool) -> None:
    module = import_module("mlx_lm.generate")
    model = tiny.model("llama", seed=1)
    with stcon.patch():
        want = alone(module, model, name)
    if is_patched:
        stcon.patch()
    try:
        events = list(
            stcon.stream(model, None, PROMPTS[name], made(name), max_tokens=LIMIT)
        )
    finally:
        stcon.unpatch()
    assert [event.token for event in events] == want
    assert [e.finish_reason for e in events[:-1]] == [None] * (len(events) - 1)
    is_whole = want[-1] == tiny.end_id()
    assert events[-1].finish_reason == ("stop" if is_whole else "length")
    text = "".join(event.text for event in events)
    assert made(name).matches(text)
    assert any(e.forced for e in events) and not all(e.forced for e in events)
    for event in events:
        assert event.logprobs.shape == (640,)


def test_characters_of_several_tokens_come_whole() -> None:
    """The tiny tokenizer has none of these in one token."""
    word = "é€😀"
    constraint = constrain(
        tiny.tokenizer(), choices=[word, word + "é"], eos_token_ids=[tiny.end_id()]
    )
    model = tiny.model("llama")
    events = list(stcon.stream(model, None, [5], constraint, max_tokens=30))
    assert "".join(event.text for event in events) in (word, word + "é")
    assert all(len(event.text) <= 1 for event in events)


def test_a_stream_that_is_cut_says_so() -> None:
    constraint = constrain(
        tiny.tokenizer(), regex="(ab)+", eos_token_ids=[tiny.end_id()]
    )

    def never_ends(logprobs: Any) -> Any:
        return mx.argmax(mx.where(mx.arange(640) == tiny.end_id(), -mx.inf, logprobs))

    events = list(
        stcon.stream(
            tiny.model("llama"),
            None,
            [5],
            constraint,
            max_tokens=8,
            sampler=lambda row: never_ends(row).reshape(1),
        )
    )
    assert len(events) == 8 and events[-1].finish_reason == "length"
    assert constraint.matches("".join(event.text for event in events))
    with pytest.raises(LimitError):
        list(
            stcon.stream(
                tiny.model("llama"), None, PROMPTS["form"], made("form"), max_tokens=2
            )
        )


@given(JSON, st.integers(0, 10**6))
def test_values_grow_to_the_whole(value: Any, seed: int) -> None:
    text = json.dumps(value, ensure_ascii=bool(seed % 2))
    rng, pieces, at = random.Random(seed), [], 0
    while at < len(text):
        size = rng.randint(1, 4)
        pieces.append(text[at : at + size])
        at += size
    values = list(stcon.partial_json(pieces))
    assert values[-1] == value
    for one, other in pairwise(values):
        assert one != other


def test_what_counts_while_it_is_written() -> None:
    text = '{"name":"Jo","tags":["a",{"b":tru'
    values = list(stcon.partial_json(text))
    assert values[:4] == [{}, {"name": ""}, {"name": "J"}, {"name": "Jo"}]
    assert values[-1] == {"name": "Jo", "tags": ["a", {}]}


def test_numbers_come_whole() -> None:
    """A value never shrinks: 1 is not 1.5 yet."""
    values = list(stcon.partial_json('{"a":1.5,"b":[-2e3,10],"c":"1'))
    assert values[1:] == [
        {"a": 1.5},
        {"a": 1.5, "b": []},
        {"a": 1.5, "b": [-2000.0]},
        {"a": 1.5, "b": [-2000.0, 10]},
        {"a": 1.5, "b": [-2000.0, 10], "c": ""},
        {"a": 1.5, "b": [-2000.0, 10], "c": "1"},
    ]
    [last] = stcon.partial_json("1.0")
    assert last == 1 and isinstance(last, float)


def test_values_after_a_mark() -> None:
    pieces = ["I think [1,", "2]</th", "ink>\n", '{"a":', "1}"]
    assert list(stcon.partial_json(pieces, after="</think>")) == [{}, {"a": 1}]


def test_what_is_not_json_is_refused() -> None:
    with pytest.raises(StconError, match="not the beginning of JSON"):
        list(stcon.partial_json(["Hello"]))
    with pytest.raises(StconError, match="recursion limit"):
        list(stcon.partial_json(["[" * 300]))


def test_mlx_lms_responses_will_do() -> None:
    from mlx_lm import stream_generate
    from mlx_lm.tokenizer_utils import TokenizerWrapper
    from transformers import PreTrainedTokenizerFast

    wrapped = TokenizerWrapper(
        PreTrainedTokenizerFast(tokenizer_object=tiny.tokenizer(), eos_token="<end>")
    )
    constraint = constrain(wrapped, SCHEMAS["form"])
    with stcon.patch():
        responses = list(
            stream_generate(
                tiny.model("llama"),
                wrapped,
                PROMPTS["form"],
                max_tokens=200,
                logits_processors=[constraint],
            )
        )
    *_, last = stcon.partial_json(responses)
    assert last == json.loads("".join(response.text for response in responses))
    assert any(isinstance(r.token, Forced) for r in responses)


def test_what_stream_is_not_given_is_told() -> None:
    model = tiny.model("llama")
    for wrong in (None, [made("form")], SCHEMAS["form"]):
        with pytest.raises(TypeError, match="stream takes a constraint"):
            stcon.stream(model, None, [5], wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="max_token"):
        stcon.stream(model, None, [5], made("form"), max_token=5)
