"""Frames made ready: ticks apart from bytes, nothing that leads nowhere, needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stcon.machines.nfa import TICK
from stcon.machines.productive import finishing
from stcon.machines.windows import COUNTED_FINAL, FINAL, Needs, within
from stcon.syntax.rules import ALL_BYTES

if TYPE_CHECKING:
    from stcon.machines.frames import Frames


def finish(
    frames: Frames, standard: Frames | None, may_be_dead: bool, closes: dict[int, int]
) -> set[int]:
    """The rules whose count can be kept as a number; fills in the rest of
    ``frames``.  ``may_be_dead``: whether something may lead nowhere; ``closes``:
    per counted rule the state from which it is closed."""
    _split_ticks(frames)
    counted = _counted_rules(frames)
    while True:
        if may_be_dead:
            _drop_dead(frames)
        free = _find_needs(frames, counted, closes)
        if not _drop_closed(frames):
            break
        may_be_dead = True
    _find_nullable(frames, standard)
    return free


def _split_ticks(frames: Frames) -> None:
    """A tick is a letter beside bytes until here."""
    for state, moves in enumerate(frames.moves):
        after = [to for mask, to in moves if mask >> TICK]
        if after:
            frames.ticks[state] = after
            moves[:] = [(m & ALL_BYTES, to) for m, to in moves if m & ALL_BYTES]


def _counted_rules(frames: Frames) -> list[int]:
    """The rules with a window, or with ticks of their own."""
    found = {x.rule for x in frames.letters if x.window is not None and x.rule >= 0}
    if not found and frames.ticks:  # standard rules: others call them
        found = {
            rule
            for rule, entry in enumerate(frames.entries)
            if not frames.ticks.keys().isdisjoint(within(frames, entry))
        }
    return sorted(found)


def _find_needs(frames: Frames, counted: list[int], closes: dict[int, int]) -> set[int]:
    frames.need.clear()
    with_least = {x.rule for x in frames.letters if x.window and x.window[0] > 0}
    free = set(counted)
    for rule in counted:
        entry = frames.entries[rule]
        if entry >= 0:
            needs = Needs(frames, entry)
            frames.need |= needs.need
            close = closes.get(rule, COUNTED_FINAL)
            if rule in with_least and not needs.is_free(close):
                free.discard(rule)
    return free


def _drop_closed(frames: Frames) -> bool:
    """Removes calls whose window is too low for any text of their rule; whether
    there were any."""
    closed = set()
    for number, letter in enumerate(frames.letters):
        if letter.window is not None and letter.rule >= 0:
            entry = frames.entries[letter.rule]
            if entry < 0 or frames.need[entry] > letter.window[1]:
                closed.add(number)
    found = False
    for calls in frames.calls.values():
        if any(number in closed for number, _ in calls):
            found = True
            calls[:] = [(n, to) for n, to in calls if n not in closed]
    return found


def _drop_dead(frames: Frames) -> None:
    """Removes what cannot come to an end: edges, letters of rules without text,
    and entries, which become -1."""
    size = range(len(frames.skips))
    alive = finishing(
        [s in (FINAL, COUNTED_FINAL) for s in size],
        [_next(frames, s) for s in size],
        [own_calls(frames, s) for s in size],
    )
    frames.entries[:] = [e if e >= 0 and alive[e] else -1 for e in frames.entries]
    for states in (*frames.skips, *frames.ticks.values()):
        states[:] = [to for to in states if alive[to]]
    for moves in frames.moves:
        moves[:] = [(mask, to) for mask, to in moves if alive[to]]
    for texts in frames.texts.values():
        texts[:] = [place for place in texts if alive[frames.goal[place]]]
    for calls in frames.calls.values():
        calls[:] = [(n, to) for n, to in calls if alive[to] and _has_text(frames, n)]


def _has_text(frames: Frames, letter: int) -> bool:
    rule = frames.letters[letter].rule
    return rule < 0 or frames.entries[rule] >= 0


def _next(frames: Frames, state: int) -> list[int]:
    """The states that follow ``state``, standard rules taken as read."""
    return [
        *frames.skips[state],
        *(to for _, to in frames.moves[state]),
        *(frames.goal[place] for place in frames.texts.get(state, ())),
        *frames.ticks.get(state, ()),
        *(to for n, to in frames.calls.get(state, ()) if frames.letters[n].rule < 0),
    ]


def own_calls(frames: Frames, state: int) -> list[tuple[int, int]]:
    """(first state, state to return to) of the calls of rules of these frames."""
    found = []
    for number, to in frames.calls.get(state, ()):
        rule = frames.letters[number].rule
        if rule >= 0 and frames.entries[rule] >= 0:
            found.append((frames.entries[rule], to))
    return found


def _find_nullable(frames: Frames, standard: Frames | None) -> None:
    """Calls of rules that match nothing are passed without reading.  A rule can
    match nothing only if some rule does by skips alone, and a call can only
    matter if what it returns to does: mostly there is no such call."""
    passed: dict[int, list[int]] = {}
    ends = {
        rule
        for rule, entry in enumerate(frames.entries)
        if entry >= 0 and _skips_to_end(frames, entry)
    }
    for state, calls in frames.calls.items():
        for number, to in calls:
            rule, window = frames.letters[number].rule, frames.letters[number].window
            if window is not None and window[0] > 0:
                continue
            if rule >= 0 or standard is None:
                continue
            if _skips_to_end(standard, standard.entries[-1 - rule]):
                passed.setdefault(state, []).append(to)
    backs = {to for after in passed.values() for to in after}
    if ends or any(_skips_to_end(frames, to) for to in backs):
        frames.nullable = _all_nullable(frames, passed)


def _skips_to_end(frames: Frames, state: int) -> bool:
    seen, stack = {state}, [state]
    while stack:
        at = stack.pop()
        if at in (FINAL, COUNTED_FINAL) or at in frames.nullable:
            return True
        for to in frames.skips[at]:
            if to not in seen:
                seen.add(to)
                stack.append(to)
    return False


def _all_nullable(frames: Frames, passed: dict[int, list[int]]) -> set[int]:
    calls: list[list[tuple[int, int]]] = [[] for _ in frames.skips]
    for state, found in frames.calls.items():
        for number, to in found:
            letter = frames.letters[number]
            if letter.rule >= 0 and (letter.window is None or letter.window[0] == 0):
                calls[state].append((frames.entries[letter.rule], to))
    known = finishing(
        [s in (FINAL, COUNTED_FINAL) for s in range(len(frames.skips))],
        [[*skips, *passed.get(s, ())] for s, skips in enumerate(frames.skips)],
        calls,
    )
    return {state for state, nullable in enumerate(known) if nullable}
