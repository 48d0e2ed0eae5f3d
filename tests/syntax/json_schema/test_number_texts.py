"""Numbers within bounds, against arithmetic on every short spelling."""

from __future__ import annotations

import itertools
import random
from decimal import Decimal
from typing import Any

import pytest

from stcon.errors import LimitError, SchemaError
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
    assert not matches(b"-0")
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


# Powers of 2 and 5, numbers prime to 10, and products of both.
FACTORS: list[Any] = [7, 11, 16, 21, 60, 99, 125, 256, 360, 625, 999, 1001, 3600]
FACTORS += [0.25, 0.07, 1.1, 12.5, 0.0625, 0.33, 2.56, 8192, 86_400, 501]


@pytest.mark.parametrize("factor", FACTORS)
def test_large_multiples(factor: Any) -> None:
    exact = Decimal(str(factor))
    rng = random.Random(str(factor))
    whole = matcher(compile_schema({"type": "integer", "multipleOf": factor}).rules)
    plain = matcher(compile_schema({"type": "number", "multipleOf": factor}).rules)
    other = {"type": "number", "not": {"multipleOf": factor}}
    others = matcher(compile_schema(other).rules)
    for _ in range(300):
        number = rng.randrange(-(10**9), 10**9) // rng.choice((1, 10**4, 10**8))
        product = number * exact
        near = product + rng.choice((0, 1, -1, Decimal("0.1"), exact / 2, exact / 5))
        for value in (Decimal(number), product, near):
            text = f"{value:f}"
            want = value % exact == 0
            assert plain(text.encode()) == want, text
            assert others(text.encode()) != want, text
            longer = text + ("000" if "." in text else ".00")
            assert plain(longer.encode()) == want, longer
            if value == value.to_integral():
                assert whole(b"%d" % int(value)) == want, text


@pytest.mark.parametrize(
    ("schema", "want"),
    [
        ({"multipleOf": 7, "minimum": 10, "maximum": 50}, [14, 21, 28, 35, 42, 49]),
        ({"multipleOf": 997, "minimum": -1000, "exclusiveMaximum": 997}, [-997, 0]),
        (
            {"allOf": [{"multipleOf": 6}, {"multipleOf": 15}], "exclusiveMinimum": 0,
             "maximum": 100},
            [30, 60, 90],
        ),
        ({"multipleOf": 1.5, "minimum": 1, "maximum": 7}, [3, 6]),
        ({"not": {"multipleOf": 11}, "minimum": 10, "maximum": 13}, [10, 12, 13]),
    ],
)  # fmt: skip
def test_multiples_within_bounds(schema: dict[str, Any], want: list[int]) -> None:
    matches = matcher(compile_schema({"type": "integer", **schema}).rules)
    have = [n for n in range(-2000, 2000) if n and matches(b"%d" % n)]
    assert have == [n for n in want if n]
    assert matches(b"0") == (0 in want)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "multipleOf": 7, "minimum": 1, "maximum": 6},
        {"type": "number", "multipleOf": 0.5, "exclusiveMinimum": 1, "maximum": 1.25},
        {"allOf": [{"multipleOf": 4}, {"multipleOf": 6}], "type": "integer",
         "exclusiveMinimum": 12, "exclusiveMaximum": 24},
        {"type": "integer", "multipleOf": 1.5, "minimum": 1, "maximum": 2},
    ],
)  # fmt: skip
def test_bounds_without_a_multiple(schema: dict[str, Any]) -> None:
    inside = {"properties": {"x": schema}, "required": ["x"], "type": "object"}
    with pytest.raises(SchemaError, match="#/properties/x"):
        compile_schema(inside)
    assert compile_schema({"properties": {"x": schema}}).rules


def test_factors_that_are_too_large() -> None:
    with pytest.raises(LimitError, match="10,000"):
        compile_schema({"type": "integer", "multipleOf": 10_007})
