"""Tool calls: what a request says, what is written, and what readers make of it."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from mlx_lm.tool_parsers import json_tools, qwen3_coder

from stcon import constrain_tools
from stcon.constraints.constraint import Constraint
from stcon.machines.dfa import DEAD
from stcon.syntax.tools import FORMS
from stcon.tools import parse_tool_calls
from tests.laws import laws
from tests.test_api import BYTES
from tests.worlds import vocabulary

PARSERS = {"json_tools": json_tools, "qwen3_coder": qwen3_coder}
WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "minimum": 1, "maximum": 9},
        "exact": {"type": "boolean"},
        "unit": {"type": "string", "enum": ["C", "F"]},
        "near": {"type": "array", "items": {"type": "number"}, "maxItems": 2},
        "more": {"type": "object", "properties": {"why": {"type": "string"}}},
    },
    "required": ["city"],
}
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "weather", "parameters": WEATHER}},
    {"type": "function", "function": {"name": "ping"}},
    {"type": "function", "function": {"name": "move-to.2", "parameters": {
        "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
        "required": ["x", "y"]}}},
]  # fmt: skip


def made(form: str, tools: Any = None, **options: Any) -> Constraint:
    return constrain_tools(
        BYTES, TOOLS if tools is None else tools, form=form, **options
    )


def written(form: str, name: str, arguments: dict[str, Any]) -> str:
    """A call as the chat templates of such models write it."""
    if form == "json_tools":
        inside = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
        return f"<tool_call>\n{inside}\n</tool_call>"
    pairs = "".join(
        f"<parameter={key}>\n{as_text(value)}\n</parameter>\n"
        for key, value in arguments.items()
    )
    return f"<tool_call>\n<function={name}>\n{pairs}</function>\n</tool_call>"


def as_text(value: Any) -> str:
    if isinstance(value, (dict, list)) or value is None:
        return json.dumps(value, ensure_ascii=False)
    return str(value)


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("weather", {"city": "Oslo"}),
    ("weather", {"city": 'São "Paulo"\n', "days": 3, "exact": True, "unit": "F"}),
    ("weather", {"city": "", "near": [1, -2.5], "more": {"why": "<b>\\"}}),
    ("weather", {"city": "x", "exact": False, "more": {}}),
    ("ping", {}),
    ("move-to.2", {"x": 0, "y": -1.5}),
]
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("weather", {}),
    ("weather", {"city": "Oslo", "days": 10}),
    ("weather", {"city": "Oslo", "town": "x"}),
    ("weather", {"city": "Oslo", "unit": "K"}),
    ("weather", {"city": "Oslo", "near": [1, 2, 3]}),
    ("ping", {"x": 1}),
    ("pong", {}),
    ("move-to.2", {"x": 0}),
    ("move-to.2", {"x": "one", "y": 1}),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_calls_and_what_readers_make_of_them(
    form: str, name: str, arguments: dict[str, Any]
) -> None:
    text = written(form, name, arguments)
    constraint = made(form, tool_choice="required")
    assert constraint.matches(text), constraint.explain(text)
    call = {"name": name, "arguments": arguments}
    assert parse_tool_calls(text, TOOLS) == ("", [call])
    parser = PARSERS[form]
    inside = text.removeprefix(parser.tool_call_start)
    inside = inside.removesuffix(parser.tool_call_end)
    assert parser.parse_tool_call(inside, TOOLS) == call


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "arguments"), WRONG)
def test_wrong_calls(form: str, name: str, arguments: dict[str, Any]) -> None:
    text = written(form, name, arguments)
    assert not made(form, tool_choice="required").matches(text)
    assert not made(form).matches(text)


ONE, TWO = ("ping", {}), ("move-to.2", {"x": 1, "y": 2})


@pytest.mark.parametrize("form", FORMS)
def test_choices(form: str) -> None:
    one, two = written(form, *ONE), written(form, *TWO)
    texts = {
        *(
            "",
            "Hello <b>\n",
            "a <tool_call",
            one,
            two,
            f"{one}\n{two}",
            f"Sure.\n{one}",
        ),
        *(f"{one}{two}", f"{one}\n", f"{one} done", "<tool_call>", one[:-1]),
    }
    free = {"", "Hello <b>\n", "a <tool_call"}
    wanted: dict[Any, set[str]] = {
        "none": free,
        "auto": free | {one, two, f"{one}\n{two}", f"Sure.\n{one}"},
        None: free | {one, two, f"{one}\n{two}", f"Sure.\n{one}"},
        "required": {one, two, f"{one}\n{two}"},
        "any": {one, two, f"{one}\n{two}"},
        "ping": {one},
    }
    for choice, want in wanted.items():
        constraint = made(form, tool_choice=choice)
        assert {text for text in texts if constraint.matches(text)} == want, choice
    for choice in (
        {"type": "function", "function": {"name": "ping"}},
        {"type": "tool", "name": "ping"},
        {"name": "ping"},
    ):
        constraint = made(form, tool_choice=choice)
        assert {text for text in texts if constraint.matches(text)} == {one}
    single = made(form, tool_choice="required", parallel_tool_calls=False)
    assert {text for text in texts if single.matches(text)} == {one, two}
    single = made(form, parallel_tool_calls=False)
    assert single.matches(f"Sure.\n{one}") and not single.matches(f"{one}\n{two}")
    assert made(form, []).matches("free") and not made(form, []).matches(one)
    assert made(form, tool_choice={"type": "auto"}).matches("free")


def test_several_calls_are_read() -> None:
    for form in FORMS:
        text = "Let me see.\n" + "\n".join(written(form, *call) for call in CALLS)
        assert made(form).matches(text)
        before, calls = parse_tool_calls(text, TOOLS)
        assert before == "Let me see.\n"
        assert [(call["name"], call["arguments"]) for call in calls] == CALLS


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<tool_call>\n{}", "no whole call"),
        ("<tool_call>\n{}\n</tool_call>", "no call"),
        (written("json_tools", "ping", {}) + " x", "no whole call"),
        ("<tool_call>\n[]\n</tool_call>", "no call"),
        ('<tool_call>\n{"name": "ping", "arguments": [1]}\n</tool_call>', "no call"),
        ("<tool_call>\n" + "[" * 100_000 + "\n</tool_call>", "no call"),
        (written("json_tools", "pong", {}), "no tool 'pong'"),
        (written("qwen3_coder", "ping", {"x": 1}), "no argument 'x'"),
        (written("qwen3_coder", "weather", {"days": "many"}), "none of number"),
        (written("qwen3_coder", "weather", {"near": "[" * 100_000}), "cannot be read"),
        (
            "<tool_call>\n<function=weather>\n<parameter=city>\nOslo</parameter>\n"
            "</function>\n</tool_call>",
            "this is no argument",
        ),
        (
            "<tool_call>\n<function=weather>\n<parameter=city>\n</parameter>\n"
            "</function>\n</tool_call>",
            "this is no argument",
        ),
        (
            "<tool_call>\n<function=weather>\n"
            + "<parameter=city>\na\n</parameter>\n" * 2
            + "</function>\n</tool_call>",
            "twice the argument 'city'",
        ),
        (
            "<tool_call>\n<function=weather>\n"
            + "<parameter=city>\n" * 200_000
            + "</function>\n</tool_call>",
            "this is no argument",
        ),
    ],
    ids=range(14),
)
def test_what_is_no_call(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_tool_calls(text, TOOLS)


def test_thinking_may_speak_of_calls() -> None:
    call = written("json_tools", "ping", {})
    text = f"I could <tool_call> now.</think>\n\n{call}"
    before, calls = parse_tool_calls(text, TOOLS, after="</think>")
    assert before + call == text and calls == [{"name": "ping", "arguments": {}}]
    assert parse_tool_calls("text", TOOLS, after="</think>") == ("text", [])
    with pytest.raises(TypeError, match="text is a string"):
        parse_tool_calls(b"x", TOOLS)  # type: ignore[arg-type]


def test_what_was_allowed_is_read() -> None:
    tools = [{"name": "f", "parameters": {
        "properties": {"a": {"type": "string", "format": "regex"}}}}]  # fmt: skip
    allowed = {"format:regex"}
    text = written("qwen3_coder", "f", {"a": "x"})
    assert made("qwen3_coder", tools, allow_unenforced=allowed).matches(text)
    [call] = parse_tool_calls(text, tools, allow_unenforced=allowed)[1]
    assert call["arguments"] == {"a": "x"}


# Between tags: a schema, texts with their values, texts that are refused.
VALUES: list[tuple[Any, dict[str, Any], list[str]]] = [
    ({"type": "string"}, {"5": "5", "": "", "a\nb": "a\nb", "True": "True"},
     ["null", "NULL", "a</parameter>b", "</tool_call>"]),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]},
     {"null": None, "5": "5", "x": "x", "[1]": "[1]"}, ["Null"]),
    ({"type": ["string", "integer"]}, {"5": 5, "-7": -7, "x5": "x5", " 5": " 5"},
     ["2.5", "1e3", "null"]),
    ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
     {"[1, 2]": [1, 2], "x [1]": "x [1]"}, ['["a"]', "[1,2]", " [", "{"]),
    ({"type": "boolean"}, {"true": True, "True": True, "false": False, "False": False},
     ["TRUE", "1", "yes"]),
    ({"const": True}, {"true": True, "True": True}, ["false"]),
    ({"enum": ["a", 1, None, True, [1], {"k": "v"}]},
     {"a": "a", "1": 1, "null": None, "true": True, "[1]": [1],
      '{"k": "v"}': {"k": "v"}}, ['"a"', "2", "b"]),
    ({"type": "integer"}, {"12": 12}, ["1.5", "x", "", "null"]),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"5": 5, "null": None}, ["x"]),
    ({}, {"x": "x", "1": 1, "true": True, "null": None, '{"a": [1]}': {"a": [1]}},
     ["{a", "[", "NULL"]),
    ({"type": "string", "pattern": "^[a-c]+$"}, {"abc": "abc"}, ["", "d", '"abc"']),
    ({"type": "string", "minLength": 2, "maxLength": 3},
     {"éé": "éé", "a\n\n": "a\n\n", "abc": "abc"}, ["a", "abcd"]),
    ({"type": "string", "format": "date"},
     {"2024-02-29": "2024-02-29"}, ["2023-02-29"]),
    ({"type": "string", "not": {"enum": ["no", "never"]}}, {"now": "now"}, ["no"]),
    ({"$ref": "#/$defs/node"}, {'{"next": {"next": {}}}': {"next": {"next": {}}}},
     ['{"next":{}}', "x"]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "good", "bad"), VALUES, ids=lambda v: str(v)[:30])
def test_values_between_tags(schema: Any, good: dict[str, Any], bad: list[str]) -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    node["additionalProperties"] = False
    parameters = {"$defs": {"node": node}, "properties": {"v": schema}}
    tools = [{"name": "f", "parameters": {**parameters, "required": ["v"]}}]
    constraint = made("qwen3_coder", tools, tool_choice="required")

    def call(value: str) -> str:
        pair = f"<parameter=v>\n{value}\n</parameter>\n"
        return f"<tool_call>\n<function=f>\n{pair}</function>\n</tool_call>"

    for text, value in good.items():
        assert constraint.matches(call(text)), (text, constraint.explain(call(text)))
        [found] = parse_tool_calls(call(text), tools)[1]
        assert found["arguments"]["v"] == value
        assert type(found["arguments"]["v"]) is type(value)
        assert Draft202012Validator(parameters).is_valid(found["arguments"])
    assert [text for text in bad if constraint.matches(call(text))] == []


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("form", FORMS)
def test_what_random_choices_write_is_a_valid_call(form: str, seed: int) -> None:
    words = [b"<tool_call>", b"</tool_call>", b"<function=", b"</parameter>", b"null"]
    words += [
        b'": ',
        b'", "',
        b"}\n",
        b"Oslo",
        b"</",
        b"\n</",
        b"True",
        b"[1, ",
        b">\n",
    ]
    tokens = vocabulary(*words)
    constraint = constrain_tools(
        tokens, TOOLS, form=form, tool_choice="required", parallel_tool_calls=False
    )
    rng = np.random.default_rng(seed)
    state, text = constraint.start, b""
    for _ in range(60):
        allowed = np.flatnonzero(constraint.allowed(state))
        token = int(rng.choice(allowed))
        if token in tokens.eos_ids:
            break
        state = constraint.advance(state, token)
        text += tokens.token_bytes(token)
    text += constraint.shortest(state)
    _, [call] = parse_tool_calls(text.decode(), TOOLS)
    schema = {tool["function"]["name"]: tool["function"].get("parameters", {})
              for tool in TOOLS}[call["name"]]  # fmt: skip
    assert Draft202012Validator(schema).is_valid(call["arguments"])
    inside = text.decode().removeprefix("<tool_call>").removesuffix("</tool_call>")
    theirs = PARSERS[form].parse_tool_call(inside, TOOLS)
    if "inf" not in str(theirs):  # a number that no float holds
        assert theirs == call


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("choice", ["auto", "required", "none"])
def test_laws(form: str, choice: str) -> None:
    words = vocabulary(
        b"<tool_call>", b"</tool_call>\n", b"<t", b"ool", b'"ping"', b">\n<"
    )
    constraint = constrain_tools(words, TOOLS, form=form, tool_choice=choice)
    for seed in range(3):
        laws.check_mask_is_accept(constraint, seed)
        laws.check_forced(constraint, seed)
        laws.check_outputs_are_valid(constraint, seed)


@pytest.mark.parametrize("form", FORMS)
def test_limits_on_tokens(form: str) -> None:
    constraint = made(form, tool_choice="required")
    least = len(written(form, "ping", {}))
    limited = constraint.within(least + 3)
    rng = random.Random(0)
    state, history = limited.start, b""
    while True:
        allowed = np.flatnonzero(limited.allowed(state)).tolist()
        token = rng.choice(allowed)
        if token in BYTES.eos_ids:
            break
        state = limited.advance(state, token)
        assert state != DEAD
        history += BYTES.token_bytes(token)
    assert len(history) <= least + 3 and constraint.matches(history)


def test_the_report() -> None:
    report = made("json_tools").report()
    assert report["form"] == "json_tools"
    assert list(report["tools"]) == ["weather", "ping", "move-to.2"]
    assert "minimum" in report["tools"]["weather"]["enforced"]
    assert list(made("json_tools", tool_choice="ping").report()["tools"]) == ["ping"]
