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

from stcon.machines.compile import Products, calls_itself
from stcon.machines.dfa import DEAD, Dfa
from stcon.machines.limits import Meter
from stcon.machines.nfa import Builder
from stcon.machines.trim import finish
from stcon.machines.windows import COUNTED_FINAL, FINAL
from stcon.syntax.rules import (
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
    ``need[s]``: the fewest ticks to the end, for states of rules that count;
    ``nullable``: states that reach the end of their rule without reading, but not
    by skips alone.
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
    need: dict[int, int] = field(default_factory=dict)
    nullable: set[int] = field(default_factory=set)

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
    rules: Rules,
    meter: Meter,
    standard: Frames | None = None,
    one_stack: bool = False,
) -> Frames:
    """The frames of ``rules``; ``standard``: those of the standard rules.
    ``one_stack``: rules that would need a second stack are written out in place.

    A counted rule is kept as a counter if its window can be tested by two
    numbers (``windows.py``); if not, it is unrolled as in a finite automaton.
    """
    unrolled: set[int] = set()
    while True:
        builder = _FrameBuilder(rules, meter, unrolled, one_stack)
        frames = builder.build_frames()
        free = finish(frames, standard, builder.may_be_dead, builder.closes)
        more = builder.uncountable(free)
        if not more:
            return frames
        unrolled |= more


def build_standard(rules: Rules, meter: Meter) -> Frames:
    """The frames of standard rules, each an entry, in the order of the mapping."""
    builder = _FrameBuilder(rules, meter, set())
    frames = builder.build_all(list(rules.rules))
    finish(frames, None, False, {})
    return frames


class _FrameBuilder(Builder):
    """Builds the frames of ``rules``; calls and counted items become letters."""

    def __init__(
        self,
        rules: Rules,
        meter: Meter,
        unrolled: set[int],
        one_stack: bool = False,
    ) -> None:
        super().__init__(rules.rules, Products(rules.rules, meter).part, meter)
        self.nfa.new()  # COUNTED_FINAL
        self.frames = Frames(self.nfa.skips, self.nfa.moves)
        self._start = rules.start
        names = rules.standard.rules if rules.standard else ()
        self._standard = {name: -1 - i for i, name in enumerate(names)}
        self._unrolled = unrolled
        self._in_place = rules.ambiguous if one_stack else frozenset()
        self._rule_ids: dict[object, int] = {}
        self._letter_ids: dict[Letter, int] = {}
        self._windows: dict[int, tuple[Expr, int]] = {}
        self._has_empty_part = False
        self._calls_itself = calls_itself(rules, frozenset(names))

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

    def uncountable(self, free: set[int]) -> set[int]:
        """The ids of counted items whose rule is not ``free``: their count is more
        than a number."""
        windows = self._windows.items()
        return {id(item) for rule, (item, _) in windows if rule not in free}

    @property
    def closes(self) -> dict[int, int]:
        """Per counted rule the state from which it is closed."""
        return {rule: close for rule, (_, close) in self._windows.items()}

    @property
    def may_be_dead(self) -> bool:
        """Whether something may lead nowhere: an automaton of a part accepts
        nothing, counts are unrolled, or rules call themselves."""
        return self._has_empty_part or self._calls_itself or bool(self._unrolled)

    def copy(self, dfa: Dfa, target: int, state: int) -> None:
        """See Builder; notes automata that accept nothing."""
        self._has_empty_part = self._has_empty_part or dfa.start == DEAD
        super().copy(dfa, target, state)

    def wire(self, node: Expr, target: int, state: int) -> None:
        """Nothing; ``state`` leads by ``node`` to ``target``."""
        if isinstance(node, Literal):
            self._whole_literal(node.data, target, state)
        elif isinstance(node, Call) and node.name in self._in_place:
            super().wire(node, target, state)
        elif isinstance(node, Call):
            self._call_of(Letter(self._rule(node, False), None), target, state)
        elif isinstance(node, Counted):
            self._count(node, target, state)
        else:
            super().wire(node, target, state)

    def _count(self, node: Counted, target: int, state: int) -> None:
        """A call with a window.  Where the item does not allow every count from
        its need on, the least is written out and the most kept as a number."""
        least, most = node.least, UNBOUNDED if node.most is None else node.most
        if id(node.item) not in self._unrolled:
            letter = Letter(self._counted_rule(node), (least, most))
            self._call_of(letter, target, state)
        elif node.most is None:
            super().wire(node, target, state)
        else:
            letter = Letter(self._layered_rule(node), (0, most))
            self._call_of(letter, target, state)

    def _layered_rule(self, node: Counted) -> int:
        """The number of the rule of the item from its least count on."""
        key = (id(node.item), id(node.close), node.least)
        known = self._rule_ids.get(key)
        if known is None:
            close = self.state_of(node.close, COUNTED_FINAL)
            entry = self.nfa.new()
            known = self._rule_ids[key] = len(self.frames.entries)
            self.frames.entries.append(entry)
            dfa = self._sub(node.item)
            self.layers(dfa, (node.least, None), close, entry, keep_ticks=True)
        return known

    def _rule(self, expr: Expr, is_counted: bool) -> int:
        """The number of a rule, given by a call of it or by its expression."""
        if isinstance(expr, Call) and expr.name in self._standard:
            return self._standard[expr.name]
        key = (expr.name if isinstance(expr, Call) else id(expr), is_counted)
        known = self._rule_ids.get(key)
        if known is None:
            body = self._rules[expr.name] if isinstance(expr, Call) else expr
            final = COUNTED_FINAL if is_counted else FINAL
            known = self._rule_ids[key] = self._new_rule(body, final)
        return known

    def _counted_rule(self, node: Counted) -> int:
        """The number of the rule of a counted item with what closes it; that of a
        standard rule closes itself."""
        if isinstance(node.item, Call) and node.item.name in self._standard:
            return self._standard[node.item.name]
        key = (id(node.item), id(node.close))
        known = self._rule_ids.get(key)
        if known is None:
            close = self.state_of(node.close, COUNTED_FINAL)
            known = self._rule_ids[key] = self._new_rule(node.item, close)
            self._windows[known] = node.item, close
        return known

    def _new_rule(self, body: Expr, target: int) -> int:
        entry = self.nfa.new()  # its own: another rule may use the body's
        self.frames.entries.append(entry)
        self.nfa.skips[entry].append(self.state_of(body, target))
        return len(self.frames.entries) - 1

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
