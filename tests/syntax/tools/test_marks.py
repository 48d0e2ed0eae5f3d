"""Strings that hold the marks of calls, and many strings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stcon import Limits
from stcon.syntax.tools import FORMS
from stcon.tools import parse_tool_calls
from tests.syntax.tools.test_tools import PARSERS, made, written

CALL, PARAMETER = "</tool_call>", "</parameter>"
SHORT, LONG = "<\\\\/", "\\\\u003c/"  # what < and / may be in JSON, too
MARKED: list[tuple[Any, Any, str]] = [
    # the schema of an argument, its value, and how the beginning of a mark is written
    ({"type": "string"}, f"a{CALL}b", SHORT),
    ({"type": "string", "maxLength": 30}, f"{CALL}{CALL}", SHORT),
    ({"type": "string", "pattern": "call>$"}, CALL, SHORT),
    ({"const": [f"x{CALL}", PARAMETER]}, [f"x{CALL}", PARAMETER], LONG),
    ({"type": "array", "items": {"type": "string"}}, [CALL, PARAMETER], SHORT),
    ({"type": "object", "properties": {CALL: {}}}, {CALL: 1}, LONG),
    ({"type": "object"}, {CALL: {PARAMETER: [CALL]}}, SHORT),
    ({"type": "object", "properties": {"<": {}}}, {CALL: 1}, SHORT),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("schema", "value", "spelt"), MARKED, ids=str)
def test_marks_in_json_are_written_with_escapes(
    form: str, schema: Any, value: Any, spelt: str
) -> None:
    """mlx-lm ends a call at its mark, wherever that stands."""
    function = {"name": "f", "parameters": {"properties": {"v": schema}}}
    tools = [{"type": "function", "function": function}]
    constraint = made(form, tools, tool_choice="required")
    raw = written(form, "f", {"v": value})
    assert not constraint.matches(raw)
    if form == "qwen3_coder" and isinstance(value, str):
        return  # no text between tags can hold it
    plain = json.dumps(value)
    body = plain.replace("</", spelt.replace("\\\\", "\\"))
    if form == "json_tools":  # there the other one is no mark
        where = spelt.replace("\\\\", "\\") + PARAMETER[2:]
        body = body.replace(where, PARAMETER) if spelt == LONG else body
    text = raw.replace(plain, body)
    assert constraint.matches(text), constraint.explain(text)
    assert parse_tool_calls(text, tools)[1][0]["arguments"] == {"v": value}
    inside = text.removeprefix("<tool_call>").removesuffix(CALL)
    assert CALL not in inside
    assert PARSERS[form].parse_tool_call(inside, tools)["arguments"] == {"v": value}


def test_numbers_that_no_float_holds() -> None:
    tools = [{"name": "f", "parameters": {"properties": {"v": {"type": "number"}}}}]
    for form in FORMS:
        for digits in ("1e400", "-1e400", "9" * 5000, "9007199254740993"):
            text = written(form, "f", {"v": 7}).replace("7", digits)
            assert made(form, tools).matches(text)
            [call] = parse_tool_calls(text, tools)[1]
            again = json.loads(json.dumps(call["arguments"]["v"]))
            assert again == call["arguments"]["v"] and abs(again) < float("inf")
    assert again == 9007199254740993


def test_many_tools_with_texts_between_tags() -> None:
    """100 tools of 10 strings: their automaton is made once, not 1,000 times."""
    properties = {f"p{j}": {"type": "string"} for j in range(10)}
    tools = [
        {"name": f"t{i}", "parameters": {"properties": properties}} for i in range(100)
    ]
    constraint = made("qwen3_coder", tools, limits=Limits(seconds=8))
    assert constraint.matches(written("qwen3_coder", "t99", {"p0": "x", "p9": "y"}))
