"""Shortest texts from the states of a pushdown to the end of their rules.

Knuth's generalisation of Dijkstra's algorithm (1977) over pairs of a frame state
and a number of ticks still to come: pairs are settled in order of length; one is
settled by what is read before a settled pair, or by a call whose rule and return
pair are both settled.  Linear in edges × ticks, so it is worked out when first
asked for; a format whose shortest text is beyond reach is a LimitError.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from stcon.errors import LimitError
from stcon.machines.windows import COUNTED_FINAL, FINAL, within

if TYPE_CHECKING:
    from stcon.machines.frames import Window
    from stcon.machines.lazy import States

Pair = tuple[int, int]
Cost = tuple[int, int]
"""(bytes, ticks), or (ticks, bytes) where ticks are to be few."""

_MAX_PAIRS = 1 << 20
_ENOUGH = 1
"""Ticks after which a standard rule repeats itself: each costs the same."""


class _Way(NamedTuple):
    """How the text goes on: bytes, or a rule with its ticks; a tick or none."""

    data: bytes
    rule: Pair | None
    tick: int
    to: Pair


class Shortest:
    """The shortest texts of the states of one machine."""

    def __init__(
        self, states: States, repeats: bool = False, few_ticks: bool = False
    ) -> None:
        """``repeats``: whether these are the standard rules.  ``few_ticks``: the
        fewest ticks go before the fewest bytes."""
        self._states = states
        self._frames = states.frames
        self._repeats = repeats
        self._few_ticks = few_ticks
        self.standard = Shortest(states.standard, True) if states.standard else None
        self._cost: dict[Pair, Cost] = {}
        self._way: dict[Pair, _Way] = {}
        self._most = [0] * len(self._frames.skips)
        self._find_most()
        self._settle()

    @cached_property
    def _fewest(self) -> Shortest:
        return Shortest(self._states, self._repeats, True)

    def text(self, state: int, window: Window | None) -> bytes:
        """A shortest text to the end of the rule of ``state`` within ``window``; if
        that would take too many ticks, one of the fewest ticks.

        Raises LimitError when it is too long to be found.
        """
        if state < self._states.first:
            assert self.standard is not None
            return self.standard.text(state, window)
        least, most = window or (0, 0)
        if least > _MAX_PAIRS:
            self._too_long()
        options = []
        for member in self._states.node(state).subset:
            head, at = b"", member
            if member < 0:
                place = -1 - member
                head, at = self._literal(place), self._frames.goal[place]
            cost = self._cost.get((at, self._clamped(least)))
            if cost is not None:
                length, ticks = cost[::-1] if self._few_ticks else cost
                options.append((len(head) + length, head, at, ticks))
        if not options:
            self._too_long()
        if self._few_ticks:
            options.sort(key=lambda option: option[3])
            _, head, at, ticks = options[0]
        else:
            _, head, at, ticks = min(options)
            if window is not None and ticks + least - self._clamped(least) > most:
                return self._fewest.text(state, window)
        return head + self._walk((at, least))

    def length(self, rule: int, ticks: int) -> int | None:
        """The length of the shortest text of a rule; None while unknown."""
        known = self._cost.get((self._frames.entries[rule], self._clamped(ticks)))
        if known is None:
            return None
        return known[self._few_ticks] + ticks - self._clamped(ticks)

    def _clamped(self, ticks: int) -> int:
        """Ticks as far as they are told apart."""
        return min(ticks, _ENOUGH) if self._repeats else ticks

    def _find_most(self) -> None:
        """The most ticks that any window asks of each state."""
        for letter in self._frames.letters:
            rule, window = letter.rule, letter.window
            if rule >= 0 and window is not None and self._frames.entries[rule] >= 0:
                least = self._clamped(window[0])
                for state in within(self._frames, self._frames.entries[rule]):
                    self._most[state] = max(self._most[state], least)
        if self._repeats:
            for state in self._frames.need:
                self._most[state] = max(self._most[state], _ENOUGH)

    def _settle(self) -> None:
        if sum(self._most) > _MAX_PAIRS:
            self._too_long()
        before: dict[Pair, list[tuple[Pair, _Way]]] = {}
        waiting: dict[Pair, list[tuple[Pair, _Way]]] = {}
        for pair, way in self._ways():
            before.setdefault(way.to, []).append((pair, way))
            if way.rule is not None and way.rule[0] >= 0:
                waiting.setdefault(way.rule, []).append((pair, way))
        heap: list[tuple[Cost, Pair, _Way]] = [
            ((0, 0), (final, 0), _Way(b"", None, 0, (final, 0)))
            for final in (FINAL, COUNTED_FINAL)
        ]
        while heap:
            cost, pair, way = heapq.heappop(heap)
            if pair in self._cost:
                continue
            self._cost[pair], self._way[pair] = cost, way
            for above, found in (*before.get(pair, ()), *waiting.get(pair, ())):
                price = self._price(found)
                if price is not None and above not in self._cost:
                    heapq.heappush(heap, (price, above, found))

    def _price(self, way: _Way) -> Cost | None:
        """What a way costs; None while something in it is not settled."""
        rest = self._cost.get(way.to)
        head: int | None = len(way.data)
        if way.rule is not None and way.rule[0] < 0:
            assert self.standard is not None
            head = self.standard.length(-1 - way.rule[0], way.rule[1])
        elif way.rule is not None:
            known = self._cost.get(way.rule)
            head = None if known is None else known[self._few_ticks]
        if rest is None or head is None:
            return None
        if self._few_ticks:
            return rest[0] + way.tick, rest[1] + head
        return rest[0] + head, rest[1] + way.tick

    def _ways(self) -> Iterator[tuple[Pair, _Way]]:
        for state, most in enumerate(self._most):
            for ticks in range(most + 1):
                for way in self._ways_of(state, ticks):
                    yield (state, ticks), way

    def _ways_of(self, state: int, ticks: int) -> Iterator[_Way]:
        frames = self._frames
        for to in frames.skips[state]:
            yield _Way(b"", None, 0, (to, ticks))
        for mask, to in frames.moves[state]:
            first = bytes([(mask & -mask).bit_length() - 1])
            yield _Way(first, None, 0, (to, ticks))
        for place in frames.texts.get(state, ()):
            yield _Way(self._literal(place), None, 0, (frames.goal[place], ticks))
        for to in frames.ticks.get(state, ()):
            yield _Way(b"", None, 1, (to, max(ticks - 1, 0)))
        for number, to in frames.calls.get(state, ()):
            letter = frames.letters[number]
            least = letter.window[0] if letter.window else 0
            entry = frames.entries[letter.rule] if letter.rule >= 0 else letter.rule
            yield _Way(b"", (entry, least), 0, (to, ticks))

    def _literal(self, place: int) -> bytes:
        frames = self._frames
        return bytes(frames.text[place : frames.last.index(1, place) + 1])

    def _walk(self, pair: Pair) -> bytes:
        """The text along the ways from a settled pair."""
        out = bytearray()
        todo = [pair]
        while todo:
            state, ticks = todo.pop()
            if state in (FINAL, COUNTED_FINAL):
                continue
            way = self._way[state, self._clamped(ticks)]
            out += way.data
            todo.append((way.to[0], max(ticks - way.tick, 0)))
            if way.rule is not None and way.rule[0] < 0:
                out += self._standard_text(way.rule)
            elif way.rule is not None:
                todo.append(way.rule)
        return bytes(out)

    def _standard_text(self, rule: Pair) -> bytes:
        assert self.standard is not None
        standard = self.standard
        if rule[1] > _MAX_PAIRS:
            self._too_long()
        return standard._walk((standard._frames.entries[-1 - rule[0]], rule[1]))

    def _too_long(self) -> NoReturn:
        raise LimitError(
            "the shortest output is too long to be worked out",
            what="bytes",
            limit=_MAX_PAIRS,
            hint="lower minLength and minItems",
        )
