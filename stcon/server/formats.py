"""The format a request asks for, in the spellings that clients send.

OpenAI's ``tools`` with ``tool_choice``, its ``response_format`` and its Responses API's
``text.format``; the ``schema`` that llama.cpp and others take beside the type; vLLM's
``structured_outputs`` and the ``guided_`` fields that it replaced.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from stcon.errors import StconError
from stcon.syntax.tools.requested import read_choice, read_tools

Body = Mapping[str, Any]

TOOLS = "tools"
_OBJECT = {"type": "object"}


@dataclass(frozen=True)
class Format:
    """What an answer must be.  ``kind``: a keyword of ``stcon.constrain``, or TOOLS;
    ``text``: its value as JSON; ``field``: the field of the request, for errors;
    ``must_call``: whether it is a call of a tool; ``unenforced``: keywords that may
    stay without effect."""

    kind: str
    text: str
    field: str
    must_call: bool = False
    unenforced: tuple[str, ...] = ()

    @staticmethod
    def of(kind: str, value: Any, field: str) -> Format:
        """A format of a value as it came."""
        return Format(kind, json.dumps(value, sort_keys=False), field)

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments for ``stcon.constrain``, or ``constrain_tools``."""
        return self._value | self._unenforced

    def without_tools(self) -> Format | None:
        """The schema beside tools alone; None if there is none."""
        schema = self._value.get("schema")
        if schema is None:
            return None
        made = Format.of("schema", schema, self.field)
        return replace(made, unenforced=self.unenforced)

    def options_with(self, other: Format) -> dict[str, Any]:
        """The value of this format and of ``other``."""
        return self._value | other._value

    @property
    def _value(self) -> dict[str, Any]:
        value = json.loads(self.text)
        return dict(value) if self.kind == TOOLS else {self.kind: value}

    @property
    def _unenforced(self) -> dict[str, Any]:
        if self.kind not in (TOOLS, "schema") or not self.unenforced:
            return {}
        return {"allow_unenforced": frozenset(self.unenforced)}


def wanted(body: Body) -> Format | None:
    """The format that ``body`` asks for; None for free text.  A schema beside tools is
    that of an answer that calls none; another format leaves no call, unless one must
    come.

    Raises ValueError for a field that says nothing we know, and for two formats.
    """
    found = [format for read in _READERS for format in read(body)]
    if len(found) > 1:
        names = " and ".join(format.field for format in found)
        raise ValueError(f"{names} both ask for a format; send one")
    tools = asked_tools(body)
    if tools is not None and (tools.must_call or not found):
        return tools
    if tools is not None and found[0].kind == "schema":
        both = json.dumps(tools.options_with(found[0]))
        return replace(tools, text=both, field=found[0].field)
    return replace(found[0], unenforced=_unenforced(body)) if found else None


def _unenforced(body: Body) -> tuple[str, ...]:
    """The names in ``allow_unenforced``, a field of stcon's own."""
    names = body.get("allow_unenforced") or []
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise ValueError("allow_unenforced must be a list of names of keywords")
    return tuple(sorted(set(names)))


def asked_tools(body: Body) -> Format | None:
    """The tools of a chat request, with what it says of them; None for no tools.

    Raises ValueError for a call that must come, and cannot.
    """
    tools, choice = body.get("tools"), body.get("tool_choice")
    if "messages" not in body:
        return None  # mlx-lm looks for tools in chats alone
    if tools is None or tools == []:
        kind = choice.get("type") if isinstance(choice, Mapping) else choice
        if kind not in (None, "auto", "none"):
            raise ValueError("tool_choice asks for a call, and there are no tools")
        return None
    value = {
        "tools": tools,
        "tool_choice": choice,
        "parallel_tool_calls": body.get("parallel_tool_calls"),
    }
    try:
        asked = read_choice(choice, read_tools(tools), value["parallel_tool_calls"])
    except StconError as error:
        raise ValueError(f"{TOOLS}: {error}") from error
    made = Format.of(TOOLS, value, TOOLS)
    return replace(made, must_call=asked.must_call, unenforced=_unenforced(body))


