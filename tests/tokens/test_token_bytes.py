"""The rule read from a decoder is compared with that decoder at work: between two
plain tokens, a token must add exactly the bytes that the rule gives it."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import decoders

from stcon.errors import VocabularyError
from stcon.tokens.token_bytes import ByteRule, read_rule

SPACES = decoders.Replace("▁", " ")
DECODERS = {
    "byte level": decoders.ByteLevel(),
    "byte level, fused": decoders.Sequence([decoders.ByteLevel(), decoders.Fuse()]),
    "Gemma 3": decoders.Sequence([SPACES, decoders.ByteFallback(), decoders.Fuse()]),
    "Llama 2": decoders.Sequence(
        [
            SPACES,
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(content=" ", left=1, right=0),
        ]
    ),
    "Metaspace": decoders.Metaspace(),
    "Metaspace, never": decoders.Metaspace(prepend_scheme="never"),
    "Metaspace, other mark": decoders.Metaspace(replacement="#"),
    "Metaspace, nested": decoders.Sequence(
        [decoders.Sequence([decoders.Metaspace()]), decoders.Fuse()]
    ),
    "long patterns": decoders.Sequence(
        [decoders.Replace("ab", "c"), decoders.Replace("c", "<0x41>")]
    ),
    "to a byte": decoders.Sequence(
        [decoders.Replace("ab", "<0x41>"), decoders.ByteFallback()]
    ),
    "nothing": decoders.Fuse(),
}
PIECES = ["▁", "#", "a", "b", "<0x41>", "<0xe4>", "<0x+f>", "<0xZZ>", "<0x4>", "Ġ", "é"]
PIECES += ["Ċ", " ", "\0", "\U0010ffff", "漢", "Ń", "ń", "<0x", ">", "\xad"]
SURFACES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)
SURFACES |= st.text(min_size=1, max_size=8)


def section(decoder: Any) -> Any:
    return json.loads(decoder.__getstate__())


@pytest.mark.parametrize("name", DECODERS)
@settings(max_examples=60, deadline=None)
@given(surface=SURFACES)
def test_agrees_with_the_decoder_at_work(name: str, surface: str) -> None:
    decoder = DECODERS[name]
    want = decoder.decode(["x", surface, "y"])
    have = b"x" + read_rule(section(decoder)).bytes_of(surface) + b"y"
    assert have.decode("utf-8", "replace") == want


@pytest.mark.parametrize("name", DECODERS)
@settings(max_examples=50, deadline=None)
@given(surfaces=st.lists(SURFACES | st.just(""), max_size=12), data=st.data())
def test_all_at_once_is_one_by_one(
    name: str, surfaces: list[str], data: st.DataObject
) -> None:
    rule = read_rule(section(DECODERS[name]))
    ids = st.integers(0, max(0, len(surfaces) - 1))
    overrides = data.draw(st.dictionaries(ids, st.binary(max_size=3), max_size=3))
    if not surfaces:
        overrides = {}
    offsets, raw = rule.bytes_of_all(surfaces, overrides)
    bounds = offsets.tolist()
    have = [raw[a:b].tobytes() for a, b in pairwise(bounds)]
    singly = enumerate(map(rule.bytes_of, surfaces))
    assert have == [overrides.get(token, text) for token, text in singly]


def test_every_character_of_the_byte_alphabet() -> None:
    rule = ByteRule(is_byte_level=True)
    chars = [chr(code) for code in range(0x400)]
    mapped = [c for c in chars if rule.bytes_of(c) != c.encode() or c < "\x80"]
    singles = {rule.bytes_of(c) for c in mapped if len(rule.bytes_of(c)) == 1}
    assert singles == {bytes([byte]) for byte in range(256)}
    assert rule.bytes_of("Ġhé") == b" h\xe9"
    assert rule.bytes_of("a b") == b"a b"  # a stranger makes the token plain text


@pytest.mark.parametrize(
    ("decoder", "named"),
    [
        (decoders.WordPiece(), "WordPiece"),
        (decoders.BPEDecoder(), "BPEDecoder"),
        (decoders.CTC(), "CTC"),
        (decoders.Strip(content=" ", left=1, right=0), "Strip"),
        (decoders.Sequence([decoders.Fuse(), decoders.Strip(" ", 1, 1)]), "Strip"),
        (decoders.Sequence([decoders.Fuse(), SPACES]), "Fuse > Replace"),
        (
            decoders.Sequence([decoders.ByteFallback(), SPACES]),
            "ByteFallback > Replace",
        ),
        (
            decoders.Sequence([decoders.ByteFallback(), decoders.ByteFallback()]),
            "ByteFallback > ByteFallback",
        ),
        (decoders.Sequence([SPACES, decoders.ByteLevel()]), "Replace > ByteLevel"),
        (decoders.Replace("", "x"), "Replace"),
    ],
)
def test_decoders_that_give_a_token_no_bytes(decoder: Any, named: str) -> None:
    with pytest.raises(VocabularyError, match=named) as caught:
        read_rule(section(decoder))
    assert "from_bytes" in caught.value.hint


def test_sections_that_no_python_object_makes() -> None:
    regex = {"type": "Replace", "pattern": {"Regex": "a+"}, "content": "b"}
    for found in (regex, {"type": "New"}, {}, None):
        with pytest.raises(VocabularyError, match=r"cannot be told"):
            read_rule(found)
