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
            where = tool.pointer.rpartition("/")[0]
            raise _broken(f"there is a tool {tool.name} already", where, "name")
        found[tool.name] = tool
    return tuple(found.values())


def _tool(given: Any, pointer: str) -> Tool:
    if not isinstance(given, Mapping):
        raise SchemaError(
            f"a tool is an object, not {given!r:.60}",
            pointer=pointer,
            hint='write {"name": ..., "parameters": ...}; parameters may be a type',
        )
    kind = given.get("type", "function")
    if kind != "function":
        raise _broken(f"tools of the type {kind!r:.60} are not known", pointer, "type")
    if "function" in given:
        if "parameters" in given:
            why = "parameters stand beside the function, not in it"
            raise _broken(why, pointer, "parameters")
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
    if keyword not in given:
        _refuse_near_misses(given, pointer)
    pointer = f"{pointer}/{keyword}"
    return Tool(name, _closed(given.get(keyword), pointer), pointer)


def _refuse_near_misses(given: Mapping[str, Any], pointer: str) -> None:
    """Nothing; raises SchemaError for a key that was surely meant for parameters, which
    would otherwise be a tool without any."""
    from difflib import get_close_matches

    for key in given:
        near = get_close_matches(str(key), ("parameters", "input_schema"), 1, 0.75)
        if near:
            why = f"unknown key {key!r:.60}; did you mean {near[0]}?"
            raise _broken(why, pointer, str(key))


def _broken(message: str, pointer: str, keyword: str) -> SchemaError:
    where = f"{pointer}/{keyword}" if keyword else pointer
    return SchemaError(message, pointer=where, keyword=keyword)


def _closed(given: Any, pointer: str) -> dict[str, Any]:
    """The schema of arguments: an object, whose keys are those that it speaks of
    unless it says otherwise."""
    if given is None or given is True:
        given = {}
    if not isinstance(given, Mapping):
        if isinstance(given, (str, bytes, bool, int, float, list)):
            raise _broken("parameters are a JSON Schema", pointer, "")
        given = _of_type(given, pointer)
    schema = dict(given)
    kinds = schema.setdefault("type", "object")
    if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
        raise _broken("arguments are an object", pointer, "type")
    schema["type"] = "object"
    if not any(name in schema for name in _OPENS):
        _close(schema, pointer)
    return schema


def _of_type(given: Any, pointer: str) -> dict[str, Any]:
    from stcon.syntax.annotations import schema_of

    try:
        return dict(schema_of(given))
    except SchemaError as error:
        raise SchemaError(
            error.message.removeprefix("#: "), pointer=pointer, hint=error.hint
        ) from error


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


def read_choice(choice: Any, tools: tuple[Tool, ...], parallel: bool | None) -> Wanted:
    """What ``tool_choice`` means: ``"none"``, ``"auto"`` (or None), ``"required"`` (or
    ``"any"``), the name of a tool, or an API's object that says one of these, or which
    tools are allowed.

    Raises ValueError.
    """
    if parallel is None:
        parallel = True
    if not isinstance(parallel, bool):
        raise ValueError(f"parallel_tool_calls is true or false, not {parallel!r:.60}")
    if isinstance(choice, Mapping):
        if choice.get("type") == "allowed_tools":
            return _allowed(choice, tools, parallel)
        if (name := _named(choice)) is not None:
            return _one(name, tools)
        choice = choice.get("type", choice)
        if choice is None:
            raise ValueError("tool_choice has no type")
    if choice == "none":
        return Wanted((), False, False)
    if choice in ("auto", None):
        return Wanted(tools, False, parallel)
    if not tools:
        raise ValueError("tool_choice asks for a call, and there is no tool")
    if choice in ("required", "any"):
        return Wanted(tools, True, parallel)
    return _one(choice, tools)


def _one(choice: Any, tools: tuple[Tool, ...]) -> Wanted:
    """One call of the tool of this name."""
    for tool in tools:
        if tool.name == choice:
            return Wanted((tool,), True, False)
    known = ", ".join(tool.name for tool in tools[:8])
    raise ValueError(
        'tool_choice is "none", "auto", "required", "any" or the name of a tool '
        f"({known}), not {choice!r:.60}"
    )


def _allowed(
    choice: Mapping[str, Any], tools: tuple[Tool, ...], parallel: bool | None
) -> Wanted:
    """What ``{"type": "allowed_tools", "mode": ..., "tools": [...]}`` means."""
    inner = choice.get("allowed_tools", choice)
    listed = inner.get("tools") if isinstance(inner, Mapping) else None
    if not isinstance(listed, Sequence) or isinstance(listed, (str, bytes)):
        raise ValueError("allowed_tools has a list of tools")
    names = [str(_named(one) if isinstance(one, Mapping) else one) for one in listed]
    known = {tool.name: tool for tool in tools}
    for name in names:
        if name not in known:
            raise ValueError(f"allowed_tools: there is no tool {name!r:.60}")
    chosen = tuple(known[name] for name in dict.fromkeys(names))
    return read_choice(inner.get("mode", "auto"), chosen, parallel)


def _named(choice: Mapping[str, Any]) -> str | None:
    """The name in ``{"type": "function", "function": {"name": ...}}`` and its like."""
    inner = choice.get("function", choice)
    name = inner.get("name") if isinstance(inner, Mapping) else None
    return name if isinstance(name, str) else None
