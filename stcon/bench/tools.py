"""A typed tool-call grammar: the name of a tool fixes the type of each argument.

One object a tool, joined by anyOf; about 1,100 states, the size of the largest
grammar of the few-paths paper.
"""

from __future__ import annotations

from typing import Any

_TEXT = {"type": "string"}
_PATH = {"type": "string", "minLength": 1}
_DAY = {"type": "string", "format": "date"}
_MOMENT = {"type": "string", "format": "date-time"}
_ID = {"type": "string", "format": "uuid"}
_EMAIL = {"type": "string", "format": "email"}
_FLAG = {"type": "boolean"}


def _up_to(most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": most}


_TOOLS: dict[str, dict[str, Any]] = {
    "read_file": {"path": _PATH, "offset": _up_to(100_000), "limit": _up_to(2000)},
    "write_file": {"path": _PATH, "content": _TEXT, "overwrite": _FLAG},
    "run_command": {
        "command": _TEXT,
        "timeout_seconds": _up_to(600),
        "shell": {"enum": ["bash", "zsh", "sh", "fish"]},
    },
    "search_code": {
        "pattern": _TEXT,
        "folder": _PATH,
        "language": {"enum": ["python", "rust", "swift", "c", "typescript"]},
        "max_results": _up_to(200),
    },
    "create_event": {
        "title": _TEXT,
        "starts": _MOMENT,
        "minutes": _up_to(1440),
        "attendees": {"type": "array", "items": _EMAIL, "maxItems": 8},
    },
    "send_email": {
        "to": {"type": "array", "items": _EMAIL, "minItems": 1},
        "subject": {"type": "string", "minLength": 1},
        "body": _TEXT,
        "priority": {"enum": ["low", "normal", "high"]},
    },
    "get_weather": {
        "city": _TEXT,
        "day": _DAY,
        "unit": {"enum": ["celsius", "fahrenheit"]},
    },
    "book_room": {
        "room": {"type": "string", "pattern": "^[A-F][0-9]{3}$"},
        "day": _DAY,
        "seats": _up_to(40),
        "needs_screen": _FLAG,
    },
    "update_ticket": {
        "ticket": _ID,
        "status": {"enum": ["open", "blocked", "in review", "closed"]},
        "assignee": {"anyOf": [_EMAIL, {"type": "null"}]},
    },
    "ping_host": {
        "address": {"type": "string", "format": "ipv4"},
        "port": _up_to(65_535),
        "protocol": {"enum": ["tcp", "udp", "icmp"]},
    },
    "transfer_money": {
        "account": {"type": "string", "pattern": "^[A-Z]{2}[0-9]{2}[A-Z0-9]{12}$"},
        "amount": {"type": "number"},
        "currency": {"enum": ["EUR", "USD", "GBP"]},
        "reference": {"type": "string", "maxLength": 8},
    },
    "move_point": {
        "layer": _ID,
        "to": {
            "type": "array",
            "prefixItems": [{"type": "number"}, {"type": "number"}],
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
            "attendees": ["ana@example.org", "lee.wu@example.com"],
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
            "folder": "src/app",
            "language": "python",
            "max_results": 20,
        },
    },
)
