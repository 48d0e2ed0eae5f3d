"""What is text and what is not, on tokenizers of a few tokens."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models

from stcon.errors import VocabularyError
from stcon.tokens.vocabulary import Vocabulary

A, B, SPACE_A, HALF, END = range(5)
SURFACES = {"a": A, "b": B, "Ġa": SPACE_A, "ä": HALF, "<end>": END}


def small(surfaces: dict[str, int] = SURFACES) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(vocab=surfaces, merges=[]))
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def all_bytes(vocabulary: Vocabulary) -> list[bytes]:
    return [vocabulary.token_bytes(token) for token in range(vocabulary.size)]


def test_bytes_of_a_small_tokenizer() -> None:
    vocabulary = Vocabulary.of(small(), [END])
    assert all_bytes(vocabulary) == [b"a", b"b", b" a", b"\xe4", b""]
    assert vocabulary.eos_ids == (END,)
    assert [vocabulary.is_text(token) for token in range(-1, 6)] == [
        *(False, True, True, True, True, False, False)
    ]
    assert vocabulary.decode([SPACE_A, B, END, 99, -1, A]) == b" aba"


def test_added_tokens() -> None:
    tokenizer = small()
    tokenizer.add_special_tokens([AddedToken("<s>", special=True)])
    tokenizer.add_tokens([AddedToken("<tool> x"), AddedToken("a")])
    tokenizer.add_special_tokens([AddedToken("b", special=True)])
    vocabulary = Vocabulary.of(tokenizer, [END])
    assert all_bytes(vocabulary) == [
        *(b"a", b"", b" a", b"\xe4", b"", b"", b"<tool> x")
    ]


def test_holes() -> None:
    vocabulary = Vocabulary.of(small({"a": 1, "b": 9, "<end>": 3}), [3])
    assert all_bytes(vocabulary) == [
        *(b"", b"a", b"", b"", b"", b"", b"", b"", b"", b"b")
    ]
    with pytest.raises(VocabularyError, match="largest token id"):
        Vocabulary.of(small({"a": 0, "b": 1 << 31}), [0])


def test_a_hole_may_be_an_end() -> None:
    assert Vocabulary.of(small({"a": 0, "b": 5}), [2]).eos_ids == (2,)


def test_several_ends_in_any_order() -> None:
    vocabulary = Vocabulary.of(small(), [END, A, END])
    assert vocabulary.eos_ids == (A, END)
    assert all_bytes(vocabulary)[A] == b""


@pytest.mark.parametrize("eos_ids", [[5], [-1], [0, 1 << 40]])
def test_ends_that_are_no_ids(eos_ids: list[int]) -> None:
    with pytest.raises(VocabularyError, match="eos id"):
        Vocabulary.of(small(), eos_ids)
    with pytest.raises(VocabularyError, match="eos id"):
        Vocabulary.from_bytes([b"a"] * 5, eos_ids)


@pytest.mark.parametrize("eos_ids", [None, []])
def test_no_end_is_refused(eos_ids: list[int] | None) -> None:
    with pytest.raises(VocabularyError, match="eos_token_ids="):
        Vocabulary.of(small(), eos_ids)


@pytest.mark.parametrize("tokenizer", [None, "gpt2", SimpleNamespace(eos_token_id=1)])
def test_what_is_no_tokenizer(tokenizer: Any) -> None:
    with pytest.raises(VocabularyError, match="from_bytes"):
        Vocabulary.of(tokenizer, [0])


def test_decoders_without_token_bytes() -> None:
    tokenizer = small()
    tokenizer.decoder = decoders.WordPiece()
    with pytest.raises(VocabularyError, match="WordPiece"):
        Vocabulary.of(tokenizer, [END])
    tokenizer.decoder = decoders.Decoder.custom(SimpleNamespace())
    with pytest.raises(VocabularyError, match="does not tell its rule"):
        Vocabulary.of(tokenizer, [END])
    with pytest.raises(VocabularyError, match="none"):
        Vocabulary.of(Tokenizer(models.BPE(vocab=SURFACES, merges=[])), [END])


def test_wrappers_are_known_by_their_attributes() -> None:
    fast = SimpleNamespace(_tokenizer=small(), eos_token_id=END)
    wrapper = SimpleNamespace(_tokenizer=fast, eos_token_ids={END, B}, eos_token_id=END)
    assert Vocabulary.of(fast).eos_ids == (END,)
    assert Vocabulary.of(wrapper).eos_ids == (B, END)
    assert Vocabulary.of(wrapper, [A]).eos_ids == (A,)


def test_real_wrappers() -> None:
    transformers = pytest.importorskip("transformers")
    utils = pytest.importorskip("mlx_lm.tokenizer_utils")
    inner = small()
    inner.add_special_tokens([AddedToken("<end>", special=True)])
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<end>"
    )
    wrapper = utils.TokenizerWrapper(fast, eos_token_ids=[B])
    assert all_bytes(Vocabulary.of(fast)) == [b"a", b"b", b" a", b"\xe4", b""]
    assert all_bytes(Vocabulary.of(wrapper)) == [b"a", b"", b" a", b"\xe4", b""]
    assert Vocabulary.of(wrapper).eos_ids == (B, END)
    assert Vocabulary.of(wrapper) is Vocabulary.of(wrapper)
    wrapper.add_eos_token(str(A))
    assert Vocabulary.of(wrapper).eos_ids == (A, B, END)
    fast.add_tokens(["more"])
    assert Vocabulary.of(wrapper).token_bytes(5) == b"more"


def test_a_vocabulary_is_its_own_vocabulary() -> None:
    vocabulary = Vocabulary.from_bytes([b"a", None], [1])
    assert Vocabulary.of(vocabulary) is vocabulary
    assert Vocabulary.of(vocabulary, [1]) is vocabulary
    with pytest.raises(VocabularyError, match="ends with"):
        Vocabulary.of(vocabulary, [0])


def test_the_same_tokenizer_is_read_once() -> None:
    tokenizer = small()
    assert Vocabulary.of(tokenizer, [END]) is Vocabulary.of(tokenizer, [END])
    assert Vocabulary.of(tokenizer, [A]).eos_ids == (A,)


@pytest.mark.parametrize(
    ("change", "want"),
    [
        (lambda t: t.add_tokens(["new"]), [b"a", b"b", b" a", b"\xe4", b"", b"new"]),
        (
            lambda t: t.add_special_tokens([AddedToken("a", special=True)]),
            [b"", b"b", b" a", b"\xe4", b""],
        ),
        (
            lambda t: setattr(t, "decoder", decoders.Fuse()),
            [b"a", b"b", "Ġa".encode(), "ä".encode(), b""],
        ),
        (
            lambda t: setattr(t, "model", small({**SURFACES, "c": 5}).model),
            [b"a", b"b", b" a", b"\xe4", b"", b"c"],
        ),
        (
            lambda t: setattr(t, "model", small({"c": 0, "b": 1, "<end>": 4}).model),
            [b"c", b"b", b"", b"", b""],
        ),
    ],
)
def test_changes_are_noticed(change: Any, want: list[bytes]) -> None:
    tokenizer = small()
    before = Vocabulary.of(tokenizer, [END])
    change(tokenizer)
    assert all_bytes(Vocabulary.of(tokenizer, [END])) == want
    assert all_bytes(before) == [b"a", b"b", b" a", b"\xe4", b""]


def test_the_memo_keeps_no_tokenizer_alive() -> None:
    holder: Any = SimpleNamespace  # weakly referable, unlike some backends
    tokenizer = type("Fast", (holder,), {"__hash__": object.__hash__})(
        _tokenizer=small(), eos_token_id=END
    )
    gone = weakref.ref(tokenizer)
    assert Vocabulary.of(tokenizer) is Vocabulary.of(tokenizer)
    del tokenizer
    gc.collect()
    assert gone() is None


def test_from_bytes() -> None:
    vocabulary = Vocabulary.from_bytes([b"a", None, b"bc", b"", b"x"], iter([4]))
    assert all_bytes(vocabulary) == [b"a", b"", b"bc", b"", b""]
    assert vocabulary.offsets.tolist() == [0, 1, 1, 3, 3, 3]
    assert vocabulary.data.tobytes() == b"abc"
    assert vocabulary.trie.node_of_token.tolist() == [1, 0, 3, 0, 0]
    with pytest.raises(VocabularyError, match="bytes; the limit"):
        Vocabulary.from_bytes([bytes(1 << 17)], [])


def test_arrays_cannot_be_written() -> None:
    vocabulary = Vocabulary.of(small(), [END])
    for array in (vocabulary.offsets, vocabulary.data, vocabulary.byte_tokens):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_byte_tokens_are_the_lowest_ids() -> None:
    vocabulary = Vocabulary.from_bytes([b"ab", b"b", b"b", b"\xff", b"c"], [4])
    want = np.full(256, -1)
    want[ord("b")], want[255] = 1, 3
    assert vocabulary.byte_tokens.tolist() == want.tolist()


def test_fingerprint_tells_contents_apart() -> None:
    worlds: list[tuple[list[bytes | None], list[int]]] = [
        ([b"ab", b"c"], []),
        ([b"a", b"bc"], []),
        ([b"abc", b""], []),
        ([b"abc"], []),
        ([b"ab", b"c", None], []),
        ([b"ab", b"c", None], [2]),
        ([b"ab", b"d"], []),
    ]
    found = [Vocabulary.from_bytes(*world).fingerprint for world in worlds]
    assert len(set(found)) == len(worlds)
    again = [Vocabulary.from_bytes(*world).fingerprint for world in worlds]
    assert found == again
    assert Vocabulary.of(small(), [END]).fingerprint == (
        Vocabulary.from_bytes([b"a", b"b", b" a", b"\xe4", b"x"], [END]).fingerprint
    )


def test_fingerprint_never_changes() -> None:
    """Saved constraints carry it: a change makes them all useless."""
    vocabulary = Vocabulary.from_bytes([b"a", b"\xff", None], [2])
    assert vocabulary.fingerprint == "ac9b98fe756c6e5bdb91170235993bd9"


def test_nbytes_counts_the_trie_once_built() -> None:
    vocabulary = Vocabulary.from_bytes([b"a", b"bc"], [])
    before = vocabulary.nbytes
    assert before == 3 * 4 + 3
    assert vocabulary.trie.nbytes == vocabulary.nbytes - before


def test_a_large_trie_is_kept_and_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STCON_CACHE_DIR", str(tmp_path))
    texts = [None, *(str(n).encode() for n in range(12_000))]
    built = Vocabulary.from_bytes(texts, [0]).trie
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert len(files) == 1
    read = Vocabulary.from_bytes(texts, [0]).trie
    for name, array in vars(built).items():
        assert np.array_equal(array, getattr(read, name))
    files[0].write_bytes(files[0].read_bytes()[:-3])
    again = Vocabulary.from_bytes(texts, [0]).trie
    assert np.array_equal(again.parent, built.parent)


def test_tokens_that_begin_with_others() -> None:
    tokens = [None, b"a", b"ab", b"abc", b"b", b"abd", b"xyz"]
    vocabulary = Vocabulary.from_bytes(tokens, [0])
    for data in (b"", b"a", b"ab", b"abc", b"x", b"xy", b"q", b"abq"):
        for following in (set(range(256)), {ord("c")}, {ord("z"), ord("b")}, set()):
            want = any(
                text is not None
                and text.startswith(data)
                and len(text) > len(data)
                and text[len(data)] in following
                for text in tokens
            )
            assert vocabulary.has_longer(data, following) is want, (data, following)
