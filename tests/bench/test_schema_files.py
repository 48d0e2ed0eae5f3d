"""Files of schemas with instances, and what is wrong with some."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from stcon.bench.schema_files import Instance, SchemaFileError, read_entries

_LINE = '{"name": "x", "schema": {}, "tests": [{"valid": true, "data": [1]}], "y": 0}'


def _written(folder: Path, text: str | bytes) -> str:
    file = folder / "schemas.jsonl"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(file)


@pytest.mark.parametrize("is_compressed", [False, True])
def test_plain_and_gzip(is_compressed: bool, tmp_path: Path) -> None:
    raw = f"{_LINE}\n\n{_LINE}\r\n".encode()
    file = _written(tmp_path, gzip.compress(raw) if is_compressed else raw)
    entries = read_entries([file, file])
    assert [entry.name for entry in entries] == ["x"] * 4
    assert entries[0].schema == {}
    assert entries[0].instances == (Instance([1], True),)


def test_a_line_may_hold_other_line_ends(tmp_path: Path) -> None:
    file = _written(tmp_path, _LINE.replace("x", "\u2028\x85"))
    assert read_entries([file])[0].name == "\u2028\x85"


_BROKEN = {
    "not JSON": ('{"name": ', "not JSON"),
    "NaN": (_LINE.replace("[1]", "NaN"), "not JSON: NaN"),
    "too deep": (_LINE.replace("[1]", "[" * 100_000), "not JSON"),
    "no object": ("[]", "no JSON object"),
    "no name": (_LINE.replace("name", "title"), 'no "name"'),
    "no schema": (_LINE.replace("schema", "scheme"), 'no "schema"'),
    "no tests": (_LINE.replace("tests", "test"), 'no "tests"'),
    "no data": (_LINE.replace("data", "date"), 'tests[0]: no "data"'),
    "a name of another type": (_LINE.replace('"x"', "5"), "no string"),
    "a schema of another type": (_LINE.replace("{}", "[]"), "no schema"),
    "tests of another type": (
        '{"name": "x", "schema": true, "tests": {}}',
        "no list",
    ),
    "a test of another type": (
        '{"name": "x", "schema": true, "tests": [5]}',
        "tests[0] is no object",
    ),
    "valid of another type": (_LINE.replace("true", "1"), "no boolean"),
}


@pytest.mark.parametrize("name", _BROKEN)
def test_broken_lines(name: str, tmp_path: Path) -> None:
    line, want = _BROKEN[name]
    file = _written(tmp_path, f"{_LINE}\n\n{line}\n")
    with pytest.raises(SchemaFileError) as caught:
        read_entries([file])
    assert caught.value.line == 3
    assert str(caught.value).startswith(f"{file}:3: ")
    assert want in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"\xff", gzip.compress(b"x" * 99)[:-20], b"\x1f\x8bx"]
)
def test_broken_files(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(SchemaFileError, match=r"schemas\.jsonl: ") as caught:
        read_entries([_written(tmp_path, content)])
    assert caught.value.line == 0


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(SchemaFileError, match="No such file"):
        read_entries([str(tmp_path / "none.jsonl")])
