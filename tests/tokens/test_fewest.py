"""The fewest tokens of a text, against trying all splits."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from stcon.tokens.fewest import NEVER, Fewest, exactly
from stcon.tokens.vocabulary import Vocabulary

words = st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=8)


def of(texts: list[str]) -> Vocabulary:
    return Vocabulary.from_bytes([None, *(text.encode() for text in texts)], [0])


def slow(tokens: set[bytes], text: bytes) -> int:
    """By trying every token at the front."""
    if not text:
        return 0
    fronts = [token for token in tokens if text.startswith(token)]
    return min((1 + slow(tokens, text[len(t) :]) for t in fronts), default=NEVER)


@settings(max_examples=200, deadline=None)
@given(words, st.text("ab", max_size=8))
def test_all_splits_are_tried(texts: list[str], text: str) -> None:
    vocabulary = of(texts)
    want = slow({t.encode() for t in texts}, text.encode())
    assert min(vocabulary.fewest.of(text.encode()), NEVER) == min(want, NEVER)


@settings(max_examples=200, deadline=None)
@given(words, st.lists(st.sampled_from([b"a", b"b", b"ab"]), max_size=6))
def test_open_bytes_are_chosen(texts: list[str], places: list[bytes]) -> None:
    """The best of all texts, and the text that is spelled is one of them."""
    fewest, text = of(texts).fewest, tuple(places)
    tokens = {t.encode() for t in texts}
    every = [b""]
    for options in places:
        every = [one + bytes([byte]) for one in every for byte in options]
    counts = fewest.counts(text)
    best = min(slow(tokens, one) for one in every)
    assert min(counts[0], NEVER) == min(best, NEVER)
    if best < NEVER:
        spelled = fewest.spelled(text, counts)
        assert spelled in every and fewest.of(spelled) == best


@settings(max_examples=100, deadline=None)
@given(words, st.text("ab", max_size=6), st.text("ab", max_size=6))
def test_a_text_put_before_another(texts: list[str], head: str, tail: str) -> None:
    fewest = of(texts).fewest
    rest = exactly(tail.encode())
    whole = fewest.extended(exactly(head.encode()), rest, fewest.counts(rest))
    assert whole == fewest.counts(exactly((head + tail).encode()))


def test_tokens_along_a_text() -> None:
    vocabulary = of(["a", "ab", "b", "abc", "ac", "ab"])
    along = vocabulary.fewest.tokens_along((b"a", b"bc", b"c"), [True] * 4)
    assert along.tolist() == [1, 2, 4, 5, 6]
    only_two = [False, False, True, False]
    along = vocabulary.fewest.tokens_along((b"a", b"bc", b"c"), only_two)
    assert along.tolist() == [2, 5, 6]
    assert Fewest(vocabulary.trie).tokens_along((), [True]).tolist() == []
