"""Rows against the gather they stand for, and the bound of their cache."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from stcon.api import bind
from stcon.constraints.dfa import DfaConstraint
from stcon.cpu.rows import ClassRows, Rows
from stcon.decode.processor import HostProcessor
from stcon.machines.compile import compile_expr
from stcon.syntax.rules import byte_range, concat, literal, star
from stcon.tokens.vocabulary import Vocabulary

_COMMON = [0] * 133
_CLASS_MAPS = {
    "one class is common": [*_COMMON, 1, 2, 2, 3],
    "the common class is not the first": [*[2 for _ in _COMMON], 0, 1, 3, 3],
    "no class is common": [0, 1, 2, 3, 0, 1, 2, 3],
    "one class": [0, 0, 0, 0],
    "a class has no token": [*_COMMON, 3, 1, 3],
    "two classes are common": [*_COMMON, *[2 for _ in _COMMON], 1, 3, 1],
}


@pytest.mark.parametrize("name", _CLASS_MAPS)
@pytest.mark.parametrize("kind", [np.uint16, np.int32])
def test_a_row_is_the_gather(name: str, kind: type) -> None:
    class_of = np.array(_CLASS_MAPS[name], kind)
    maker = ClassRows(class_of, 4)
    size = len(class_of)
    for is_open in product([False, True], repeat=4):
        for width in (1, size - 1, size, size + 5):
            gathered = np.take(np.array(is_open), class_of)[:width]
            want = [*gathered, *[False] * (width - len(gathered))]
            have = maker.row(np.array(is_open), width)
            assert have.tolist() == want, (is_open, width)


def test_random_class_maps() -> None:
    random = np.random.default_rng(1)
    for classes in (1, 7, 200):
        for skew in (1, 3, 8):
            class_of = (random.random(500) ** skew * classes).astype(np.uint16)
            maker = ClassRows(class_of, classes)
            for _ in range(20):
                is_open = random.random(classes) < random.random()
                have = maker.row(is_open, 500)
                assert (have == is_open[class_of]).all()


def _constraint() -> DfaConstraint:
    """Counts of letters: many states, two sets of open classes before the end."""
    expr = concat(literal("aaaaaaaa"), star(byte_range(0x61, 0x62)), literal("c"))
    vocabulary = Vocabulary.from_bytes([b"a", b"b", b"c", None], [3])
    return DfaConstraint.of(compile_expr(expr), vocabulary, bind("host"))


def test_states_that_allow_the_same_share_a_row() -> None:
    constraint, rows = _constraint(), Rows()
    processor = HostProcessor(constraint, rows)
    history, state, met = [7], constraint.start, set()
    for token in [0] * 8 + [1, 0, 2]:
        have = processor.row(history, 6)
        want = [*constraint.allowed(state).tolist(), False, False]
        assert np.array(have)[0].tolist() == want
        history, state = [*history, token], constraint.advance(state, token)
        met.add(tuple(want))
    assert len(met) == 2
    assert rows.nbytes == 2 * 6


def test_the_cache_keeps_to_its_limit() -> None:
    rows = Rows(limit=30)
    made: list[int] = []

    def get(key: int) -> None:
        def make() -> np.ndarray:
            made.append(key)
            return np.ones(10, bool)

        rows.get(key, make)

    for key in (1, 2, 3, 1, 4, 1, 2):
        get(key)
        assert rows.nbytes <= 30
    # 2 was the least recently used when 4 came; 1 was never made again.
    assert made == [1, 2, 3, 4, 2]
