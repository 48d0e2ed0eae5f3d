"""What is sure of a split, against the tokenizer on whole texts."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from stcon.tokens.split import Split, characters
from stcon.tokens.vocabulary import Vocabulary
from tests import assets

TEXT = st.text(
    st.sampled_from("ab1 ,\":{}[]_-.\n\t'sée中😀\u00a0\u0301Zz09/\\"), max_size=12
)
PIECES = st.lists(
    st.sampled_from(
        [
            *('"', '":"', '","', "name", " two", "12345", "}", "été", "...", "\n"),
            *("<tool_call>", "</think>", "\n\n", "<h1>", "<"),
        ]
    ),
    max_size=5,
).map("".join)


@cache
def split_of(name: str) -> tuple[Tokenizer, Split]:
    real = assets.tokenizer(name)
    split = Vocabulary.of(real.tokenizer, real.eos_ids).split
    assert split is not None
    return real.tokenizer, split


@pytest.mark.parametrize("name", assets.PARAMS)
def test_encodes_as_the_tokenizer_does(name: str) -> None:
    backend, split = split_of(name)

    @settings(max_examples=80, deadline=None)
    @given(TEXT | PIECES)
    def check(text: str) -> None:
        assert split.encode(text) == backend.encode(text, add_special_tokens=False).ids

    check()


@pytest.mark.parametrize("name", assets.PARAMS)
def test_what_is_sure_stays(name: str) -> None:
    _, split = split_of(name)

    @settings(max_examples=150, deadline=None)
    @example("_- \u00a0]", {"é"}, "", False)
    @example(" \t\t},", {":", "t"}, "", False)
    @given(
        TEXT | PIECES,
        st.sets(st.sampled_from('ab1 ,":}\né中日яt')),
        TEXT | PIECES,
        st.booleans(),
    )
    def check(text: str, nexts: set[str], more: str, may_end: bool) -> None:
        sure = split.sure(text, sorted(nexts), may_end)
        # not encode(text[:sure]): blanks at the end of a text are cut otherwise
        kept = split.encode_part(text, 0, sure)
        for char in nexts:
            whole = split.encode(text + char + more)
            assert whole[: len(kept)] == kept, (text, sure, char + more)
        if may_end or not nexts:
            assert split.encode(text)[: len(kept)] == kept

    check()


@pytest.mark.parametrize("name", assets.PARAMS)
def test_keys_are_sure(name: str) -> None:
    _, split = split_of(name)
    text = '{"name":"'
    # Gemma cuts nothing, so its last tokens in common are held back
    want = len('{"' if name == "gemma-3" else '{"name')
    assert split.sure(text, ["a", "b", '"'], False) >= want
    assert split.sure("1", [], True) == 1
    assert split.sure("", ["a"], False) == 0


def test_which_tokenizers_cut_for_good() -> None:
    have = {name: split_of(name)[1].cuts_for_good for name in assets.NAMES[:5]}
    assert have == {name: name != "gemma-3" for name in have}


def made(pre_tokenizer: object, normalizer: object = None) -> Split:
    words = {c: i for i, c in enumerate("abcdefghijklmnopqrstuvwxyz ▁0123")}
    backend = Tokenizer(
        models.BPE(words | {"ab": 40, "bc": 41}, [("a", "b"), ("b", "c")])
    )
    backend.pre_tokenizer = pre_tokenizer
    backend.normalizer = normalizer
    surfaces = {i: c.encode() for c, i in (words | {"ab": 40, "bc": 41}).items()}
    return Split(backend, lambda token: surfaces.get(token, b""))


def test_without_a_pre_tokenizer_nothing_that_may_merge_is_sure() -> None:
    split = made(None)
    assert not split.cuts_for_good
    assert split.sure("ca", ["b"], False) < 2  # ca + b = c, ab
    assert split.sure("ccc", ["c"], False) >= 1


def test_digits_and_blanks() -> None:
    split = made(
        pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True)])
    )
    assert split.sure("0", ["1"], False) == 1
    metaspace = made(pre_tokenizers.Metaspace(prepend_scheme="never"))
    assert metaspace.encode("a b") == [0, 27, 1]
    folded = made(None, normalizers.Replace("x", "ab"))
    assert folded.encode("x") == [40]


def test_characters_of_live_bytes() -> None:
    assert characters([97, 48]) == ["a", "0"]
    found = characters(range(256))
    assert {char.encode()[0] for char in found} >= {0x41, 0xC3, 0xE4, 0xF0}
    first, *others = characters([0xE4])
    assert first == "中" and others
    for lead in (0xC3, 0xCE, 0xE0, 0xE6, 0xEA, 0xEF, 0xF0, 0xF4):
        assert {char.encode()[0] for char in characters([lead])} == {lead}
