"""Four schemas that contain themselves, each with two instances; for ``bench decode``.

They keep to keywords that every peer says it enforces.
"""

from __future__ import annotations

from typing import Any

from stcon.bench.cases import Case, Schema, record

_TEXT = {"type": "string"}
_AGAIN = {"$ref": "#/$defs/node"}


def recursive_cases() -> list[Case]:
    """The four cases."""
    return [
        Case("file_tree", _of(_FILE), _FILES),
        Case("expression", _of(_EXPRESSION), _EXPRESSIONS),
        Case("comments", _of(_COMMENT), _COMMENTS),
        Case("route", _of(_STOP), _ROUTES),
    ]


def _of(node: Schema) -> Schema:
    """The schema of a value of ``node``, which refers to itself by name."""
    return {"$defs": {"node": node}, **_AGAIN}


def _list(items: Any) -> Schema:
    return {"type": "array", "items": items}


_FILE = record({"name": _TEXT, "is_folder": {"type": "boolean"}, "has": _list(_AGAIN)})
_FILES = (
    {
        "name": "src",
        "is_folder": True,
        "has": [{"name": "main.py", "is_folder": False, "has": []}],
    },
    {
        "name": "docs",
        "is_folder": True,
        "has": [{"name": "index.md", "is_folder": False, "has": []}],
    },
)

_EXPRESSION = {
    "anyOf": [
        {"type": "integer"},
        record(
            {
                "operator": {"enum": ["plus", "minus", "times"]},
                "left": _AGAIN,
                "right": _AGAIN,
            }
        ),
    ]
}
_EXPRESSIONS = (
    {
        "operator": "plus",
        "left": 3,
        "right": {"operator": "times", "left": 4, "right": 5},
    },
    {
        "operator": "minus",
        "left": {"operator": "plus", "left": 1, "right": 2},
        "right": 6,
    },
)

_COMMENT = record({"author": _TEXT, "says": _TEXT, "replies": _list(_AGAIN)})
_COMMENTS = (
    {
        "author": "Ada",
        "says": "Does it work?",
        "replies": [{"author": "Ben", "says": "It does.", "replies": []}],
    },
    {
        "author": "Zoë",
        "says": "Who is in?",
        "replies": [{"author": "Tom", "says": "Me!", "replies": []}],
    },
)

_STOP = record({"city": _TEXT, "next": {"anyOf": [{"type": "null"}, _AGAIN]}})
_ROUTES = (
    {
        "city": "Oslo",
        "next": {"city": "Hamburg", "next": {"city": "Lyon", "next": None}},
    },
    {"city": "Rome", "next": {"city": "Bern", "next": None}},
)
