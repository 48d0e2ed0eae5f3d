"""Reading the whole numbers that bound lengths and counts."""

from __future__ import annotations

from typing import Any

from stcon.syntax.json_schema.document import Place
from stcon.syntax.json_schema.values import NUMBER, is_integer, kind_of


def count(value: Any, at: Place) -> int:
    """The whole number ``value`` (2 and 2.0 are the same)."""
    whole = kind_of(value) == NUMBER and is_integer(value) and value >= 0
    at.check(whole, "a whole number from 0 on", value)
    return int(value)
