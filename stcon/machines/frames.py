"""The rules of a pushdown as one nondeterministic automaton with many entries.

Calls stay calls: an edge that reads a *letter*, which is a rule and, for a rule
whose ticks are counted, the window of counts it may take.  Literals stay whole.
Nothing is unrolled, so this is linear in the rules; ``pushdown.py`` makes
deterministic states of it as they are reached.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field

from stcon.machines.compile import Products
from stcon.machines.limits import Meter
from stcon.machines.nfa import TICK, Builder
from stcon.machines.productive import finishing
from stcon.machines.windows import Needs, within
from stcon.syntax.rules import (
    ALL_BYTES,
    Call,
    Counted,
    Expr,
    Literal,
    Rules,
    Tick,
    parts,
)

UNBOUNDED = math.inf
"""The upper end of a window without one."""

FINAL = 0
COUNTED_FINAL = 1
"""Where a rule ends; rules that are counted have a final state of their own."""

Window = tuple[int, float]


@dataclass(frozen=True)
class Letter:
    """A call: ``rule`` numbers an entry of these frames or, from -1 down, a
    standard rule; ``window``: the ticks it may take, None if not counted."""

    rule: int
    window: Window | None


@dataclass(eq=False)
class Frames:
    """States are numbers; FINAL ends a rule, COUNTED_FINAL one that counts.

    ``skips[s]``: states reached without reading; ``moves[s]``: pairs (byte set,
    state); ``ticks[s]``: states after a tick; ``calls[s]``: pairs (number of a
    letter, state to return to).  A literal is read at places of ``text``:
    ``texts[s]`` are places where one starts; ``goal[place]`` is the state after
    it, ``last[place]`` is 1 at its last byte.
    ``entries[rule]``: first state of a rule, 0 for one without any text;
    ``start``: number of the letter of the whole.
    ``need[s]``: the fewest ticks to the end, 0 in rules that do not count;
    ``nullable[s]``: whether the rule may end there without reading;
    ``counted[s]``: whether the rule of s counts.
    """

    skips: list[list[int]]
    moves: list[list[tuple[int, int]]]
    ticks: dict[int, list[int]] = field(default_factory=dict)
    calls: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    texts: dict[int, list[int]] = field(default_factory=dict)
    text: bytearray = field(default_factory=bytearray)
    goal: array[int] = field(default_factory=lambda: array("l"))
    last: bytearray = field(default_factory=bytearray)
    letters: list[Letter] = field(default_factory=list)
    entries: list[int] = field(default_factory=list)
    start: int = 0
    need: list[int] = field(default_factory=list)
    nullable: list[bool] = field(default_factory=list)
    counted: list[bool] = field(default_factory=list)

    @property
    def states(self) -> int:
        """How many states there are, places in literals included."""
        return len(self.skips) + len(self.text)

    @property
    def nbytes(self) -> int:
        """About what the lists take: numbers are 8 bytes, sets of bytes 60."""
        moves = sum(map(len, self.moves))
        calls = sum(map(len, self.calls.values()))
        return 60 * moves + 24 * calls + 100 * len(self.skips) + 10 * len(self.text)


def build_frames(
    rules: Rules, meter: Meter, standard: Frames | None = None
) -> Frames:
    """The frames of ``rules``; ``standard``: those of the standard rules.

    A counted rule is kept as a counter if its window can be tested by two
    numbers (``windows.py``); if not, it is unrolled as in a finite automaton.
    """
    unrolled: set[int] = set()
    while True:
        builder = _FrameBuilder(rules, meter, unrolled)
        frames = builder.build_frames()
        needs = _finish(frames, standard)
        more = builder.uncountable(needs)
        if not more:
            return frames
        unrolled |= more


def build_standard(rules: Rules, meter: Meter) -> Frames:
    """The frames of standard rules, each an entry, in the order of the mapping."""
    builder = _FrameBuilder(rules, meter, set())
    frames = builder.build_all(list(rules.rules))
    _finish(frames, None)
    return frames


class _FrameBuilder(Builder):
    """Builds the frames of ``rules``; calls and counted items become letters."""

    def __init__(self, rules: Rules, meter: Meter, unrolled: set[int]) -> None:
        super().__init__(rules.rules, Products(rules.rules, meter).part, meter)
        self.nfa.new()  # COUNTED_FINAL
        self.frames = Frames(self.nfa.skips, self.nfa.moves)
        self._start = rules.start
        names = rules.standard.rules if rules.standard else ()
        self._standard = {name: -1 - i for i, name in enumerate(names)}
        self._unrolled = unrolled
        self._rule_ids: dict[object, int] = {}
        self._letter_ids: dict[Letter, int] = {}
        self._counted: dict[int, Expr] = {}

    def build_frames(self) -> Frames:
        """The frames of all rules the start reaches."""
        start = Letter(self._rule(Call(self._start), False), None)
        self.frames.start = self._letter(start)
        self.finish()
        return self.frames

    def build_all(self, names: list[str]) -> Frames:
        """The frames of the rules of these names, numbered as they come."""
        for name in names:
            self._rule(Call(name), has_ticks(self._rules[name]))
        self.finish()
        return self.frames

    def uncountable(self, needs: Needs) -> set[int]:
        """The ids of counted items whose count is more than a number."""
        entries = self.frames.entries
        return {
            id(item)
            for rule, item in self._counted.items()
            if entries[rule] >= 0 and not needs.is_free(entries[rule])
        }

    def wire(self, node: Expr, target: int, state: int) -> None:
        """Nothing; ``state`` leads by ``node`` to ``target``."""
        if isinstance(node, Literal):
            self._whole_literal(node.data, target, state)
        elif isinstance(node, Call):
            self._call_of(Letter(self._rule(node, False), None), target, state)
        elif isinstance(node, Counted) and id(node.item) not in self._unrolled:
            most = UNBOUNDED if node.most is None else node.most
            letter = Letter(self._rule(node.item, True), (node.least, most))
            self._call_of(letter, target, state)
        else:
            super().wire(node, target, state)

    def _rule(self, expr: Expr, is_counted: bool) -> int:
        """The number of a rule, given by a call of it or by its expression."""
        if isinstance(expr, Call) and expr.name in self._standard:
            return self._standard[expr.name]
        key = (expr.name if isinstance(expr, Call) else id(expr), is_counted)
        known = self._rule_ids.get(key)
        if known is None:
            known = self._rule_ids[key] = len(self.frames.entries)
            entry = self.nfa.new()  # its own: another rule may use the body's
            self.frames.entries.append(entry)
            body = self._rules[expr.name] if isinstance(expr, Call) else expr
            final = COUNTED_FINAL if is_counted else FINAL
            self.nfa.skips[entry].append(self.state_of(body, final))
            if is_counted:
                self._counted[known] = expr
        return known

    def _letter(self, letter: Letter) -> int:
        known = self._letter_ids.get(letter)
        if known is None:
            known = self._letter_ids[letter] = len(self.frames.letters)
            self.frames.letters.append(letter)
        return known

    def _call_of(self, letter: Letter, target: int, state: int) -> None:
        calls = self.frames.calls.setdefault(state, [])
        calls.append((self._letter(letter), target))

    def _whole_literal(self, data: bytes, target: int, state: int) -> None:
        frames = self.frames
        frames.texts.setdefault(state, []).append(len(frames.text))
        frames.text += data
        frames.goal.extend([target] * len(data))
        frames.last += bytes(len(data) - 1) + b"\x01"
        self._meter.states(frames.states // 4)


def _finish(frames: Frames, standard: Frames | None) -> Needs:
    """What follows from the wiring: ticks apart from bytes, nothing that leads
    nowhere, what the states need."""
    _split_ticks(frames)
    while True:
        _drop_dead(frames)
        needs = Needs(frames, (FINAL, COUNTED_FINAL))
        closed = [_is_closed(letter, frames, needs) for letter in frames.letters]
        used = {n for calls in frames.calls.values() for n, _ in calls}
        if not any(closed[n] for n in used):
            break
        _drop_letters(frames, closed)
    frames.need = needs.need
    frames.counted = [False] * len(frames.skips)
    for number, rule in enumerate(frames.entries):
        if rule >= 0 and _is_counted(frames, number):
            for state in within(frames, rule):
                frames.counted[state] = True
    frames.nullable = _nullable(frames, standard)
    return needs


def _is_counted(frames: Frames, rule: int) -> bool:
    return COUNTED_FINAL in within(frames, frames.entries[rule])


def _split_ticks(frames: Frames) -> None:
    """Copies of automata bring ticks as letters beside bytes."""
    for state, moves in enumerate(frames.moves):
        after = [to for mask, to in moves if mask >> TICK]
        if after:
            frames.ticks[state] = after
            moves[:] = [(m & ALL_BYTES, to) for m, to in moves if m & ALL_BYTES]


def _drop_dead(frames: Frames) -> None:
    """Removes what cannot come to an end: edges, letters of rules without text,
    and entries, which become -1."""
    alive = finishing(
        [s in (FINAL, COUNTED_FINAL) for s in range(len(frames.skips))],
        [_next(frames, s) for s in range(len(frames.skips))],
        [_own_calls(frames, s) for s in range(len(frames.skips))],
    )
    frames.entries[:] = [e if e >= 0 and alive[e] else -1 for e in frames.entries]
    for states in (*frames.skips, *frames.ticks.values()):
        states[:] = [to for to in states if alive[to]]
    for moves in frames.moves:
        moves[:] = [(mask, to) for mask, to in moves if alive[to]]
    for texts in frames.texts.values():
        texts[:] = [place for place in texts if alive[frames.goal[place]]]
    for calls in frames.calls.values():
        calls[:] = [
            (n, to) for n, to in calls if alive[to] and _has_text(frames, n)
        ]


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


def _own_calls(frames: Frames, state: int) -> list[tuple[int, int]]:
    """(entry, state to return to) of the calls of rules of these frames."""
    found = []
    for number, to in frames.calls.get(state, ()):
        rule = frames.letters[number].rule
        if rule >= 0 and frames.entries[rule] >= 0:
            found.append((frames.entries[rule], to))
    return found


def _is_closed(letter: Letter, frames: Frames, needs: Needs) -> bool:
    """Whether a window is too low for any text of its rule."""
    if letter.window is None or letter.rule < 0:
        return False
    entry = frames.entries[letter.rule]
    return entry < 0 or needs.need[entry] > letter.window[1]


def _drop_letters(frames: Frames, closed: list[bool]) -> None:
    for calls in frames.calls.values():
        calls[:] = [(n, to) for n, to in calls if not closed[n]]


def _nullable(frames: Frames, standard: Frames | None) -> list[bool]:
    """Per state whether its rule may end there without reading."""
    calls: list[list[tuple[int, int]]] = [[] for _ in frames.skips]
    skips = [list(states) for states in frames.skips]
    for state, found in frames.calls.items():
        for number, to in found:
            rule, window = frames.letters[number].rule, frames.letters[number].window
            if window is not None and window[0] > 0:
                continue
            if rule >= 0:
                calls[state].append((frames.entries[rule], to))
            elif standard is not None and standard.nullable[standard.entries[-1 - rule]]:
                skips[state].append(to)
    ends = [s in (FINAL, COUNTED_FINAL) for s in range(len(frames.skips))]
    return finishing(ends, skips, calls)


def has_ticks(root: Expr) -> bool:
    """Whether an expression takes ticks of its own, outside any Counted."""
    stack, seen = [root], set()
    while stack:
        node = stack.pop()
        if isinstance(node, Tick):
            return True
        if id(node) not in seen and not isinstance(node, Counted):
            seen.add(id(node))
            stack += parts(node)
    return False
