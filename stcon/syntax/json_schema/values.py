"""JSON values as the compiler sees them: kinds, equality, canonical text.

Numbers are ``int`` or ``Decimal`` (never ``float``), so 0.1 is one tenth.
Equality is JSON Schema's: 1 and 1.0 are equal, 1 and true are not.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any

NULL, BOOLEAN, NUMBER = "null", "boolean", "number"
STRING, ARRAY, OBJECT = "string", "array", "object"
KINDS = (NULL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT)

# Decimal rounds to 28 digits unless it is told otherwise.
EXACT = Context(prec=50_000, Emax=MAX_EMAX, Emin=MIN_EMIN)

# Numbers within these powers of ten are written plainly, others as 1e400.
_PLAIN_EXPONENTS = range(-40, 41)


def kind_of(value: Any) -> str:
    """The JSON type name of ``value`` (integers are numbers)."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, (int, Decimal)):
        return NUMBER
    if isinstance(value, str):
        return STRING
    return ARRAY if isinstance(value, list) else OBJECT


def is_integer(value: Any) -> bool:
    """Whether a number has no fractional part (1.0 and 1e2 have none)."""
    return isinstance(value, int) or value == value.to_integral_value()


def identity(value: Any) -> Hashable:
    """A key that two values share exactly when JSON Schema calls them equal."""
    kind = kind_of(value)
    if kind == NUMBER:
        return kind, Decimal(value).normalize(EXACT) if value else Decimal(0)
    if kind == ARRAY:
        return kind, tuple(identity(item) for item in value)
    if kind == OBJECT:
        members = ((name, identity(item)) for name, item in value.items())
        return kind, frozenset(members)
    return kind, value


def scalar_text(value: Any) -> str:
    """The canonical JSON text of a null, boolean, number or string."""
    if isinstance(value, Decimal):
        return number_text(value)
    return json.dumps(value, ensure_ascii=False)


def number_text(value: Decimal) -> str:
    """The shortest plain spelling of ``value``: 2.50 is 2.5, 1.0 is 1."""
    exact = value.normalize(EXACT)
    if not exact:
        return "0"
    if exact.adjusted() in _PLAIN_EXPONENTS:
        return format(exact, "f")
    return str(exact).lower()
