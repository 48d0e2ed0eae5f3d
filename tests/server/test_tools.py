"""Tools of requests: calls are valid, and come when they are asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from stcon.server.formats import wanted
from stcon.server.tool_reader import tool_reader
from tests.server.test_serve import TEMPLATE, ask, folder, running, text_of

MARKS = ("<tool_call>", "</tool_call>")
TEMPLATES = {
    "json_tools": "{# <tool_call> tool_call.name #}" + TEMPLATE,
    "qwen3_coder": "{# <tool_call>\n<function= #}" + TEMPLATE,
}
PARAMETERS = {
    "type": "object",
    "properties": {
        "unit": {"enum": ["C", "F"]},
        "days": {"anyOf": [{"type": "integer", "maximum": 99}, {"type": "null"}]},
    },
    "required": ["unit", "days"],
}
TOOLS = [
    {"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}},
    {"type": "function", "function": {"name": "ping"}},
]
NAMED = {"type": "function", "function": {"name": "weather"}}


@pytest.fixture(scope="module", params=TEMPLATES)
def url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    template = TEMPLATES[request.param]
    at = folder(tmp_path_factory.mktemp("model"), template, MARKS)
    with running(at) as address:
        yield address


def calls_of(answer: Any) -> list[tuple[str, Any]]:
    """Names and arguments."""
    found = answer["choices"][0]["message"].get("tool_calls") or []
    return [
        (one["function"]["name"], json.loads(one["function"]["arguments"]))
        for one in found
    ]


def check(calls: list[tuple[str, Any]]) -> None:
    for name, arguments in calls:
        assert name in ("weather", "ping")
        schema = PARAMETERS if name == "weather" else {"maxProperties": 0}
        assert Draft202012Validator(schema).is_valid(arguments), arguments


def test_a_call_that_must_come(url: str) -> None:
    for choice in ("required", NAMED):
        body = {"tools": TOOLS, "tool_choice": choice, "max_tokens": 150}
        status, answer = ask(url, **body)
        assert status == 200, answer
        calls = calls_of(answer)
        assert calls and answer["choices"][0]["finish_reason"] in (
            "tool_calls",
            "length",
        )
        check(calls)
        if choice is NAMED:
            assert [name for name, _ in calls] == ["weather"]


def test_one_call_at_most(url: str) -> None:
    status, answer = ask(
        *(url,),
        **{"tools": TOOLS, "tool_choice": "required", "max_tokens": 150},
        parallel_tool_calls=False,
    )
    assert status == 200 and len(calls_of(answer)) == 1


def test_no_call(url: str) -> None:
    status, answer = ask(url, tools=TOOLS, tool_choice="none", max_tokens=40)
    assert status == 200 and not calls_of(answer)
    assert MARKS[0] not in text_of(answer)


def test_free_text_or_calls(url: str) -> None:
    for seed in range(4):
        status, answer = ask(url, tools=TOOLS, max_tokens=60, seed=seed)
        assert status == 200
        check(calls_of(answer))


def test_a_format_beside_tools(url: str) -> None:
    shape = {"type": "json_schema", "schema": {"enum": ["yes", "no"]}}
    seen = set()
    for seed in range(6):
        status, answer = ask(
            url, tools=TOOLS, response_format=shape, max_tokens=150, seed=seed
        )
        assert status == 200
        calls = calls_of(answer)
        check(calls)
        assert calls or json.loads(text_of(answer)) in ("yes", "no")
        seen.add(bool(calls))
    assert seen == {True, False}, "each of them comes"
    status, answer = ask(url, tools=TOOLS, response_format=shape, tool_choice="none")
    assert status == 200 and json.loads(text_of(answer)) in ("yes", "no")
    choice = {"tools": TOOLS, "guided_choice": ["a", "b"]}
    status, answer = ask(url, **choice)
    assert status == 200 and text_of(answer) in ("a", "b"), "no schema: no call"
    status, answer = ask(
        url, tools=TOOLS, response_format=shape, tool_choice="required", max_tokens=150
    )
    assert status == 200 and calls_of(answer)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"tools": TOOLS, "tool_choice": "pong"}, "name of a tool (weather, ping)"),
        ({"tool_choice": "required"}, "there are no tools"),
        ({"tools": {}}, "a list of objects"),
        ({"tools": TOOLS, "parallel_tool_calls": "no"}, "true or false"),
        ({"tools": [5], "response_format": {"type": "json_object"}}, "tools: #/0"),
        (
            {
                "tools": TOOLS,
                "response_format": {"type": "json_schema", "schema": {"type": "x"}},
            },
            "response_format: #/type",
        ),
        ({"tools": [{"function": {"name": "a b"}}]}, "#/0/function/name"),
        (
            {
                "tools": [
                    {"name": "f", "parameters": {"properties": {"a": {"type": "x"}}}}
                ]
            },
            "#/0/parameters/properties/a/type",
        ),
    ],
)
def test_what_is_refused(url: str, body: dict[str, Any], words: str) -> None:
    status, answer = ask(url, **body)
    assert status == 400 and words in answer["error"]


def test_a_limit_is_kept_or_refused(url: str) -> None:
    body = {"tools": TOOLS, "tool_choice": NAMED}
    status, answer = ask(url, **body, max_tokens=5)
    assert status >= 400 and "the least is" in answer["error"]
    status, answer = ask(url, **body, max_tokens=110)
    assert status == 200
    check(calls_of(answer))


def test_a_model_without_tools(tmp_path_factory: pytest.TempPathFactory) -> None:
    with running(folder(tmp_path_factory.mktemp("model"))) as address:
        assert ask(address, tools=TOOLS, max_tokens=4)[0] == 200
        shape = {"type": "json_schema", "schema": {"enum": ["yes", "no"]}}
        status, answer = ask(address, tools=TOOLS, response_format=shape)
        assert status == 200 and json.loads(text_of(answer)) in ("yes", "no")
        status, answer = ask(address, tools=TOOLS, tool_choice="required")
        assert status >= 400 and "--chat-template" in answer["error"]


BODIES: list[tuple[dict[str, Any], Any]] = [
    ({}, None),
    ({"tools": []}, None),
    ({"tools": [], "tool_choice": {"type": "auto"}}, None),
    ({"tools": TOOLS, "tool_choice": {"type": "none"}}, ({"type": "none"}, None)),
    ({"tools": None, "tool_choice": "none"}, None),
    ({"tools": TOOLS}, (None, None)),
    ({"tools": TOOLS, "tool_choice": "required"}, ("required", None)),
    ({"tools": TOOLS, "parallel_tool_calls": False}, (None, False)),
    ({"tools": TOOLS, "tool_choice": NAMED}, (NAMED, None)),
]


@pytest.mark.parametrize(("body", "want"), BODIES, ids=str)
def test_what_a_request_says(body: dict[str, Any], want: Any) -> None:
    assert wanted({**body, "prompt": "x"}) is None, "no chat"
    format = wanted({**body, "messages": []})
    if want is None:
        assert format is None
        return
    assert format is not None and format.kind == "tools"
    options = format.options
    assert options["tools"] == TOOLS
    assert (options["tool_choice"], options["parallel_tool_calls"]) == want
    assert format.must_call == (want[0] not in (None, {"type": "none"}))


def test_keywords_that_may_stay_without_effect(url: str) -> None:
    of_set = {"type": "array", "uniqueItems": True, "items": {"type": "integer"}}
    parameters = {"properties": {"a": of_set}, "required": ["a"]}
    body = {
        "tools": [{"name": "f", "parameters": parameters}],
        **{"tool_choice": "required", "max_tokens": 150},
    }
    status, answer = ask(url, **body)
    assert status == 400 and "allow_unenforced" in answer["error"]
    status, answer = ask(url, **body, allow_unenforced=["uniqueItems"])
    assert status == 200 and calls_of(answer)
    shape = {"type": "json_schema", "schema": {**of_set, "maxItems": 3}}
    status, answer = ask(
        url, response_format=shape, allow_unenforced=["uniqueItems"], max_tokens=150
    )
    assert status == 200 and isinstance(json.loads(text_of(answer)), list)
    status, answer = ask(url, response_format=shape, allow_unenforced="uniqueItems")
    assert status == 400 and "a list of names" in answer["error"]


def test_the_reader_leaves_to_mlx_lm_what_it_does_not_know() -> None:
    from mlx_lm.tool_parsers import mistral, qwen3_coder

    assert tool_reader(None) is None
    assert tool_reader(mistral.parse_tool_call) is mistral.parse_tool_call
    read = tool_reader(qwen3_coder.parse_tool_call)
    assert read is not None
    pairs = "<parameter=unit>\nC\n</parameter>\n<parameter=days>\n5\n</parameter>\n"
    call = f"\n<function=weather>\n{pairs}</function>\n"
    want = {"name": "weather", "arguments": {"unit": "C", "days": 5}}
    assert read(call, TOOLS) == [want]
    other = call.replace("<function=weather>\n", "<function=weather>")
    assert read(other, TOOLS) == qwen3_coder.parse_tool_call(other, TOOLS)
