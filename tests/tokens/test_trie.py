"""Every node spells its prefix; on tiny vocabularies the whole trie is compared
with a trie of dicts, on real ones the laws are checked for every token."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stcon.tokens.trie import Trie
from stcon.tokens.vocabulary import Vocabulary
from tests import assets
from tests.oracles.slow_trie import levels_of


def trie_of(tokens: list[bytes]) -> Trie:
    return Vocabulary.from_bytes(tokens, []).trie


def spelling(trie: Trie, node: int) -> bytes:
    text = b""
    while node:
        text = bytes([trie.byte[node]]) + text
        node = int(trie.parent[node])
    return text


def check_against_oracle(tokens: list[bytes]) -> None:
    trie = trie_of(tokens)
    want = levels_of(tokens)
    bounds = trie.level_bounds.tolist()
    have = [
        [spelling(trie, node) for node in range(first, last)]
        for first, last in pairwise(bounds)
    ]
    assert have == want
    ends = [spelling(trie, node) for node in trie.node_of_token.tolist()]
    assert ends == tokens
    for node in range(trie.nodes):
        first, count = int(trie.first_child[node]), int(trie.child_count[node])
        children = np.flatnonzero(trie.parent[1:] == node) + 1
        assert children.tolist() == list(range(first, first + count))


# Lengths about the seven bytes of a sort key, NULs that look like its padding.
PIECES = st.lists(
    st.sampled_from([b"\0", b"\xff", b"a", b"\0" * 7, b"a" * 6]), max_size=6
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES.map(b"".join) | st.binary(max_size=20), max_size=30))
def test_random_vocabularies(tokens: list[bytes]) -> None:
    check_against_oracle(tokens)


def test_all_pairs_of_short_tokens() -> None:
    words = [bytes(p) for n in range(4) for p in product(b"\0\x01", repeat=n)]
    for pair in product(words, repeat=2):
        check_against_oracle(list(pair))


@pytest.mark.parametrize("length", [1, 6, 7, 8, 9, 13, 14, 15, 16, 300])
def test_long_equal_prefixes(length: int) -> None:
    stem = b"x" * length
    check_against_oracle([stem + b"b", stem, stem + b"\0", stem + b"a", stem, b"x"])


@pytest.mark.parametrize("tokens", [[], [b""], [b"", b"", b"a"]])
def test_nothing_to_spell(tokens: list[bytes]) -> None:
    check_against_oracle(tokens)


def test_arrays_are_read_only_and_typed() -> None:
    trie = trie_of([b"ab", b"a"])
    for name, array in vars(trie).items():
        assert not array.flags.writeable, name
        assert array.dtype == (np.uint8 if name == "byte" else np.int32), name
    assert trie.levels == 3
    assert trie.nbytes == sum(array.nbytes for array in vars(trie).values())


def test_order_of_tokens_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    tokens = [rng.bytes(int(rng.integers(0, 12))) for _ in range(500)]
    shuffle = rng.permutation(len(tokens))
    have, want = trie_of([tokens[i] for i in shuffle]), trie_of(tokens)
    assert np.array_equal(have.parent, want.parent)
    assert np.array_equal(have.byte, want.byte)
    assert np.array_equal(have.node_of_token, want.node_of_token[shuffle])


@pytest.mark.parametrize("name", assets.PARAMS)
def test_laws_on_every_token_of_a_real_vocabulary(name: str) -> None:
    real = assets.tokenizer(name)
    vocabulary = Vocabulary.of(real.tokenizer, real.eos_ids)
    trie = vocabulary.trie
    check_shape(trie)
    # Walk up from the end of every token at once, reading bytes from the back.
    node = trie.node_of_token.copy()
    at = vocabulary.offsets[1:].copy()
    assert np.array_equal(node > 0, np.diff(vocabulary.offsets) > 0)
    while (alive := node > 0).any():
        at[alive] -= 1
        assert np.array_equal(trie.byte[node[alive]], vocabulary.data[at[alive]])
        node[alive] = trie.parent[node[alive]]
    assert np.array_equal(at, vocabulary.offsets[:-1])
    # No node is there for nothing: each leaf is the end of a token.
    leaves = np.flatnonzero(trie.child_count == 0)
    assert np.isin(leaves, trie.node_of_token).all()


def check_shape(trie: Trie) -> None:
    depth = np.zeros(trie.nodes, np.int32)
    bounds = trie.level_bounds
    assert bounds[0] == 0 and bounds[-1] == trie.nodes
    for level, (first, last) in enumerate(pairwise(bounds)):
        depth[first:last] = level
    assert np.array_equal(depth[1:], depth[trie.parent[1:]] + 1)
    order = trie.parent[1:].astype(np.int64) * 256 + trie.byte[1:]
    assert (np.diff(order) > 0).all()  # parents in order, children by byte, all new
    count = np.bincount(trie.parent[1:], minlength=trie.nodes)
    assert np.array_equal(trie.child_count, count)
    assert np.array_equal(trie.first_child, 1 + np.cumsum(count) - count)
