"""Hops: which tokens fit a window, and what is left to read, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stcon.machines.frames import UNBOUNDED, Window
from stcon.tokens.hops import NOTHING, ROOT, Hop, Pending, TokensAt
from stcon.tokens.vocabulary import Vocabulary

WORDS = [None, b"a", b"ab", b"b", b"ab", b"abc", b"", b"bca", b"a"]
VOCABULARY = Vocabulary.from_bytes(WORDS, [0])
TRIE = VOCABULARY.trie
NODES = range(TRIE.nodes)


def ints(values: list[int]) -> np.ndarray:
    return np.array(values, np.int32)


def node_sets() -> st.SearchStrategy[list[int]]:
    return st.lists(st.sampled_from(NODES), unique=True)


def test_sets_are_numbered_once() -> None:
    pending = Pending()
    assert pending.nodes(ROOT).tolist() == [0]
    assert pending.number(ints([])) == NOTHING
    one, two = pending.number(ints([2, 3])), pending.number(ints([2, 4]))
    assert one != two and pending.number(ints([2, 3])) == one
    assert pending.nodes(two).tolist() == [2, 4]


@given(node_sets())
def test_tokens_at_nodes(nodes: list[int]) -> None:
    at = TokensAt(TRIE)
    node_of = TRIE.node_of_token.tolist()
    want = {t for t in range(len(WORDS)) if node_of[t] in nodes and node_of[t]}
    found, places = at.few(ints(nodes))
    assert sorted(found.tolist()) == sorted(want)
    assert all(node_of[t] == nodes[p] for t, p in zip(found, places, strict=True))
    assert set(np.flatnonzero(at.row(ints(nodes))).tolist()) == want


@pytest.mark.parametrize("scale", [1, 300, 10**6])
@given(pairs=st.lists(st.tuples(st.sampled_from(NODES), st.integers(0, 200))))
def test_the_least_value_of_the_node_of_each_token(
    scale: int, pairs: list[tuple[int, int]]
) -> None:
    nodes, values = [n for n, _ in pairs], [v * scale for _, v in pairs]
    found = TokensAt(TRIE).by_node(ints(nodes), ints(values))
    none = np.iinfo(found.dtype).max
    for token, node in enumerate(TRIE.node_of_token.tolist()):
        own = [v for n, v in zip(nodes, values, strict=True) if n == node and node]
        assert found[token] == min(own, default=none)


@st.composite
def hops(draw: st.DrawFn) -> tuple[Hop, Hop, list[tuple[int, int]]]:
    """A counted hop with its tokens as a list, the same with levels, and what was
    popped: pairs of a node and ticks."""
    size = len(WORDS)
    tick = st.integers(0, 5)
    needs = draw(st.dictionaries(st.integers(0, size - 1), tick))
    closing = draw(st.lists(st.tuples(tick, st.integers(0, size - 1))))
    popped = draw(st.lists(st.tuples(st.sampled_from(NODES), tick)))
    by_need = sorted(needs, key=lambda token: needs[token])
    levels = np.full(size, 255, np.uint8)
    levels[by_need] = [needs[token] for token in by_need]
    closing.sort()
    highest = max(
        [*needs.values(), *(t for t, _ in closing), *(t for _, t in popped), 0]
    )
    common = {
        "bits": None,
        "popped": ints([n for n, _ in popped]),
        "popped_ticks": ints([t for _, t in popped]),
        "closing": ints([token for _, token in closing]),
        "closing_ticks": ints([t for t, _ in closing]),
        "highest": highest,
    }
    few = Hop(
        tokens=ints(by_need),
        needs=ints([needs[token] for token in by_need]),
        levels=None,
        pending=Pending(),
        **common,
    )
    many = Hop(tokens=None, needs=None, levels=levels, pending=Pending(), **common)
    return few, many, popped


def windows() -> st.SearchStrategy[Window]:
    least = st.integers(0, 7)
    some = st.tuples(least, st.integers(0, 7)).map(lambda w: (w[0], sum(w)))
    return some | least.map(lambda n: (n, UNBOUNDED))


@settings(max_examples=200)
@given(hops(), windows())
def test_windows(made: tuple[Hop, Hop, list[tuple[int, int]]], window: Window) -> None:
    few, many, popped = made
    least, most = window
    assert few.tokens is not None and few.needs is not None
    needs = zip(few.tokens.tolist(), few.needs.tolist(), strict=True)
    want = {token for token, need in needs if need <= most}
    assert few.closing is not None and few.closing_ticks is not None
    closing = zip(few.closing.tolist(), few.closing_ticks.tolist(), strict=True)
    want |= {token for token, ticks in closing if least <= ticks <= most}
    left = sorted({node for node, ticks in popped if least <= ticks <= most})
    for hop in (few, many):
        for seen in (window, hop.window(window)):
            row = np.zeros(len(WORDS), bool)
            hop.paint(row, seen)
            assert set(np.flatnonzero(row).tolist()) == want
            rest = hop.rest(seen)
            nodes = [] if rest == NOTHING else hop.pending.nodes(rest).tolist()
            assert nodes == left


@given(hops())
def test_digest_tells_tokens_apart(
    made: tuple[Hop, Hop, list[tuple[int, int]]],
) -> None:
    few, many, _ = made
    same = Hop(**{part: getattr(few, part) for part in PARTS_OF}, pending=Pending())
    assert same.digest == few.digest
    assert (few.digest == b"") == (not len(few.tokens) and not len(few.closing))
    assert few.digest != many.digest


PARTS_OF = ("tokens", "needs", "bits", "levels", "popped", "popped_ticks")
PARTS_OF += ("closing", "closing_ticks")
