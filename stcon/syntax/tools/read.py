"""A text with tool calls, back to calls.

As mlx-lm's parsers, but that the whole schema decides how an argument between tags is
read; those look at ``type`` alone, and take a number for a string where there is
``anyOf`` instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from stcon.syntax.json_schema import open_schema
from stcon.syntax.json_schema.constants import Constants
from stcon.syntax.json_schema.goals import ANYTHING, Goal
from stcon.syntax.json_schema.numbers import NumberShape
from stcon.syntax.json_schema.object_shape import ObjectShape
from stcon.syntax.json_schema.plan import Plan
from stcon.syntax.json_schema.strings import StringShape
from stcon.syntax.json_schema.values import (
    BOOLEAN,
    KINDS,
    NULL,
    NUMBER,
    STRING,
    kind_of,
)
from stcon.syntax.tools.requested import Tool, read_tools
from stcon.syntax.tools.tagged import LANGUAGES

OPEN, CLOSE = "<tool_call>", "</tool_call>"

_CALL = re.compile(f"{OPEN}\n(.*?)\n{CLOSE}", re.DOTALL)
_FUNCTION = re.compile(r"<function=([^>\n]+)>\n(.*)</function>", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>\n]+)>\n(.*?)\n</parameter>\n", re.DOTALL)
_CONTAINER = "container"
_READ: dict[str, Callable[[str], Any]] = {
    NULL: lambda text: None,
    BOOLEAN: lambda text: text.lower() == "true",
    NUMBER: json.loads,
    _CONTAINER: json.loads,
}


def parse_tool_calls(text: str, tools: Any) -> tuple[str, list[dict[str, Any]]]:
    """What stands in ``text`` before the first call, and the calls, each an object
    with ``name`` and ``arguments``.

    ``tools``: as they were given to ``constrain_tools``.  Cost: a few ms a call with
    arguments between tags.  Raises ValueError for a call that is not whole, or of a
    tool that is not there; SchemaError for a broken list.
    """
    known = {tool.name: tool for tool in read_tools(tools)}
    before, mark, rest = text.partition(OPEN)
    rest, calls, at = mark + rest, [], 0
    while at < len(rest):
        found = _CALL.match(rest, at)
        if found is None:
            raise ValueError(f"this is no whole call: {rest[at : at + 60]!r}")
        calls.append(_call(found[1], known))
        at = found.end()
        at += rest.startswith("\n", at)
    return before, calls


def _call(inside: str, known: dict[str, Tool]) -> dict[str, Any]:
    tagged = _FUNCTION.fullmatch(inside)
    name = tagged[1] if tagged else json.loads(inside)["name"]
    if name not in known:
        raise ValueError(f"there is no tool {name!r:.60}")
    if tagged is None:
        return {"name": name, "arguments": json.loads(inside)["arguments"]}
    kinds = argument_kinds(known[name])
    pairs = _PARAMETER.findall(tagged[2])
    for key, _ in pairs:
        if key not in kinds:
            raise ValueError(f"{name} has no argument {key!r:.60}")
    arguments = {key: argument(value, kinds[key]) for key, value in pairs}
    return {"name": name, "arguments": arguments}


def argument(text: str, kinds: frozenset[str]) -> Any:
    """The value that ``text`` stands for, of an argument of these kinds."""
    is_container = bool(kinds - {NULL, BOOLEAN, NUMBER, STRING})
    readable = [kind for kind in (NULL, BOOLEAN, NUMBER) if kind in kinds]
    for kind in [*readable, *([_CONTAINER] if is_container else [])]:
        if re.fullmatch(LANGUAGES[kind], text):
            return _READ[kind](text)
    if STRING not in kinds:
        raise ValueError(f"{text!r:.60} is none of {', '.join(sorted(kinds))}")
    return text


def argument_kinds(tool: Tool) -> dict[str, frozenset[str]]:
    """The kinds of values that each declared argument may have."""
    opened = open_schema(tool.parameters)
    plan = opened.writer.plan
    found: dict[str, set[str]] = {}
    for shape in plan.shapes[frozenset(opened.root)]:
        if isinstance(shape, ObjectShape):
            for name, wanted in shape.names.items():
                found.setdefault(name, set()).update(_kinds(plan, wanted))
    return {name: frozenset(kinds) for name, kinds in found.items()}


def _kinds(plan: Plan, wanted: Goal) -> set[str]:
    if wanted == ANYTHING:
        return set(KINDS)
    return set(map(_kind, plan.shapes.get(frozenset(wanted), ())))


def _kind(shape: object) -> str:
    if isinstance(shape, Constants):
        return kind_of(shape.values[0])
    if isinstance(shape, StringShape):
        return STRING
    if isinstance(shape, NumberShape):
        return NUMBER
    return "object" if isinstance(shape, ObjectShape) else "array"
