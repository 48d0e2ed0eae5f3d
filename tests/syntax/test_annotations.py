"""Python types to schemas: what pydantic would read can be written."""

from __future__ import annotations

import dataclasses
import enum
import json
import subprocess
import sys
from typing import Any, Literal

import pytest

from stcon.errors import SchemaError
from stcon.syntax.annotations import schema_of
from stcon.syntax.json_schema import compile_schema
from tests.syntax.json_schema.world import matcher

pydantic = pytest.importorskip("pydantic")
typing_extensions = pytest.importorskip("typing_extensions")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass
class Point:
    x: int
    label: str = ""


class Record(typing_extensions.TypedDict):  # type: ignore[name-defined, misc]
    a: int
    b: list[str]


class Person(pydantic.BaseModel):  # type: ignore[name-defined, misc]
    name: str
    age: int = pydantic.Field(ge=0, le=150)
    at: Point | None = None


class Tree(pydantic.BaseModel):  # type: ignore[name-defined, misc]
    value: int
    children: list[Tree] = pydantic.Field(default_factory=list)


class Open(pydantic.BaseModel):  # type: ignore[name-defined, misc]
    model_config = pydantic.ConfigDict(extra="allow")
    a: int


CASES: list[tuple[Any, list[str], list[str]]] = [
    (Colour, ['"red"', '"blue"'], ['"green"', "red"]),
    (Level, ["1", "2"], ["3", '"LOW"']),
    (Literal["a", 1], ['"a"', "1"], ["2"]),
    (list[int], ["[]", "[1,2]"], ["[1.5]", "1"]),
    (dict[str, bool], ["{}", '{"k":true}'], ['{"k":1}']),
    (int | None, ["1", "null"], ['"1"']),
    (tuple[int, str], ['[1,"a"]'], ["[1]", '[1,"a",2]']),
    (Point, ['{"x":1}', '{"x":1,"label":"a"}'], ["{}", '{"x":1,"y":2}']),
    (Record, ['{"a":1,"b":["x"]}'], ['{"a":1}']),
    (
        Person,
        ['{"name":"A","age":3}', '{"name":"","age":0,"at":{"x":1}}'],
        ['{"name":"A","age":151}', '{"name":"A","age":3,"more":1}'],
    ),
    (Tree, ['{"value":1,"children":[{"value":2}]}'], ['{"value":1,"children":[1]}']),
    (Open, ['{"a":1}', '{"a":1,"more":[1]}'], ["{}"]),
    (bool, ["true", "false"], ["1"]),
]


@pytest.mark.parametrize(("kind", "accept", "reject"), CASES)
def test_type(kind: Any, accept: list[str], reject: list[str]) -> None:
    matches = matcher(compile_schema(kind).rules)
    assert [text for text in accept if not matches(text.encode())] == []
    assert [text for text in reject if matches(text.encode())] == []
    for text in accept:
        pydantic.TypeAdapter(kind).validate_python(json.loads(text))


@pytest.mark.parametrize("junk", [3, 1.5, None, object(), [1], lambda: 1, "text"])
def test_junk(junk: Any) -> None:
    with pytest.raises(SchemaError, match="neither a schema nor a type"):
        schema_of(junk)


def test_type_without_json() -> None:
    with pytest.raises(SchemaError, match="no JSON Schema of"):
        schema_of(type(lambda: 1))


def test_pydantic_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(SchemaError, match="needs pydantic"):
        schema_of(list[int])


def test_dicts_do_not_import_pydantic() -> None:
    code = (
        "import sys; from stcon.syntax.json_schema import compile_schema\n"
        "compile_schema({'type': 'integer'}); sys.exit('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
