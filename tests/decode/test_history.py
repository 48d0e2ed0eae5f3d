"""Histories of every integer type are read alike; what is no id is refused."""

from __future__ import annotations

import numpy as np
import pytest

from stcon.decode.arguments import read_history
from stcon.errors import HistoryError

_KINDS = (np.int32, np.uint32, np.int64, np.uint64, np.int16)


@pytest.mark.parametrize("kind", _KINDS)
def test_types_of_one_history(kind: type) -> None:
    want = np.array([0, 5, 32_000], np.uint32).tobytes()
    assert read_history(np.array([0, 5, 32_000], kind)) == want


@pytest.mark.parametrize("wrong", [-1, -(1 << 40), 1 << 31, 1 << 32, (1 << 32) + 5])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_numbers_that_are_no_ids(wrong: int, place: int) -> None:
    history = [7, 8, 9]
    history[place] = wrong
    with pytest.raises(HistoryError, match="no token ids"):
        read_history(np.array(history, np.int64))
