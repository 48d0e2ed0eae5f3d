"""Files of schemas with instances: one JSON object a line, plain or gzip.

A line is ``{"name": ..., "schema": ..., "tests": [{"valid": ..., "data": ...}]}``;
other members are passed over.  MaskBench has this form.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from stcon.errors import StconError

_GZIP = b"\x1f\x8b"


class SchemaFileError(StconError):
    """A file of schemas that cannot be read; ``line`` counts from 1, 0 for a
    file that cannot be opened."""

    def __init__(self, message: str, *, file: str, line: int = 0) -> None:
        super().__init__(f"{file}:{line}: {message}" if line else f"{file}: {message}")
        self.file = file
        self.line = line


@dataclass(frozen=True)
class Instance:
    """A JSON value, and whether the schema accepts it."""

    data: Any
    is_valid: bool


@dataclass(frozen=True)
class Entry:
    """A schema and its instances."""

    name: str
    schema: dict[str, Any] | bool
    instances: tuple[Instance, ...]


def read_entries(paths: Sequence[str]) -> list[Entry]:
    """All entries of the files, in order.  Raises SchemaFileError."""
    return [entry for path in paths for entry in _read(path)]


def _read(path: str) -> Iterator[Entry]:
    try:
        raw = Path(path).read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == _GZIP else raw).decode("utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise SchemaFileError(reason, file=path) from None
    except (UnicodeDecodeError, EOFError) as error:
        raise SchemaFileError(f"broken: {error}", file=path) from None
    # JSON may hold the other line ends that splitlines knows
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _Line(path, number).entry(line)


@dataclass(frozen=True)
class _Line:
    file: str
    number: int

    def entry(self, text: str) -> Entry:
        value = self._parsed(text)
        self._check(isinstance(value, dict), "no JSON object")
        name, schema, tests = (self._member(value, n) for n in _MEMBERS)
        self._check(isinstance(name, str), '"name" is no string')
        self._check(isinstance(schema, (dict, bool)), '"schema" is no schema')
        self._check(isinstance(tests, list), '"tests" is no list')
        instances = tuple(self._instance(test, at) for at, test in enumerate(tests))
        return Entry(name, schema, instances)

    def _instance(self, test: Any, at: int) -> Instance:
        self._check(isinstance(test, dict), f"tests[{at}] is no object")
        valid, data = (self._member(test, n, f"tests[{at}]") for n in _OF_A_TEST)
        self._check(isinstance(valid, bool), f'tests[{at}]: "valid" is no boolean')
        return Instance(data, valid)

    def _parsed(self, text: str) -> Any:
        try:
            return json.loads(text, parse_constant=self._no_json)
        except (ValueError, RecursionError) as error:
            if isinstance(error, SchemaFileError):
                raise
            return self._no_json(str(error))

    def _no_json(self, what: str) -> NoReturn:
        raise SchemaFileError(f"not JSON: {what}", file=self.file, line=self.number)

    def _member(self, value: dict[str, Any], name: str, where: str = "") -> Any:
        missing = f'{where}: no "{name}"' if where else f'no "{name}"'
        self._check(name in value, missing)
        return value[name]

    def _check(self, condition: bool, complaint: str) -> None:
        if not condition:
            raise SchemaFileError(complaint, file=self.file, line=self.number)


_MEMBERS = ("name", "schema", "tests")
_OF_A_TEST = ("valid", "data")
