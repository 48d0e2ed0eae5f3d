"""The two paths of a batch behind one door."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from stcon.metal import formats
from stcon.metal.formats import CLASSES, WALK, Formats
from stcon.metal.samples import int32, rows_of, some_constraints, some_tables


@pytest.mark.parametrize("more", [-30, 0, 5])
@pytest.mark.parametrize("has_limits", [True, False])
def test_both_paths_give_the_same(more: int, has_limits: bool) -> None:
    grammar, state, limit = rows_of(some_tables(), 33, 3)
    left = limit if has_limits else None
    width = some_tables().tokens + more
    rng = np.random.default_rng(0)
    logits = mx.array(rng.standard_normal((33, width)).astype(np.float16))
    token = int32(rng.integers(0, width, 33))
    steps = [
        Formats(some_constraints(), limits=has_limits, path=path).at(
            grammar, state, left
        )
        for path in (CLASSES, WALK)
    ]
    masked = [np.array(step.mask(logits)) for step in steps]
    assert np.array_equal(masked[0], masked[1])
    assert np.isinf(masked[0]).any() and np.isfinite(masked[0]).any()
    one, other = ([x.tolist() for x in step.advance(token)] for step in steps)
    assert one == other


def test_starts_are_those_of_the_constraints() -> None:
    want = [one.start for one in some_constraints()]
    for path in (CLASSES, WALK):
        assert Formats(some_constraints(), path=path).starts.tolist() == want


def test_the_path_follows_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    size = sum(one.table.nbytes for one in some_constraints())
    for largest, want in ((size, CLASSES), (size - 1, WALK)):
        monkeypatch.setattr(formats, "LARGEST_TABLES", largest)
        found = Formats(some_constraints())
        report = found.report()
        assert report == {"path": want, "formats": 16, "bytes": found.nbytes}
        assert Formats(some_constraints(), path=CLASSES).path == CLASSES


def test_a_path_that_is_none() -> None:
    with pytest.raises(ValueError, match="'classes' or 'walk', not 'host'"):
        Formats(some_constraints(), path="host")
