"""Lists of tools as requests have them, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from stcon import SchemaError, StconError, VocabularyError, constrain_tools
from stcon.syntax.tools import FORMS
from stcon.tokens.huggingface import find_tool_form
from stcon.tools import parse_tool_calls
from tests.syntax.tools.test_tools import PARSERS, TOOLS, made, written
from tests.test_api import BYTES


class Search(BaseModel):
    query: str
    limit: int | None = None


def test_other_ways_to_give_tools() -> None:
    for tool in (
        {"type": "function", "name": "s", "parameters": Search.model_json_schema()},
        {"name": "s", "input_schema": Search.model_json_schema()},
        {"type": "function", "function": {"name": "s", "parameters": Search}},
    ):
        constraint = made("qwen3_coder", [tool], tool_choice="required")
        for arguments in ({"query": "x"}, {"query": "x", "limit": 5}):
            text = written("qwen3_coder", "s", arguments)
            assert constraint.matches(text)
            assert parse_tool_calls(text, [tool])[1][0]["arguments"] == arguments


OTHERS = [
    ({"properties": {"a": {}}}, False),
    ({"properties": {"a": {}}, "additionalProperties": True}, True),
    ({"properties": {"a": {}}, "patternProperties": {"^b$": {}}}, True),
    ({"allOf": [{"properties": {"a": {}}}]}, False),
    ({"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"a": {}}}}}, False),
    ({"type": ["object", "null"], "properties": {"a": {}}}, False),
    ({"type": "object"}, False),
    (True, False),
    ({"unevaluatedProperties": {"type": "integer"}}, True),
]


@pytest.mark.parametrize(("parameters", "are_open"), OTHERS)
def test_other_arguments(parameters: Any, are_open: bool) -> None:
    tools = [{"name": "f", "parameters": parameters}]
    constraint = made("json_tools", tools)
    assert constraint.matches(written("json_tools", "f", {"b": 1})) is are_open
    assert constraint.matches(written("json_tools", "f", {}))
    assert not constraint.matches(written("json_tools", "f", {}).replace("{}", "null"))


BROKEN: list[tuple[Any, dict[str, Any], str, str]] = [
    ("tools", {}, "#", "list of objects"),
    ({"name": "f"}, {}, "#", "list of objects"),
    ([1], {}, "#/0", "an object"),
    ([{"type": "code_interpreter"}], {}, "#/0/type", "not known"),
    ([{"function": 1}], {}, "#/0/function", "an object"),
    ([{"function": {"name": "a b"}}], {}, "#/0/function/name", "letters, digits"),
    ([{"name": "f"}, {"name": "f"}], {}, "#/1/name", "already"),
    ([{"name": "f"}, {"function": {"name": "f"}}], {}, "#/1/function/name", "already"),
    ([{"name": "f", "parameters": []}], {}, "#/0/parameters", "JSON Schema"),
    ([{"name": "f", "parameters": 1.5}], {}, "#/0/parameters", "JSON Schema"),
    ([{"name": "f", "parameters": lambda: 1}], {}, "#/0/parameters", "a type"),
    ([{"name": "f", "paramters": {}}], {}, "#/0/paramters", "did you mean parameters"),
    ([{"function": {"name": "f"}, "parameters": {}}], {}, "#/0/parameters", "beside"),
    ([{"name": "g"}, {"name": "f", "parameters": {"required": ["a"], "properties": {
       "a": {"allOf": [{"pattern": "^a"}, {"pattern": "^b"}], "type": "string"}}}}], {},
     "#/1/parameters", "no arguments can be written"),
    ([{"name": "f", "parameters": {"type": "string"}}], {},
     "#/0/parameters/type", "an object"),
    ([{"name": "f", "parameters": {"properties": {"a": {"type": "strin"}}}}], {},
     "#/0/parameters/properties/a/type", "strin"),
    ([{"name": "f", "input_schema": {"properties": {"a": False},
       "required": ["a"]}}], {}, "#/0/input_schema", "no value"),
    ([{"name": "f", "parameters": {"$schema": "http://json-schema.org/draft-07/schema#",
       "allOf": [{}]}}], {}, "#/0/parameters", "additionalProperties"),
]  # fmt: skip


CHOICES: list[tuple[Any, Any, str]] = [
    ([{"name": "f"}], "g", r"name of a tool \(f\)"),
    ([{"name": "f"}], 5, "not 5"),
    ([{"name": "f"}], {"type": None}, "no type"),
    ([{"name": "f"}], {"name": "auto"}, "not 'auto'"),
    ([], "required", "no tool"),
    ([{"name": "f"}], {"type": "allowed_tools", "tools": ["g"]}, "no tool 'g'"),
    ([{"name": "f"}], {"type": "allowed_tools"}, "a list of tools"),
]


@pytest.mark.parametrize(("tools", "choice", "words"), CHOICES)
def test_wrong_choices(tools: Any, choice: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as found:
        made("json_tools", tools, tool_choice=choice)
    assert not isinstance(found.value, StconError)
    with pytest.raises(ValueError, match="true or false"):
        made("json_tools", parallel_tool_calls="no")


def test_a_tool_may_be_called_as_a_choice_is() -> None:
    tools = [{"name": "none"}, {"name": "f"}]
    named = {"type": "function", "function": {"name": "none"}}
    constraint = made("json_tools", tools, tool_choice=named)
    assert constraint.matches(written("json_tools", "none", {}))
    assert not constraint.matches("") and not constraint.matches("text")


def test_allowed_tools() -> None:
    calls = [written("json_tools", name, {}) for name in ("a", "b", "c")]
    tools = [{"name": name} for name in "abc"]
    listed = [{"type": "function", "function": {"name": "a"}}, {"name": "b"}]
    nested = {"allowed_tools": {"mode": "required", "tools": listed}}
    for choice, is_free in (
        ({"type": "allowed_tools", **nested}, False),
        ({"type": "allowed_tools", "mode": "auto", "tools": listed}, True),
    ):
        constraint = made("json_tools", tools, tool_choice=choice)
        assert [constraint.matches(call) for call in calls] == [True, True, False]
        assert constraint.matches("text") is is_free


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("tools", "options", "pointer", "words"), BROKEN)
def test_broken_requests(
    form: str, tools: Any, options: dict[str, Any], pointer: str, words: str
) -> None:
    with pytest.raises(SchemaError) as found:
        made(form, tools, **options)
    assert words in str(found.value)
    assert found.value.pointer.startswith(pointer)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"additionalProperties": {"type": "string"}}, "other names"),
        ({"patternProperties": {"^x": {}}}, "other names"),
        ({"properties": {"a b": {}}}, "'a b' cannot be a name"),
        ({"properties": {"a>": {}}}, "cannot be a name"),
        ({"const": {"a": 1}}, "constants as a whole"),
        ({"properties": {"a": {"enum": ["x", "null"]}}}, "'null' cannot be written"),
        ({"properties": {"a": {"const": "</parameter>"}}}, "cannot be written"),
        ({"properties": {"a": {"enum": ["5", 5]}}}, "'5' cannot be written"),
    ],
)
def test_what_cannot_stand_between_tags(parameters: Any, words: str) -> None:
    tools = [{"name": "f", "parameters": parameters}]
    with pytest.raises(SchemaError, match=words) as found:
        made("qwen3_coder", tools)
    assert found.value.pointer.startswith("#/0/parameters")
    made("json_tools", tools)


class Like:
    """What of a tokenizer tells the form."""

    def __init__(self, parser: Any = None, template: Any = None) -> None:
        self.tool_parser = parser
        self.chat_template = template


def test_the_form_of_a_tokenizer() -> None:
    for name, parser in PARSERS.items():
        assert find_tool_form(Like(parser.parse_tool_call)) == name
    tagged = "{{ '<tool_call>\\n<function=' + tool_call.name }}"
    assert find_tool_form(Like(template=tagged)) == "qwen3_coder"
    plain = "{{ '<tool_call>\\n{' + tool_call.name }}"
    assert find_tool_form(Like(template=plain)) == "json_tools"
    assert find_tool_form(Like(template="<tool_call> [x]")) == ""
    assert find_tool_form(Like()) == find_tool_form(Like(template={"a": "b"})) == ""
    with pytest.raises(VocabularyError, match="in no form that it tells") as found:
        constrain_tools(BYTES, TOOLS)
    assert "json_tools, qwen3_coder" in str(found.value)
    with pytest.raises(ValueError, match="form is one of"):
        made("mistral")


@pytest.mark.parametrize("form", FORMS)
def test_warnings_say_which_tool(form: str) -> None:
    slip = {"properties": {"a": {"type": "string", "maxLenght": 3}}}
    tools = [{"name": "f"}, {"function": {"name": "g", "parameters": slip}}]
    with pytest.warns(UserWarning) as found:
        made(form, tools)
    said = str(found[0].message)
    assert said.startswith("#/1/function/parameters/properties/a/maxLenght: ")


@pytest.mark.parametrize("form", FORMS)
def test_calls_or_an_answer_of_a_schema(form: str) -> None:
    call = written(form, "ping", {})
    schema = {"$ref": "#/$defs/x", "$defs": {"x": {
        "type": "object", "properties": {"next": {"$ref": "#/$defs/x"}},
        "additionalProperties": False}}}  # fmt: skip
    answers = ["{}", '{"next": {"next": {}}}']
    texts = [*answers, call, f"{call}\n{call}", "", "text", f"{{}}{call}", '{"a": 1}']
    for choice, want in (
        ("auto", [*answers, call, f"{call}\n{call}"]),
        ("none", answers),
        ("required", [call, f"{call}\n{call}"]),
        ("ping", [call]),
    ):
        constraint = made(form, schema=schema, tool_choice=choice)
        assert [text for text in texts if constraint.matches(text)] == want, choice
    assert "the answer" in made(form, schema=schema).report()["tools"]
    with pytest.raises(SchemaError, match="#/type"):
        made(form, schema={"type": "strin"})
