"""A schema as given (dict, JSON text, bool) to one checked, private JSON value.

Strict on purpose: what a lenient parser would repair (duplicate keys, NaN,
broken UTF-8) changes what the schema means.  Floats become decimals, so that
``0.1`` is one tenth.  Depth and size are bounded, so a Python object that
contains itself ends in an error with its place.  Linear in the schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from types import NoneType
from typing import Any, NoReturn

from stcon.errors import SchemaError
from stcon.syntax.json_schema.pointers import to_fragment

MAX_DEPTH = 200
# Reading this many takes two seconds.
MAX_VALUES = 250_000
_MAX_DIGITS = 1_000
_TOO_LARGE = 10**_MAX_DIGITS
_TOO_LONG = f"a number of more than {_MAX_DIGITS:,} digits"


def load(schema: object) -> dict[str, Any] | bool:
    """``schema`` checked and copied.  Raises SchemaError with a JSON pointer."""
    value = _parse(schema) if isinstance(schema, (str, bytes, bytearray)) else schema
    checked = _Checker().copy(value)
    if not isinstance(checked, (dict, bool)):
        raise SchemaError(
            f"a schema is an object or a boolean, not {_shown(checked)}",
            pointer="#",
            hint="give a dict, its JSON text, or True",
        )
    return checked


def _parse(text: str | bytes | bytearray) -> Any:
    try:
        source = text if isinstance(text, str) else bytes(text).decode("utf-8")
        return json.loads(
            source,
            parse_float=Decimal,
            parse_int=_whole,
            parse_constant=_refuse_constant,
            object_pairs_hook=_pairs,
        )
    except UnicodeDecodeError as error:
        raise _broken(f"the schema text is not UTF-8 (byte {error.start})") from None
    except RecursionError:
        raise _broken(f"nested deeper than {MAX_DEPTH} levels") from None
    except SchemaError:
        raise
    except ValueError as error:
        raise SchemaError(
            f"the schema text is not JSON: {error}",
            pointer="#",
            hint="for a regular expression pass regex=..., for a file pass its text",
        ) from None


def _broken(message: str) -> SchemaError:
    return SchemaError(message, pointer="#", hint="give valid JSON text or a dict")


def _whole(text: str) -> int | Decimal:
    """The number; a decimal, refused where its place is known, when it is so long
    that Python would not read it."""
    return int(text) if len(text) <= _MAX_DIGITS else Decimal(text)


def _refuse_constant(name: str) -> NoReturn:
    raise _broken(f"{name} is not JSON")


class _Duplicate(dict[str, Any]):
    """An object whose key ``name`` came twice; refused where its place is known."""

    def __init__(self, pairs: list[tuple[str, Any]], name: str) -> None:
        super().__init__(pairs)
        self.name = name


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    names = [name for name, _ in pairs]
    return _Duplicate(pairs, next(n for n in names if names.count(n) > 1))


class _Checker:
    """Copies a value; ``path`` is where it stands, ``left`` what it may still
    hold, ``open`` the containers it is inside of."""

    def __init__(self) -> None:
        self.path: list[str | int] = []
        self.left = MAX_VALUES
        self.open: set[int] = set()

    def copy(self, value: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            self._fail(f"the schema holds more than {MAX_VALUES:,} values")
        if value is None or isinstance(value, (bool, int)):
            return value if isinstance(value, (bool, NoneType)) else self._int(value)
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, (float, Decimal)):
            return self._decimal(value)
        if isinstance(value, (Mapping, list, tuple)):
            return self._container(value)
        return self._fail(f"{_shown(value)} is not a JSON value")

    def _container(self, value: Any) -> Any:
        if id(value) in self.open:
            self._fail("the schema contains itself", "use $ref to recurse")
        if len(self.path) >= MAX_DEPTH:
            self._fail(f"nested deeper than {MAX_DEPTH} levels")
        self.open.add(id(value))
        copied = self._members(value) if isinstance(value, Mapping) else []
        if not isinstance(value, Mapping):
            for place, item in enumerate(value):
                copied.append(self._inside(place, item))
        self.open.discard(id(value))
        return copied

    def _members(self, value: Mapping[Any, Any]) -> Any:
        if isinstance(value, _Duplicate):
            self._fail(f"the key {value.name!r} comes twice")
        copied: dict[str, Any] = {}
        for name, item in value.items():
            if not isinstance(name, str):
                self._fail(f"{_shown(name)} is not a string, as keys must be")
            copied[self._text(name)] = self._inside(name, item)
        return copied

    def _inside(self, step: str | int, item: Any) -> Any:
        self.path.append(step)
        copied = self.copy(item)
        self.path.pop()
        return copied

    def _text(self, value: str) -> str:
        if value.isascii():
            return str.__str__(value)
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            self._fail(f"{value[:40]!r} holds half a surrogate pair")
        return str.__str__(value)

    def _int(self, value: int) -> int:
        """``value`` without its subclass (an IntEnum member is its number)."""
        if not -_TOO_LARGE < value < _TOO_LARGE:
            self._fail(_TOO_LONG)
        return int(value)

    def _decimal(self, value: float | Decimal) -> Decimal | int:
        exact = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
        if not exact.is_finite():
            self._fail(f"{value} is not JSON")
        far = exact and abs(exact.adjusted()) > _MAX_DIGITS
        if far or len(exact.as_tuple().digits) > _MAX_DIGITS:
            self._fail(_TOO_LONG)
        return exact

    def _fail(self, message: str, hint: str = "") -> NoReturn:
        raise SchemaError(
            message, pointer=to_fragment(self._shortened()), hint=hint
        ) from None

    def _shortened(self) -> tuple[str | int, ...]:
        """The path, without its middle when it is very long."""
        if len(self.path) <= 20:
            return tuple(self.path)
        return (*self.path[:10], "...", *self.path[-5:])


def _shown(value: object) -> str:
    """A short name of a foreign value."""
    if isinstance(value, int) and not -_TOO_LARGE < value < _TOO_LARGE:
        return _TOO_LONG
    if value is None or isinstance(value, (str, int, float, Decimal)):
        return f"{value!r}"[:60]
    return f"a {type(value).__name__}"
