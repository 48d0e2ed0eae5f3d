"""Formats whose texts are all very long: nothing hangs, and people get an answer."""

from __future__ import annotations

import pytest

from stcon import HistoryError, LimitError, constrain
from stcon.decode.processor import HostProcessor
from tests.worlds import token, vocabulary

ONES = {"type": "array", "items": {"const": 1}, "minItems": 2**64}


def test_forced_text_is_cut() -> None:
    made = constrain(vocabulary(), ONES)
    forced = made.forced(made.start)
    assert forced == (b"[" + b"1," * 4096)[:4096]


def test_forced_text_ends_where_it_would_nest_too_deep() -> None:
    item = {"$ref": "#/$defs/a"}
    list_of = {"type": "array", "items": item, "minItems": 1}
    made = constrain(
        vocabulary(),
        {"$defs": {"a": {"anyOf": [list_of, {"const": 1}]}}, "$ref": "#/$defs/a"},
        depth=3,
    )
    state = made.read(made.start, b"[[")
    assert made.forced(state) == b"" and made.shortest(state) == b"1]]"


def test_explain_without_a_shortest_text() -> None:
    made = constrain(vocabulary(), ONES)
    with pytest.raises(LimitError, match="too long"):
        made.shortest(made.start)
    assert "too long to be worked out" in made.explain("[1,1")


def test_a_refused_token_without_a_shortest_text() -> None:
    processor = HostProcessor(constrain(vocabulary(), ONES), pins=False)
    processor.row([7], 130)
    with pytest.raises(HistoryError, match="every right continuation is very long"):
        processor.row([7, token("x")], 130)