def _response_format(body: Body) -> Iterator[Format]:
    value = body.get("response_format")
    if value is not None:
        yield from _typed(value, "response_format")


def _text_format(body: Body) -> Iterator[Format]:
    """The Responses API's."""
    text = body.get("text")
    if isinstance(text, Mapping) and text.get("format") is not None:
        yield from _typed(text["format"], "text.format")


def _typed(value: Any, field: str) -> Iterator[Format]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{field} must be an object with a type")
    kind = value.get("type")
    if kind == "text":
        return
    if kind == "json_object":
        yield Format.of("schema", _of_object(value.get("schema"), field), field)
    elif kind == "json_schema":
        yield Format.of("schema", _schema(value, field), field)
    elif kind in ("regex", "grammar"):
        yield _of_text(kind, value.get(kind, value.get("pattern")), field)
    else:
        raise ValueError(
            f"{field}.type is {kind!r}; known are text, json_object, json_schema, "
            "regex and grammar"
        )


def _of_object(schema: Any, field: str) -> Any:
    """The schema of an object, or of any."""
    if schema is None:
        return _OBJECT
    if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
        raise ValueError(f"{field} is a json_object, so its schema must be an object's")
    return {**_OBJECT, **schema}


def _schema(value: Mapping[str, Any], field: str) -> Any:
    """The schema of a ``json_schema``, in its wrapper or beside the type."""
    wrapper = value.get("json_schema")
    if isinstance(wrapper, Mapping) and "schema" in wrapper:
        return _checked(wrapper["schema"], f"{field}.json_schema.schema")
    if "schema" in value:
        return _checked(value["schema"], f"{field}.schema")
    raise ValueError(f"{field} has no json_schema.schema")


def _json_schema(body: Body) -> Iterator[Format]:
    """A schema that stands by itself, with or without its wrapper."""
    value = body.get("json_schema")
    if value is None:
        return
    inner = value.get("schema", value) if isinstance(value, Mapping) else value
    yield Format.of("schema", _checked(inner, "json_schema"), "json_schema")


def _structured_outputs(body: Body) -> Iterator[Format]:
    value = body.get("structured_outputs")
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise ValueError("structured_outputs must be an object")
    for name, given in value.items():
        if given is not None and name in _NAMED:
            yield _NAMED[name](given, f"structured_outputs.{name}")
        elif name not in _NAMED and name not in _HARMLESS:
            raise ValueError(f"structured_outputs.{name} is not supported")


def _guided(body: Body) -> Iterator[Format]:
    for name, make in _NAMED.items():
        value = body.get(f"guided_{name}")
        if value is not None:
            yield make(value, f"guided_{name}")


def _grammar(body: Body) -> Iterator[Format]:
    value = body.get("grammar")
    if value is not None:
        yield _of_text("grammar", value, "grammar")


def _of_schema(value: Any, field: str) -> Format:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise ValueError(f"{field} is not JSON: {error}") from error
    return Format.of("schema", _checked(value, field), field)


def _checked(schema: Any, field: str) -> Any:
    if not isinstance(schema, (Mapping, bool)):
        raise ValueError(f"{field} must be a JSON Schema, an object or a bool")
    return schema


def _of_text(kind: str, value: Any, field: str) -> Format:
    if not isinstance(value, str):
        raise ValueError(f"{field} must be a string")
    return Format.of(kind, value, field)


def _of_choices(value: Any, field: str) -> Format:
    if not isinstance(value, list) or not all(isinstance(c, str) for c in value):
        raise ValueError(f"{field} must be a list of strings")
    return Format.of("choices", value, field)


_NAMED: Mapping[str, Callable[[Any, str], Format]] = {
    "json": _of_schema,
    "regex": lambda value, field: _of_text("regex", value, field),
    "choice": _of_choices,
    "grammar": lambda value, field: _of_text("grammar", value, field),
}
_HARMLESS = frozenset({"disable_any_whitespace", "backend", "_backend"})
_READERS = (
    _response_format,
    _text_format,
    _json_schema,
    _structured_outputs,
    _guided,
    _grammar,
)
