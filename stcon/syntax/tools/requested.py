"""What a request says of tools: the list, and which of them must be called.

A tool is an object as chat APIs have it: ``{"type": "function", "function": {"name",
"parameters"}}``, the same without the envelope, or with ``input_schema``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stcon.errors import SchemaError

_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,64}")
_OPENS = (
    *("additionalProperties", "unevaluatedProperties", "patternProperties"),
    *("const", "enum"),
)
"""What says of all keys whether they may be there."""
_APPLIES = (
    *("$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not"),
    *("if", "then", "else", "dependentSchemas", "dependencies"),
)
_OLD_DRAFT = re.compile(r"draft-0[3467]")


@dataclass(frozen=True)
class Tool:
    """``parameters``: a schema of objects; ``pointer``: where it stands."""

    name: str
    parameters: dict[str, Any]
    pointer: str


@dataclass(frozen=True)
class Wanted:
    """Which ``tools`` may be called; whether one must be, whether free text may come
    instead and before, and whether several calls may follow one another."""

    tools: tuple[Tool, ...]
    must_call: bool
    may_repeat: bool


def read_tools(tools: Any) -> tuple[Tool, ...]:
    """The tools of a list.  Raises SchemaError, its pointer from the list's root."""
    if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Sequence):
        raise SchemaError(
            f"tools are a list of objects, not {tools!r:.60}", pointer="#"
        )
    found: dict[str, Tool] = {}
    for place, given in enumerate(tools):
        tool = _tool(given, f"#/{place}")
        if tool.name in found:
            raise _broken(f"there is a tool {tool.name} already", f"#/{place}", "name")
        found[tool.name] = tool
    return tuple(found.values())


def _tool(given: Any, pointer: str) -> Tool:
    if not isinstance(given, Mapping):
        raise _broken(f"a tool is an object, not {given!r:.60}", pointer, "")
    kind = given.get("type", "function")
    if kind != "function":
        raise _broken(f"tools of the type {kind!r:.60} are not known", pointer, "type")
    if "function" in given:
        pointer, given = f"{pointer}/function", given["function"]
        if not isinstance(given, Mapping):
            raise _broken("a function is an object", pointer, "")
    name = given.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise _broken(
            "the name of a tool is 1 to 64 letters, digits, dots, hyphens and "
            f"underscores, not {name!r:.60}",
            pointer,
            "name",
        )
    keyword = "input_schema" if "input_schema" in given else "parameters"
    pointer = f"{pointer}/{keyword}"
    return Tool(name, _closed(given.get(keyword), pointer), pointer)


def _broken(message: str, pointer: str, keyword: str) -> SchemaError:
    where = f"{pointer}/{keyword}" if keyword else pointer
    return SchemaError(message, pointer=where, keyword=keyword)


def _closed(given: Any, pointer: str) -> dict[str, Any]:
    """The schema of arguments: an object, whose keys are those that it speaks of
    unless it says otherwise."""
    if given is None or given is True:
        given = {}
    if not isinstance(given, Mapping):
        if isinstance(given, (str, bytes, bool, int, list)):
            raise _broken("parameters are a JSON Schema", pointer, "")
        from stcon.syntax.annotations import schema_of

        given = schema_of(given)
    schema = dict(given)
    kinds = schema.setdefault("type", "object")
    if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
        raise _broken("arguments are an object", pointer, "type")
    schema["type"] = "object"
    if not any(name in schema for name in _OPENS):
        _close(schema, pointer)
    return schema


def _close(schema: dict[str, Any], pointer: str) -> None:
    if not any(name in schema for name in _APPLIES):
        schema["additionalProperties"] = False
    elif _OLD_DRAFT.search(str(schema.get("$schema", ""))):
        raise SchemaError(
            "whether there may be other arguments is not said, and subschemas of this "
            "draft cannot tell",
            pointer=pointer,
            keyword="additionalProperties",
            hint="say additionalProperties",
        )
    else:
        schema["unevaluatedProperties"] = False


def read_choice(choice: Any, tools: tuple[Tool, ...], parallel: bool) -> Wanted:
    """What ``tool_choice`` means: ``"none"``, ``"auto"``, ``"required"`` (or
    ``"any"``), the name of a tool, or an object that names one.

    Raises SchemaError.
    """
    if isinstance(choice, Mapping):
        choice = _named(choice)
    if choice == "none":
        return Wanted((), False, False)
    if choice in ("auto", None):
        return Wanted(tools, False, parallel)
    if not tools:
        raise SchemaError("a call is wanted, and there is no tool", pointer="#")
    if choice in ("required", "any"):
        return Wanted(tools, True, parallel)
    for tool in tools:
        if tool.name == choice:
            return Wanted((tool,), True, False)
    known = ", ".join(tool.name for tool in tools[:8])
    raise SchemaError(
        f'tool_choice is "none", "auto", "required" or the name of a tool ({known}), '
        f"not {choice!r:.60}",
        pointer="#",
    )


def _named(choice: Mapping[str, Any]) -> Any:
    """The name in ``{"type": "function", "function": {"name": ...}}`` and its like."""
    inner = choice.get("function", choice)
    if isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
        return inner["name"]
    return choice.get("type", choice)
