"""Numbers within bounds, against arithmetic on every short spelling."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import Any

import pytest

from stcon.syntax.json_schema import compile_schema
from tests.syntax.json_schema.world import matcher

INTEGERS = [*range(-130, 131), 999, 1000, 1001, 99999, -1000]
WHOLES = ["0", "1", "2", "9", "10", "12", "99", "100"]
FRACTIONS = ["", ".0", ".00", ".5", ".50", ".05", ".25", ".251", ".2499", ".9", ".99"]
DECIMALS = [
    sign + whole + fraction
    for sign, whole, fraction in itertools.product(["", "-"], WHOLES, FRACTIONS)
]
BOUNDS: list[Any] = [-100, -12, -1, 0, 1, 9, 10, 99, 100, 0.5, -0.25, 1.25, 12.05]


@pytest.mark.parametrize("low", [None, -105, -10, -1, 0, 1, 9, 10, 11, 99, 100])
@pytest.mark.parametrize("high", [None, -99, -1, 0, 5, 10, 19, 20, 101, 1000])
def test_integers(low: int | None, high: int | None) -> None:
    if low is not None and high is not None and low > high:
        return
    schema = {"type": "integer", "minimum": low, "maximum": high}
    given = {name: value for name, value in schema.items() if value is not None}
    matches = matcher(compile_schema(given).rules)
    for number in INTEGERS:
        want = (low is None or number >= low) and (high is None or number <= high)
        assert matches(b"%d" % number) == want, number
    assert matches(b"-0") == matches(b"0")
    for text in (b"00", b"01", b"-01", b"+1", b"1.0", b"1e1", b"-", b"", b"1."):
        assert not matches(text), text


@pytest.mark.parametrize("keyword", ["minimum", "exclusiveMinimum"])
@pytest.mark.parametrize("low", BOUNDS)
def test_decimals(keyword: str, low: Any) -> None:
    high = Decimal("12.25")
    schema = {"type": "number", keyword: low, "maximum": high}
    if Decimal(str(low)) > high:
        return
    matches = matcher(compile_schema(schema).rules)
    for text in DECIMALS:
        value = Decimal(text)
        above = value >= Decimal(str(low))
        if keyword == "exclusiveMinimum":
            above = value > Decimal(str(low))
        assert matches(text.encode()) == (above and value <= high), text


@pytest.mark.parametrize(
    ("schema", "wanted", "unwanted"),
    [
        ({"minimum": 0}, "0 -0 -0.0e5 1e5 2.5E-3", "-1 -1e5 -0.1"),
        ({"exclusiveMinimum": 0}, "1 0.1 1e-5 0.10e9", "0 -0 0.0 0e5 -1"),
        ({"maximum": 0}, "-1 -2.5e3 0 0.00 -0", "1 0.1"),
        ({"exclusiveMaximum": 0}, "-0.1 -1e5", "0 -0 1"),
    ],
)
def test_zero_as_the_only_bound(
    schema: dict[str, Any], wanted: str, unwanted: str
) -> None:
    matches = matcher(compile_schema({"type": "number", **schema}).rules)
    assert [text for text in wanted.encode().split() if not matches(text)] == []
    assert [text for text in unwanted.encode().split() if matches(text)] == []


@pytest.mark.parametrize("factor", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 25, 0.5, 0.01])
def test_multiples_of(factor: Any) -> None:
    exact = Decimal(str(factor))
    whole = matcher(compile_schema({"type": "integer", "multipleOf": factor}).rules)
    plain = matcher(compile_schema({"type": "number", "multipleOf": factor}).rules)
    for number in INTEGERS:
        assert whole(b"%d" % number) == (number % exact == 0), number
    for text in DECIMALS:
        assert plain(text.encode()) == (Decimal(text) % exact == 0), text
