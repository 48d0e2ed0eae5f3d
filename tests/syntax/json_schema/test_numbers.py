"""Numbers at the edges: tiny factors, huge values."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from stcon.errors import LimitError
from stcon.syntax.json_schema import compile_schema
from tests.syntax.json_schema.world import matcher

TEXTS = [b"0", b"-7", b"5", b"6", b"10", b"30", b"150", b"1.5", b"0.5"]


@pytest.mark.parametrize(
    ("schema", "want"),
    [
        ({"type": "integer", "multipleOf": 1e-300}, "0 -7 5 6 10 30 150"),
        ({"type": "integer", "multipleOf": Decimal("1e-64")}, "0 -7 5 6 10 30 150"),
        ({"type": "integer", "multipleOf": 2.5}, "0 5 10 30 150"),
        ({"type": "integer", "multipleOf": 1.5}, "0 6 30 150"),
        ({"type": "integer", "not": {"multipleOf": 2.5}}, "-7 6"),
        ({"type": "number", "multipleOf": 1.5}, "0 6 30 150 1.5"),
    ],
)
def test_multiples(schema: dict[str, Any], want: str) -> None:
    matches = matcher(compile_schema(schema).rules)
    assert [text for text in TEXTS if matches(text)] == want.encode().split()


@pytest.mark.parametrize("factor", [1e-300, 10.0**-300, 1e-65])
def test_too_many_places(factor: float) -> None:
    with pytest.raises(LimitError, match="more than 64 decimal places"):
        compile_schema({"multipleOf": factor})
