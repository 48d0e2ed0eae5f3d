"""Four formats that contain themselves, after the tasks of the few-paths paper."""

from __future__ import annotations

from typing import Any

STRING = {"type": "string"}


def tree(below: str, **own: Any) -> dict[str, Any]:
    """A schema of closed objects that hold a list of their own kind."""
    node = {
        "type": "object",
        "properties": {
            **own,
            below: {"type": "array", "items": {"$ref": "#/$defs/node"}},
        },
        "required": [*own, below],
        "additionalProperties": False,
    }
    return {"$defs": {"node": node}, "$ref": "#/$defs/node"}


KINDS = {"enum": ["star", "planet", "moon"]}
TREES: dict[str, dict[str, Any]] = {
    "solar": tree("satellites", name=STRING, kind=KINDS),
    "thread": tree("replies", author=STRING, text=STRING),
    "files": {
        "$defs": {
            "file": {
                "type": "object",
                "properties": {"file": STRING, "bytes": {"type": "integer"}},
                "required": ["file", "bytes"],
                "additionalProperties": False,
            },
            "folder": {
                "type": "object",
                "properties": {
                    "folder": STRING,
                    "entries": {
                        "type": "array",
                        "items": {
                            "anyOf": [
                                {"$ref": "#/$defs/file"},
                                {"$ref": "#/$defs/folder"},
                            ]
                        },
                    },
                },
                "required": ["folder", "entries"],
                "additionalProperties": False,
            },
        },
        "$ref": "#/$defs/folder",
    },
    "categories": {
        "$defs": {
            "category": {
                "type": "object",
                "properties": {
                    "label": {"type": "string", "maxLength": 20},
                    "parts": {
                        "type": "array",
                        "items": {"$ref": "#/$defs/category"},
                        "minItems": 1,
                        "maxItems": 4,
                    },
                },
                "required": ["label"],
                "additionalProperties": False,
            }
        },
        "$ref": "#/$defs/category",
    },
}


def nested(name: str, levels: int) -> Any:
    """A value of one of the trees, ``levels`` deep."""
    ends: dict[str, tuple[dict[str, Any], str]] = {
        "solar": ({"name": "x", "kind": "moon"}, "satellites"),
        "thread": ({"author": "x", "text": ""}, "replies"),
        "files": ({"folder": "x"}, "entries"),
        "categories": ({"label": "x"}, "parts"),
    }
    own, below = ends[name]
    value: Any = dict(own) if name == "categories" else {**own, below: []}
    for _ in range(levels - 1):
        value = {**own, below: [value]}
    return value
