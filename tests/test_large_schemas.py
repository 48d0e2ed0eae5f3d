"""Schemas as large as those of real systems, and compiles at the same time."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from stcon import constrain
from stcon.machines.pushdown import compile_pushdown
from stcon.machines.stored import packed
from stcon.syntax.json_schema import compile_schema
from tests.test_api import BYTES
from tests.trees import TREES

WORDS = ["name", "kind", "spec", "port", "image", "label", "volume", "policy", "host"]
TYPES: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "integer", "minimum": 0, "maximum": 65535},
    {"type": "boolean"},
    {"type": "string", "maxLength": 253, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
    {"type": ["string", "null"], "maxLength": 63},
    {"type": "object", "additionalProperties": {"type": "string"}},
    {"enum": ["Always", "Never", "IfNotPresent"]},
    {"type": "array", "items": {"type": "string"}, "maxItems": 100},
]


def definition(number: int, count: int) -> dict[str, Any]:
    """An open object of 12 fields; three refer to later definitions, one back."""
    properties: dict[str, Any] = {
        f"{WORDS[i % 9]}{'Of' * (i // 9)}{number % 7}": TYPES[(number + i) % len(TYPES)]
        for i in range(12)
    }
    for i, step in enumerate((1, 3, 7)):
        if number + step < count:
            properties[f"ref{i}"] = {"$ref": f"#/definitions/d{number + step}"}
    properties["owner"] = {"$ref": f"#/definitions/d{number // 2}"}
    required = list(properties)[:2]
    return {"type": "object", "properties": properties, "required": required}


def kubernetes_like(count: int = 200) -> dict[str, Any]:
    """As many definitions as a cluster's API has, about 200 kB of JSON."""
    definitions = {f"d{n}": definition(n, count) for n in range(count)}
    return {"definitions": definitions, "$ref": "#/definitions/d0"}


def wide(count: int = 500, **more: Any) -> dict[str, Any]:
    """An object of many optional fields with shared beginnings."""
    properties = {f"field_{n:03}": TYPES[n % len(TYPES)] for n in range(count)}
    return {"type": "object", "properties": properties, **more}


def test_kubernetes_size() -> None:
    schema = kubernetes_like()
    assert len(json.dumps(schema)) > 150_000
    constraint = constrain(BYTES, schema)
    one, two = list(schema["definitions"]["d0"]["properties"])[:2]
    assert constraint.matches(f'{{"{one}":"a","{two}":80}}')
    assert not constraint.matches(f'{{"{one}":"a"}}')
    assert constraint.matches(constraint.shortest(constraint.start))


@pytest.mark.parametrize("more", [{}, {"additionalProperties": False}])
def test_500_properties(more: dict[str, Any]) -> None:
    constraint = constrain(BYTES, wide(**more))
    last = constraint.read(constraint.start, b'{"field_017":1,"field_49')
    assert set(constraint.live(last)) >= set(b"0123456789")
    assert constraint.matches('{"field_000":"","field_002":true,"field_497":7}')
    assert not constraint.matches('{"field_002":true,"field_001":7}')
    assert constraint.matches('{"other":1}') is not bool(more)


def test_threads_make_the_same_bytes(tmp_path: Path) -> None:
    schemas = [kubernetes_like(30), wide(80), TREES["files"], TREES["categories"]]

    def save(number: int) -> bytes:
        files = []
        for place, schema in enumerate(schemas):
            file = tmp_path / f"{number}-{place}"
            constraint = constrain(BYTES, schema)
            constraint.allowed(constraint.start)
            constraint.save(file)
            files.append(file.read_bytes())
        return b"".join(files)

    alone = save(0)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(save, range(1, 9))) == {alone}


def test_threads_that_share_a_constraint() -> None:
    constraint = constrain(BYTES, kubernetes_like(20))
    fresh = constrain(BYTES, kubernetes_like(20))
    one, two = list(definition(0, 20)["properties"])[:2]
    text = f'{{"{one}":"abc","{two}":80,"ref0":{{"x":[1,{{"y":null}}]}}'.encode()

    def rows(_: int) -> list[bytes]:
        state = constraint.start
        found = []
        for byte in text:
            found.append(constraint.allowed(state).tobytes())
            state = constraint.read(state, bytes([byte]))
        return found

    with ThreadPoolExecutor(4) as pool:
        have = list(pool.map(rows, range(8)))
    state, want = fresh.start, []
    for byte in text:
        want.append(fresh.allowed(state).tobytes())
        state = fresh.read(state, bytes([byte]))
    assert all(found == want for found in have)


def test_frames_are_linear_in_the_fields() -> None:
    sizes = []
    for count in (100, 200, 400):
        machine = compile_pushdown(compile_schema(wide(count)).rules)
        sizes.append(sum(array.nbytes for array in packed(machine)[0].values()))
    assert sizes[1] < 2.2 * sizes[0] and sizes[2] < 2.2 * sizes[1]
