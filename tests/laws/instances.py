"""Values that nearly fit a schema: some are valid, some are just not."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

from tests.laws.schema_strategies import KEYS, VALUES

TEXTS = ["", "a", "b", "ab", "abc", "abab", "é", "aaa", "x-1", "12", 'q"\\/', "aébc"]
TEXTS += ["2024-02-29", "2023-02-29", "1.2.3.4", "1.2.3.400"]
TEXTS += ["123e4567-e89b-12d3-a456-426614174000", "aaaaa", "😀\n", "abababab"]


def near(schema: Any, root: Any, rng: random.Random, depth: int = 0) -> Any:
    """A value for ``schema``, a part of the document ``root``."""
    if isinstance(schema, bool) or depth > 5 or rng.random() < 0.04:
        return rng.choice(VALUES)
    if "$ref" in schema:
        return near(root["$defs"][schema["$ref"].rsplit("/")[-1]], root, rng, depth + 1)
    if "enum" in schema:
        return rng.choice(schema["enum"])
    for name in ("allOf", "anyOf", "oneOf"):
        if name in schema:
            return near(rng.choice(schema[name]), root, rng, depth + 1)
    if "if" in schema:
        part = rng.choice(["if", "then", "else"])
        return near(schema[part], root, rng, depth + 1)
    make = {"array": _array, "object": _object}.get(schema.get("type", ""))
    return make(schema, root, rng, depth) if make else _scalar(schema, rng)


def _scalar(schema: Any, rng: random.Random) -> Any:
    kind = schema.get("type")
    if kind == "string":
        return rng.choice(TEXTS)
    if kind in ("integer", "number"):
        return rng.choice([-4, -3, -2, 0, 1, 2, 7, 8, 100, 120, 121, 0.5, -0.25])
    if kind == "boolean":
        return rng.random() < 0.5
    return rng.choice(VALUES)


def _array(schema: Any, root: Any, rng: random.Random, depth: int) -> list[Any]:
    prefix = schema.get("prefixItems", [])
    rest = schema.get("items", True)
    if rest is False:
        rest = prefix[0] if prefix and rng.random() < 0.1 else False
    least = schema.get("minItems", 0)
    length = max(0, least + rng.choice([-1, 0, 0, 0, 1, 2]))
    if rest is False:
        length = min(length, len(prefix))
    found = [
        near(prefix[n] if n < len(prefix) else rest, root, rng, depth + 1)
        for n in range(length)
    ]
    if found and "contains" in schema:
        found[-1] = near(schema["contains"], root, rng, depth + 1)
    return found


def _object(schema: Any, root: Any, rng: random.Random, depth: int) -> dict[str, Any]:
    named = schema.get("properties", {})
    keys = [k for k in named if k in schema.get("required", ()) or rng.random() < 0.5]
    keys += [k for k in schema.get("required", ()) if k not in named]
    if schema.get("additionalProperties", True) is not False or rng.random() < 0.1:
        keys += rng.sample([*KEYS, "z", "bb", "x"], rng.randrange(3))
    if keys and rng.random() < 0.05:
        keys.pop()
    others = schema.get("additionalProperties", True)
    patterns = schema.get("patternProperties", {})
    value = {}
    for key in keys[:4]:
        own = named.get(key, others)
        if key not in named and key.startswith("x"):
            own = patterns.get("^x", own)
        value[key] = near(own, root, rng, depth + 1)
    return value


def texts(value: Any) -> Iterator[bytes]:
    """The compact texts of ``value``, canonical but for the order of keys."""
    if isinstance(value, dict):
        for names in itertools.permutations(value):
            for members in itertools.product(*(list(texts(value[n])) for n in names)):
                pairs = zip(map(_dumped, names), members, strict=True)
                yield (
                    b"{" + b",".join(name + b":" + text for name, text in pairs) + b"}"
                )
    elif isinstance(value, list):
        for members in itertools.product(*(list(texts(item)) for item in value)):
            yield b"[" + b",".join(members) + b"]"
    else:
        yield _dumped(value)


def _dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
