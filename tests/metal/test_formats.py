"""The two paths of a batch behind one door."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from stcon import constrain
from stcon.constraints.dfa import DfaConstraint
from stcon.constraints.pushdown import PushdownConstraint
from stcon.machines.device_tables import NotDeterministic
from stcon.metal import formats
from stcon.metal.formats import CLASSES, STACKS, WALK, Formats, StackFormats
from stcon.metal.pushdown_cases import words
from stcon.metal.samples import int32, rows_of, some_constraints, some_tables
from stcon.metal.tables import NO_GRAMMAR


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


def with_stack(schema: object) -> PushdownConstraint:
    made = constrain(words(), schema)
    assert isinstance(made, PushdownConstraint)
    return made


def test_a_batch_of_both_kinds() -> None:
    """Two formats with a stack, a finite one and a free row, in one batch."""
    finite = constrain(words(), {"enum": [1, 22]})
    nested = [with_stack({"type": "array", "items": {"$ref": "#"}}), with_stack(True)]
    assert isinstance(finite, DfaConstraint)
    flat, deep = Formats([finite]), StackFormats(nested)
    flat_rows = int32([NO_GRAMMAR, 0, NO_GRAMMAR, NO_GRAMMAR])
    deep_rows = int32([0, NO_GRAMMAR, 1, NO_GRAMMAR])
    state = int32([0, finite.start, 0, 0])
    stacks = type(deep.starts)(*(array[int32([0, 0, 1, 0])] for array in deep.starts))
    hosts = [nested[0], finite, nested[1]]
    states = [host.start for host in hosts]
    logits = mx.random.normal((4, words().size))
    for text in (b"[", b"2"), (b"]", b"2"):
        first, second = flat.at(flat_rows, state), deep.at(deep_rows, stacks)
        have = np.isfinite(np.array(second.mask(first.mask(logits))))
        for row, host in enumerate(hosts):
            assert np.array_equal(have[row], host.allowed(states[row]))
        assert have[3].all()
        nests, number = (1 + byte[0] for byte in text)
        token = [nests, number, nests, 5]
        states = [x.advance(*y) for x, *y in zip(hosts, states, token, strict=False)]
        state, _ = first.advance(int32(token))
        stacks, _ = second.advance(int32(token))
        assert state[1].item() == states[1] and stacks.top[1].item() == 0
    assert deep.report() == {"path": STACKS, "formats": 2, "bytes": deep.nbytes}


def test_a_format_that_needs_several_stacks() -> None:
    properties = {"ab": {"type": "integer"}}
    with pytest.raises(NotDeterministic):
        StackFormats([with_stack({"type": "object", "properties": properties})])
    with pytest.raises(ValueError, match="one constraint at least"):
        StackFormats([])
