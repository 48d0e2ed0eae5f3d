"""Needs, against all the tick counts that a walk can take."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from stcon.machines.frames import Frames, build_frames
from stcon.machines.limits import Meter
from stcon.machines.pushdown import compile_pushdown
from stcon.machines.windows import COUNTED_FINAL, FINAL, Needs, within
from stcon.syntax import rules as r
from tests.machines.test_counted import items

A, B, C = r.literal("a"), r.literal("b"), r.literal("c")
LETTER = r.concat(r.TICK, A)
ENOUGH = 12


def counts(frames: Frames, entry: int) -> dict[int, set[int]]:
    """Per state the numbers of ticks up to ENOUGH with which its rule can end, by
    a plain fixed point."""
    found: dict[int, set[int]] = {s: set() for s in within(frames, entry)}
    for final in (FINAL, COUNTED_FINAL):
        if final in found:
            found[final] = {0}
    while True:
        more = {s: set(have) for s, have in found.items()}
        for state in found:
            free = [*frames.skips[state], *(to for _, to in frames.moves[state])]
            free += [frames.goal[p] for p in frames.texts.get(state, ())]
            free += [to for _, to in frames.calls.get(state, ())]
            for to in free:
                more[state] |= found[to]
            for to in frames.ticks.get(state, ()):
                more[state] |= {n + 1 for n in found[to] if n < ENOUGH}
        if more == found:
            return found
        found = more


@settings(max_examples=80, deadline=None)
@given(items())
def test_needs_and_freedom(item: r.Expr) -> None:
    rules = r.Rules({"s": r.concat(B, r.counted(item, 0, 5, C))}, "s")
    frames = build_frames(rules, Meter())
    (letter,) = [x for x in frames.letters if x.window]
    entry = frames.entries[letter.rule]
    if entry < 0:
        return
    needs = Needs(frames, entry)
    want = counts(frames, entry)
    assert {s: min(have) for s, have in want.items() if have} == needs.need
    if needs.is_free(_close(frames, entry)):
        for state, have in want.items():
            if have and state not in _after_close(frames, entry):
                assert have | {0} >= set(range(max(min(have), 1), ENOUGH))


def _close(frames: Frames, entry: int) -> int:
    """The state that reads the closing byte."""
    (state,) = [
        s
        for s in within(frames, entry)
        for place in frames.texts.get(s, ())
        if frames.goal[place] == COUNTED_FINAL
    ]
    return state


def _after_close(frames: Frames, entry: int) -> set[int]:
    return within(frames, _close(frames, entry))


@pytest.mark.parametrize(
    ("item", "window", "want"),
    [
        (r.star(LETTER), (2, 5), (2, 5)),
        (r.star(r.concat(LETTER, LETTER)), (0, 5), (0, 5)),
        (r.star(r.concat(LETTER, LETTER)), (2, 5), (0, 5)),
        (r.concat(LETTER, LETTER), (1, 5), (0, 5)),
    ],
)
def test_a_least_that_is_no_number_is_written_out(
    item: r.Expr, window: tuple[int, int], want: tuple[int, int]
) -> None:
    rules = r.Rules({"s": r.concat(B, r.counted(item, *window, C))}, "s")
    (letter,) = [x for x in compile_pushdown(rules).frames.letters if x.window]
    assert letter.window == want


def test_a_window_too_low_for_its_rule_is_no_way_on() -> None:
    dead = r.counted(r.concat(LETTER, LETTER, LETTER), 0, 2, C)
    machine = compile_pushdown(r.Rules({"s": r.union(r.concat(B, dead), A)}, "s"))
    assert machine.live(machine.start) == (97,)
