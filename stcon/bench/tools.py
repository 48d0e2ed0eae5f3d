"""A typed tool-call grammar: the name of a tool fixes the type of each argument.

One object a tool, joined by anyOf; about 1,100 states, the size of the largest
grammar of the few-paths paper.
"""

from __future__ import annotations

from typing import Any

_TEXT = {"type": "string"}
_PATH = {"type": "string", "minLength": 1}
_FLAG = {"type": "boolean"}
_NUMBER = {"type": "number"}


def _up_to(most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": most}


_TOOLS: dict[str, dict[str, Any]] = {
    "read_file": {"path": _PATH, "limit": _up_to(2000)},
    "write_file": {"path": _PATH, "content": _TEXT},
    "run_command": {"command": _TEXT, "shell": {"enum": ["bash", "zsh", "sh", "fish"]}},
    "search_code": {
        "pattern": _TEXT,
        "language": {"enum": ["python", "rust", "swift", "c"]},
        "max_results": _up_to(200),
    },
    "create_event": {
        "title": _TEXT,
        "starts": {"type": "string", "format": "date-time"},
        "minutes": _up_to(1440),
        "guests": {"type": "array", "items": _TEXT, "maxItems": 3},
    },
    "send_email": {
        "to": {
            "type": "array",
            "items": {"type": "string", "format": "email"},
            "minItems": 1,
        },
        "body": _TEXT,
    },
    "get_weather": {"city": _TEXT, "unit": {"enum": ["celsius", "fahrenheit"]}},
    "book_room": {
        "room": {"type": "string", "pattern": "^[A-F][0-9]{2}$"},
        "seats": _up_to(40),
    },
    "update_ticket": {
        "ticket": {"type": "string", "format": "uuid"},
        "status": {"enum": ["open", "in review", "closed"]},
        "assignee": {"anyOf": [_TEXT, {"type": "null"}]},
    },
    "ping_host": {
        "address": {"type": "string", "format": "ipv4"},
        "port": _up_to(65_535),
    },
    "transfer_money": {"amount": _NUMBER, "currency": {"enum": ["EUR", "USD", "GBP"]}},
    "move_point": {
        "to": {
            "type": "array",
            "prefixItems": [_NUMBER, _NUMBER],
            "items": False,
            "minItems": 2,
            "maxItems": 2,
        },
        "snap": _FLAG,
    },
}


def tool_grammar() -> dict[str, Any]:
    """The schema of one call of any of the dozen tools."""
    return {"anyOf": [_call(name, _TOOLS[name]) for name in _TOOLS]}


def _call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return _object({"name": {"const": name}, "arguments": _object(arguments)})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


TOOL_CALLS: tuple[Any, ...] = (
    {
        "name": "create_event",
        "arguments": {
            "title": "Design review",
            "starts": "2025-06-03T14:00:00Z",
            "minutes": 45,
            "guests": ["Ana", "Lee Wu"],
        },
    },
    {
        "name": "update_ticket",
        "arguments": {
            "ticket": "3f2b8c1e-9a47-4d0b-8e61-5c7d2f90ab34",
            "status": "in review",
            "assignee": None,
        },
    },
    {
        "name": "search_code",
        "arguments": {
            "pattern": "def main(",
            "language": "python",
            "max_results": 20,
        },
    },
)
