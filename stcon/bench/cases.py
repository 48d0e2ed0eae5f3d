"""The formats that are measured, each with instances a model might write.

Six extraction schemas of the kind the few-paths paper measures, forms of 48 and
96 fields, and a typed tool-call grammar (tools.py).  They keep to keywords that
every peer says it enforces, so that all engines do the same work: type,
properties, required, additionalProperties: false, items, enum, const, anyOf,
local $ref, pattern, lengths, bounds of integers, and the common formats.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stcon.bench.tools import TOOL_CALLS, tool_grammar

Schema = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A schema and valid instances, their keys in declared order."""

    name: str
    schema: Schema
    instances: tuple[Any, ...]
    is_extraction: bool = False

    def texts(self) -> list[str]:
        """The instances as compact JSON."""
        return [
            json.dumps(instance, separators=(",", ":"), ensure_ascii=False)
            for instance in self.instances
        ]


def cases() -> list[Case]:
    """All cases, the six extraction schemas first."""
    return [
        Case("person", _PERSON, _PEOPLE, True),
        Case("tool_call", _TOOL_CALL, _WEATHER_CALLS, True),
        Case("product", _PRODUCT, _PRODUCTS, True),
        Case("event", _EVENT, _EVENTS, True),
        Case("classification", _CLASSIFICATION, _REVIEWS, True),
        Case("contact_card", _CONTACT, _CONTACTS, True),
        Case("form_48", form(48), (filled(48, 0), filled(48, 1))),
        Case("form_96", form(96), (filled(96, 0), filled(96, 1))),
        Case("tools", tool_grammar(), TOOL_CALLS),
    ]


def form(fields: int) -> Schema:
    """A flat record whose fields are strings and integers in turn."""
    kinds = ({"type": "string"}, {"type": "integer"})
    return record({f"field_{i:02d}": kinds[i % 2] for i in range(fields)})


def filled(fields: int, shift: int) -> dict[str, Any]:
    """An instance of ``form(fields)``; ``shift``: which of several."""
    words = ("blue harbour", "Zoë", "two of three", "n/a", "approved on Monday")
    return {
        f"field_{i:02d}": (i * 37 + shift) % 1009
        if i % 2
        else words[(i // 2 + shift) % len(words)]
        for i in range(fields)
    }


def record(properties: Mapping[str, Any], **keywords: Any) -> Schema:
    """An object that has exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
        **keywords,
    }


_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}

_PERSON = record(
    {
        "name": _TEXT,
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
        "email": {"type": "string", "format": "email"},
        "occupation": _TEXT,
        "is_member": {"type": "boolean"},
    }
)
_PEOPLE = (
    {
        "name": "Maria Keller",
        "age": 34,
        "email": "maria.keller@example.org",
        "occupation": "structural engineer",
        "is_member": True,
    },
    {
        "name": "José Álvarez",
        "age": 7,
        "email": "jose@example.com",
        "occupation": "pupil",
        "is_member": False,
    },
)

_TOOL_CALL = record(
    {
        "name": {"const": "get_weather"},
        "arguments": record(
            {
                "city": _TEXT,
                "unit": {"enum": ["celsius", "fahrenheit"]},
                "days": {"type": "integer", "minimum": 1, "maximum": 14},
            }
        ),
    }
)
_WEATHER_CALLS = (
    {
        "name": "get_weather",
        "arguments": {"city": "Lyon", "unit": "celsius", "days": 3},
    },
    {
        "name": "get_weather",
        "arguments": {"city": "San José", "unit": "fahrenheit", "days": 14},
    },
)

_PRODUCT = record(
    {
        "title": {"type": "string", "minLength": 1},
        "sku": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"},
        "price": {"type": "number"},
        "currency": {"enum": ["EUR", "USD", "GBP", "JPY"]},
        "in_stock": {"type": "boolean"},
        "tags": {"type": "array", "items": _TEXT, "maxItems": 4},
    }
)
_PRODUCTS = (
    {
        "title": "Walnut desk lamp, dimmable",
        "sku": "LMP-0042",
        "price": 89.5,
        "currency": "EUR",
        "in_stock": True,
        "tags": ["lighting", "office"],
    },
    {
        "title": "Trail shoes 44",
        "sku": "SHO-4410",
        "price": 129,
        "currency": "USD",
        "in_stock": False,
        "tags": [],
    },
)

_EVENT = {
    "$defs": {
        "attendee": record(
            {"name": _TEXT, "role": {"enum": ["host", "speaker", "guest"]}}
        )
    },
    **record(
        {
            "title": _TEXT,
            "date": {"type": "string", "format": "date"},
            "start": {"type": "string", "format": "time"},
            "place": {"anyOf": [_TEXT, {"type": "null"}]},
            "attendees": {
                "type": "array",
                "items": {"$ref": "#/$defs/attendee"},
                "minItems": 1,
            },
        }
    ),
}
_EVENTS = (
    {
        "title": "Quarterly review",
        "date": "2025-03-14",
        "start": "09:30:00Z",
        "place": "Room 4.12",
        "attendees": [
            {"name": "Aiko Tanaka", "role": "host"},
            {"name": "Luc Moreau", "role": "speaker"},
        ],
    },
    {
        "title": "Harbour walk",
        "date": "2024-11-02",
        "start": "17:05:30Z",
        "place": None,
        "attendees": [{"name": "Priya", "role": "guest"}],
    },
)

_CLASSIFICATION = record(
    {
        "sentiment": {"enum": ["positive", "neutral", "negative"]},
        "topic": {"enum": ["delivery", "quality", "price", "service", "other"]},
        "rating": {"type": "integer", "minimum": 1, "maximum": 5},
        "language": {"enum": ["en", "fr", "de", "es", "ja"]},
        "needs_reply": {"type": "boolean"},
        "summary": _TEXT,
    }
)
_REVIEWS = (
    {
        "sentiment": "negative",
        "topic": "delivery",
        "rating": 2,
        "language": "en",
        "needs_reply": True,
        "summary": "The parcel came nine days late and the box was open.",
    },
    {
        "sentiment": "positive",
        "topic": "quality",
        "rating": 5,
        "language": "fr",
        "needs_reply": False,
        "summary": "Très bon produit.",
    },
)

_CONTACT = record(
    {
        "full_name": _TEXT,
        "company": {"anyOf": [_TEXT, {"type": "null"}]},
        "emails": {
            "type": "array",
            "items": {"type": "string", "format": "email"},
            "minItems": 1,
            "maxItems": 3,
        },
        "phone": {"type": "string", "pattern": r"^\+[1-9][0-9]{6,14}$"},
        "address": record(
            {
                "street": _TEXT,
                "city": _TEXT,
                "postcode": {"type": "string", "pattern": "^[0-9]{5}$"},
                "country": {"type": "string", "pattern": "^[A-Z]{2}$"},
            }
        ),
    }
)
_CONTACTS = (
    {
        "full_name": "Dr. Ingrid Olsen",
        "company": "Nordlys AS",
        "emails": ["ingrid@nordlys.example", "i.olsen@example.net"],
        "phone": "+4722334455",
        "address": {
            "street": "Storgata 12B",
            "city": "Oslo",
            "postcode": "01550",
            "country": "NO",
        },
    },
    {
        "full_name": "Tom Baker",
        "company": None,
        "emails": ["tom.baker@example.com"],
        "phone": "+12025550143",
        "address": {
            "street": "9 Elm St.",
            "city": "Springfield",
            "postcode": "62704",
            "country": "US",
        },
    },
)
