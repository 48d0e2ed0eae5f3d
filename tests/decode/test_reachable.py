"""Forced text takes nothing away: every text of a format can still be written,
whichever of its beginnings, ends and neighbours the tokenizer would join to one token.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stcon import constrain
from stcon.constraints.constraint import Constraint
from stcon.decode.masks import Masks
from stcon.decode.pins import Pin, Pins
from tests import assets
from tests.decode.test_forced import vocabulary

NAMES = ["tiny", *assets.PARAMS]
LETTERS = "a1-<>' \"nñü日本яε\uff01\u0303\u0301{,"
CHOICES = st.lists(
    st.text(st.sampled_from(LETTERS), min_size=1, max_size=4),
    min_size=2,
    max_size=5,
    unique=True,
)
KNOWN = [
    ["1", "10"],
    ["in", "int"],
    ["a", "an", "and"],
    ["no", "not", "none"],
    ["-", "--", "->"],
    ["<", "<<"],
    ["apple", "日本"],
    ["apple", "яблоко"],
    ["apple", "ελ"],
    ["'s", "'日"],
    ["--", "-\uff01"],
    ["</", "\u2039\uff01"],
    ["n\u0303", "n\u0303a"],
    ["cafe\u0301 a", "cafe\u0301 b"],
    ["<tool_call>", "<tool"],
    ["a\n\n", "a\n"],
]


class Walk:
    """All ways to write a text with the tokens that are open."""

    def __init__(self, constraint: Constraint) -> None:
        self._pins = Pins(constraint)
        self._masks = Masks(constraint)
        self._size = constraint.vocabulary.size
        self._ends = set(constraint.vocabulary.eos_ids)
        self._rows: dict[Pin, dict[bytes, int]] = {}

    def writes(self, text: bytes) -> bool:
        """Whether some tokens that are open one after the other spell ``text``, and
        the end is open then."""
        return self._from(self._pins.start, text)

    def _from(self, pin: Pin, rest: bytes) -> bool:
        opened = self._open(pin)
        if not rest:
            return b"" in opened
        for data, token in opened.items():
            if data and rest.startswith(data):
                _, after = self._pins.settled(pin, token)
                assert isinstance(after, Pin)
                if after.plan.heals:  # another token, and what is forced behind it
                    data, after = self._healed(after)
                if rest.startswith(data) and self._from(after, rest[len(data) :]):
                    return True
        return False

    def _healed(self, pin: Pin) -> tuple[bytes, Pin]:
        """What the plan of ``pin`` writes, and the place behind it."""
        tokens = pin.plan.tokens
        data = b"".join(map(self._pins.vocabulary.token_bytes, tokens))
        return data, Pin(pin.base, pin.plan, len(tokens))

    def _open(self, pin: Pin) -> dict[bytes, int]:
        """The tokens that are open, by their bytes; the end as b""."""
        if pin not in self._rows:
            row = np.array(self._masks.pinned(pin, self._size)[0])
            vocabulary = self._pins.vocabulary
            self._rows[pin] = {
                b"" if token in self._ends else vocabulary.token_bytes(token): token
                for token in np.flatnonzero(row).tolist()
            }
            assert self._rows[pin], "no token is open"
        return self._rows[pin]


def unreachable(name: str, texts: list[str], **format: Any) -> Iterator[str]:
    walk = Walk(constrain(vocabulary(name), **format))
    return (text for text in texts if not walk.writes(text.encode()))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("texts", KNOWN, ids=repr)
def test_known_choices(name: str, texts: list[str]) -> None:
    assert list(unreachable(name, texts, choices=texts)) == []


@pytest.mark.parametrize("name", NAMES)
def test_enumerations_in_json(name: str) -> None:
    import json

    for values in (["apple", "日本"], [1, 10], ["a", "ő"], ["é", "e\u0301"]):
        texts = [json.dumps(value, ensure_ascii=False) for value in values]
        assert list(unreachable(name, texts, schema={"enum": values})) == []


@pytest.mark.parametrize("name", NAMES)
def test_any_choices(name: str) -> None:
    @settings(max_examples=40, deadline=None)
    @given(CHOICES)
    @example(["a", "a\u0301", "a日"])
    def check(texts: list[str]) -> None:
        assert list(unreachable(name, texts, choices=texts)) == []

    check()


@pytest.mark.parametrize("name", NAMES)
def test_any_words(name: str) -> None:
    """Choices that share beginnings, as words do."""
    rng = random.Random(name)
    stems = ["re", "un", "in", "on", "1", "20", "-", "{", '"', " a", "\n"]
    for _ in range(40):
        stem = rng.choice(stems)
        texts = sorted({stem + rng.choice(["", *stems]) for _ in range(3)})
        assert list(unreachable(name, texts, choices=texts)) == [], texts
