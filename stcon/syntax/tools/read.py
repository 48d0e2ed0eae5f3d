"""A text with tool calls, back to calls.

As mlx-lm's parsers, but that the whole schema decides how an argument between tags is
read; those look at ``type`` alone, and take a number for a string where there is
``anyOf`` instead.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Collection, Iterator
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
_PARAMETER = re.compile(r"<parameter=([^>\n]+)>\n")
_CLOSING = "\n</parameter>\n"
_CONTAINER = "container"
_MOST_DIGITS = 4000  # Python reads no whole number of more than 4,300


def _read_json(text: str) -> Any:
    """The value of a JSON text; a number too large for Python is the largest float."""
    return json.loads(text, parse_float=_number, parse_int=_number)


def _number(text: str) -> float | int:
    if len(text) <= _MOST_DIGITS and text.lstrip("-").isdecimal():
        return int(text)
    return max(-sys.float_info.max, min(float(text), sys.float_info.max))


_READ: dict[str, Callable[[str], Any]] = {
    NULL: lambda text: None,
    BOOLEAN: lambda text: text.lower() == "true",
    NUMBER: _read_json,
    _CONTAINER: _read_json,
}


def parse_tool_calls(
    text: str, tools: Any, *, after: str = "", allow_unenforced: Collection[str] = ()
) -> tuple[str, list[dict[str, Any]]]:
    """What stands in ``text`` before the first call, and the calls, each an object
    with ``name`` and ``arguments``.

    ``tools``, ``allow_unenforced``: as given to ``constrain_tools``.  ``after``: calls
    are looked for after the last such mark (``"</think>"``).  It reads what a
    constraint let through, and does not judge arguments again.  Cost: a few ms a call
    with arguments between tags.  Raises ValueError for a call that is not whole, or of
    a tool that is not there; SchemaError for a broken list.
    """
    if not isinstance(text, str):
        raise TypeError(f"text is a string, not {type(text).__name__}")
    known = {tool.name: tool for tool in read_tools(tools)}
    behind = text.rfind(after) + len(after) if after and after in text else 0
    start = text.find(OPEN, behind)
    if start < 0:
        return text, []
    before, rest, calls, at = text[:start], text[start:], [], 0
    while at < len(rest):
        found = _CALL.match(rest, at)
        if found is None:
            raise ValueError(f"this is no whole call: {rest[at : at + 60]!r}")
        calls.append(_call(found[1], known, frozenset(allow_unenforced)))
        at = found.end()
        at += rest.startswith("\n", at)
    return before, calls


def _call(
    inside: str, known: dict[str, Tool], allow_unenforced: frozenset[str]
) -> dict[str, Any]:
    tagged = _FUNCTION.fullmatch(inside)
    call = {"name": tagged[1]} if tagged else _as_json(inside)
    name = call["name"]
    if name not in known:
        raise ValueError(f"there is no tool {name!r:.60}")
    if tagged is None:
        return call
    kinds = argument_kinds(known[name], allow_unenforced)
    arguments: dict[str, Any] = {}
    for key, value in _pairs(tagged[2]):
        if key not in kinds or key in arguments:
            why = "twice the" if key in arguments else "no"
            raise ValueError(f"{name} has {why} argument {key!r:.60}")
        arguments[key] = argument(value, kinds[key])
    return {"name": name, "arguments": arguments}


def _pairs(body: str) -> Iterator[tuple[str, str]]:
    """Names and texts of the arguments between tags."""
    at = 0
    while at < len(body):
        opening = _PARAMETER.match(body, at)
        end = body.find(_CLOSING, opening.end()) if opening else -1
        if opening is None or end < 0:
            raise ValueError(f"this is no argument: {body[at : at + 60]!r}")
        yield opening[1], body[opening.end() : end]
        at = end + len(_CLOSING)


def _as_json(inside: str) -> dict[str, Any]:
    try:
        call = _read_json(inside)
        found = {"name": call["name"], "arguments": call["arguments"]}
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ValueError(f"this is no call: {inside!r:.60}") from error
    if not isinstance(found["name"], str) or not isinstance(found["arguments"], dict):
        raise ValueError(f"this is no call: {inside!r:.60}")
    return found


def argument(text: str, kinds: frozenset[str]) -> Any:
    """The value that ``text`` stands for, of an argument of these kinds."""
    is_container = bool(kinds - {NULL, BOOLEAN, NUMBER, STRING})
    readable = [kind for kind in (NULL, BOOLEAN, NUMBER) if kind in kinds]
    for kind in [*readable, *([_CONTAINER] if is_container else [])]:
        if re.fullmatch(LANGUAGES[kind], text):
            try:
                return _READ[kind](text)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{text!r:.60} cannot be read: {error}") from error
    if STRING not in kinds:
        raise ValueError(f"{text!r:.60} is none of {', '.join(sorted(kinds))}")
    return text


def argument_kinds(
    tool: Tool, allow_unenforced: frozenset[str] = frozenset()
) -> dict[str, frozenset[str]]:
    """The kinds of values that each declared argument may have."""
    opened = open_schema(tool.parameters, allow_unenforced=allow_unenforced)
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
