"""Choices: the texts given and no others."""

from __future__ import annotations

import enum
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stcon.errors import LimitError, SchemaError
from stcon.machines.compile import compile_expr
from stcon.syntax.choices import MAX_BYTES, choices
from tests.oracles.expr_matcher import matches


@pytest.mark.parametrize(
    ("options", "no"),
    [
        (["yes", "no"], ["y", "yesno", ""]),
        (["a", "ab", "abc"], ["", "abcd", "b"]),
        (["", "a"], ["aa"]),
        ([""], ["a"]),
        (["a", "a"], ["aa"]),
        (["é", "😀", 'say "hi"\n'], ["e", "\\n"]),
        (("tuple",), ["t"]),
        ({"key": 1}, ["1"]),
    ],
)
def test_choices(options: list[str], no: list[str]) -> None:
    dfa = compile_expr(choices(options))
    have = {text for text in [*options, *no] if dfa.matches(text.encode())}
    assert have == set(options)


@given(st.lists(st.text("ab", max_size=3), min_size=1), st.text("ab", max_size=3))
def test_any_list(options: list[str], text: str) -> None:
    assert matches(choices(options), text.encode()) == (text in options)


def test_many() -> None:
    dfa = compile_expr(choices([f"option {i}" for i in range(1_500)]))
    assert dfa.matches(b"option 1499") and not dfa.matches(b"option 1500")


def test_a_text_enum_counts_as_text() -> None:
    colour = enum.Enum("colour", {"RED": "red"}, type=str)
    assert compile_expr(choices(list(colour))).matches(b"red")


@pytest.mark.parametrize(
    ("options", "pointer", "message"),
    [
        ([], "choices", "the list is empty"),
        ("abc", "choices", "'abc' is one text"),
        (b"abc", "choices", "is one text"),
        (["a", 3], "choices[1]", "3 is no text but of type int"),
        ([None], "choices[0]", "of type NoneType"),
        ([b"a"], "choices[0]", "of type bytes"),
        (["a", "b", "\ud83d"], "choices[2]", "a lone surrogate"),
    ],
)
def test_bad_choices(options: list[str], pointer: str, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        choices(options)
    assert caught.value.pointer == pointer
    assert message in caught.value.message or message in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (itertools.count(), "of type count"),
        ((text for text in ["a", "b"]), "of type generator"),
        ({"a", "b"}, "of type set"),
        (3, "of type int"),
        (enum.Enum("colour", {"RED": "red"}, type=str), "pass the Enum as the schema"),
    ],
)
def test_no_sequence(options: Any, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        choices(options)
    assert caught.value.pointer == "choices" and message in str(caught.value)


@pytest.mark.parametrize("letter", ["a", "é"])
def test_total_length(letter: str) -> None:
    half = letter * (MAX_BYTES // 2 // len(letter.encode()))
    choices([half, half])
    with pytest.raises(LimitError) as caught:
        choices([half, half, "b"])
    assert (caught.value.what, caught.value.limit) == ("bytes", MAX_BYTES)
