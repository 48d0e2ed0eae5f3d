"""Shortest texts from the states of a pushdown to the end of their rules.

Knuth's generalisation of Dijkstra's algorithm (1977) over pairs of a frame state
and a number of ticks still to come: pairs are settled in order of length, only as
far as what is asked for.  A pair is settled by what is read before a settled pair,
or by a call whose rule and return pair are both settled.  A text that is too long
to be written, or to be found, is a LimitError.
"""

from __future__ import annotations

import heapq
import math
import threading
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from stcon.errors import LimitError
from stcon.machines.edges import (
    IN_BYTES,
    NO_LETTER,
    Edge,
    Measure,
    edges_of,
    literal,
)
from stcon.machines.lazy import members
from stcon.machines.windows import COUNTED_FINAL, FINAL, within

if TYPE_CHECKING:
    from stcon.machines.frames import Window
    from stcon.machines.lazy import States

Pair = tuple[int, int]
Cost = tuple[int, int]
"""(length, ticks); the length in bytes, or in other units."""

_MAX_PAIRS = 1 << 17
"""Pairs settled with ticks to come; 15 µs each."""
_LONGEST = 1 << 20
_ENOUGH = 1
"""Ticks after which a standard rule repeats itself: each costs a byte."""


_Option = tuple[int, bytes, int, int]
"""(length, what is left of a literal, the frame state after it, ticks)."""


class _Way(NamedTuple):
    """An edge and the pair it leads to."""

    edge: Edge
    to: Pair


class Shortest:
    """The shortest texts of the states of one machine.

    Safe among threads.
    """

    def __init__(
        self,
        states: States,
        repeats: bool = False,
        few_ticks: bool = False,
        measure: Measure = IN_BYTES,
    ) -> None:
        """``repeats``: whether these are the standard rules.  ``few_ticks``: only
        ways of the fewest ticks are taken."""
        self._measure = measure
        self._states = states
        self._frames = states.frames
        self._repeats = repeats
        self._few_ticks = few_ticks
        self.standard = (
            Shortest(states.standard, True, False, measure) if states.standard else None
        )
        self._cost: dict[Pair, Cost] = {}
        self._way: dict[Pair, _Way] = {}
        self._ticks_at: dict[int, list[int]] = {}
        self._left = _MAX_PAIRS
        self._lock = threading.RLock()
        self._most = self._find_most()
        self._into, self._letters_at = self._find_edges()
        self._heads: dict[int, int] = {}
        self._heap: list[tuple[Cost, Pair, _Way]] = []
        for final in (FINAL, COUNTED_FINAL):
            edge = Edge(final, b"", 0, NO_LETTER, 0, final)
            self._heap.append(((0, 0), (final, 0), _Way(edge, (final, 0))))
        while repeats and self._settle(math.inf) is not None:
            pass  # few, and a text of many ticks goes through all

    @cached_property
    def _fewest(self) -> Shortest:
        return Shortest(self._states, self._repeats, True, self._measure)

    def text(self, state: int, window: Window | None) -> bytes:
        """A shortest text to the end of the rule of ``state`` within ``window``; if
        that would take too many ticks, a shortest of those with the fewest.

        Raises LimitError when it is too long to be found.
        """
        if state < self._states.first:
            assert self.standard is not None
            return self.standard.text(state, window)
        owner, (_, head, at, _) = self._best(state, window)
        edges = owner._walk((at, window[0] if window else 0))
        return head + b"".join(edge.data for edge in edges)

    def choices(self, state: int, window: Window | None) -> tuple[bytes, ...]:
        """The bytes that may stand at each place of ``text(state, window)``."""
        if state < self._states.first:
            assert self.standard is not None
            return self.standard.choices(state, window)
        owner, (_, head, at, _) = self._best(state, window)
        found = [bytes([byte]) for byte in head]
        for edge in owner._walk((at, window[0] if window else 0)):
            if edge.mask:
                found.append(bytes(members(edge.mask)))
            else:
                found += [bytes([byte]) for byte in edge.data]
        return tuple(found)

    def measured(self, state: int, window: Window | None) -> int:
        """The length of ``text(state, window)``.

        Raises LimitError when it is too long to be found.
        """
        if state < self._states.first:
            assert self.standard is not None
            return self.standard.measured(state, window)
        return self._best(state, window)[1][0]

    def _best(self, state: int, window: Window | None) -> tuple[Shortest, _Option]:
        """The best option, and where it is from."""
        least, most = window or (0, 0)
        if least > _LONGEST:
            self._too_long()
        with self._lock:
            options = self._options(self._states.node(state).subset, least)
        if not options:
            self._too_long()
        if self._few_ticks:
            best = min(options, key=lambda option: (option[3], *option[:3]))
        else:
            best = min(options)
            if window is not None and best[3] > most:
                return self._fewest._best(state, window)
        if best[0] > _LONGEST:
            self._too_long()
        return self, best

    def _options(self, subset: tuple[int, ...], least: int) -> list[_Option]:
        """(length, literal read first, state after it, ticks) of the members of a
        state, the best among them."""
        heads = self._heads_of(subset, least)
        shortest = min((size for size, _ in heads.values()), default=0)
        fewest = min(map(self._need, heads), default=0) if self._few_ticks else None
        found: list[_Option] = []
        best = math.inf
        todo: list[Pair] = [pair for pair in heads if pair in self._cost]
        while len(found) < len(heads):
            for pair in todo:
                size, head = heads[pair]
                length, ticks = self._cost_of((pair[0], least))
                found.append((size + length, head, pair[0], ticks))
                if fewest is None or ticks == fewest:
                    best = min(best, size + length)
            after = self._settle(best - shortest) if len(found) < len(heads) else None
            if after is None:
                break
            todo = [after] if after in heads else []
        return found

    def _heads_of(
        self, subset: tuple[int, ...], least: int
    ) -> dict[Pair, tuple[int, bytes]]:
        """Per pair that a member of a state leads to, the shortest literal read
        first, and its length."""
        heads: dict[Pair, tuple[int, bytes]] = {}
        for state in subset:
            head, at = (b"", state) if state >= 0 else self._rest(-1 - state)
            pair, option = (
                (at, self._clamped(least)),
                (self._measure.length(head), head),
            )
            heads[pair] = min(option, heads.get(pair, option))
        return heads

    def _rest(self, place: int) -> tuple[bytes, int]:
        """What is left of a literal, and the state after it."""
        return literal(self._frames, place), self._frames.goal[place]

    def length(self, rule: int, ticks: int) -> int | None:
        """The length of the shortest text of a rule of at least ``ticks``."""
        entry = (self._frames.entries[rule], ticks)
        with self._lock:
            while (entry[0], self._clamped(ticks)) not in self._cost:
                if self._settle(math.inf) is None:
                    return None
        return self._cost_of(entry)[0]

    def _cost_of(self, pair: Pair) -> Cost:
        """The cost of a settled pair."""
        state, ticks = pair
        kept = self._clamped(ticks)
        length, taken = self._cost[state, kept]
        return length + ticks - kept, taken + ticks - kept

    def _clamped(self, ticks: int) -> int:
        """Ticks as far as they are told apart."""
        return min(ticks, _ENOUGH) if self._repeats else ticks

    def _find_most(self) -> list[int]:
        """The most ticks that any window asks of each state."""
        most = [0] * len(self._frames.skips)
        asked: dict[int, int] = {}
        for letter in self._frames.letters:
            if letter.rule >= 0 and letter.window is not None:
                entry, least = self._frames.entries[letter.rule], letter.window[0]
                asked[entry] = max(asked.get(entry, 0), least)
        for entry, least in asked.items():
            for state in within(self._frames, entry) if entry >= 0 and least else ():
                most[state] = max(most[state], least)
        if self._repeats:
            for state in self._frames.need:
                most[state] = _ENOUGH
        return most

    def _find_edges(self) -> tuple[list[list[Edge]], dict[Pair, list[int]]]:
        """Per state the edges into it; per pair the letters that call it."""
        into: list[list[Edge]] = [[] for _ in self._frames.skips]
        called: set[int] = set()
        for state in range(len(into)):
            for edge in edges_of(self._frames, state, self._measure):
                into[edge.to].append(edge)
                if edge.letter != NO_LETTER:
                    called.add(edge.letter)
        letters_at: dict[Pair, list[int]] = {}
        for number in sorted(called):
            letter = self._frames.letters[number]
            if letter.rule >= 0:
                least = letter.window[0] if letter.window else 0
                entry = (self._frames.entries[letter.rule], least)
                letters_at.setdefault(entry, []).append(number)
        return into, letters_at

    def _settle(self, below: float) -> Pair | None:
        """One more pair that is settled, shorter than ``below``; None for none."""
        heap = self._heap
        while heap and heap[0][1] in self._cost:
            heapq.heappop(heap)
        if not heap or heap[0][0][0] >= below:
            return None
        cost, pair, way = heapq.heappop(heap)
        state, ticks = pair
        if ticks > 0:
            self._left -= 1
            if self._left < 0:
                self._left = 0
                self._too_long()
        self._cost[pair], self._way[pair] = cost, way
        self._ticks_at.setdefault(state, []).append(ticks)
        for edge in self._into[state]:
            self._push(edge, ticks)
        for number in self._letters_at.get(pair, ()):
            self._open(number, cost)
        return pair

    def _open(self, number: int, cost: Cost) -> None:
        """Nothing; the letter of this number may be called from now on."""
        letter = self._frames.letters[number]
        length: int | None = cost[0]
        if letter.window is not None and cost[1] > letter.window[1]:
            length = self._fewest.length(letter.rule, letter.window[0])
        if length is None:
            return
        self._heads[number] = length
        for edge in self._calls_of[number]:
            for ticks in self._ticks_at.get(edge.to, ()):
                self._push(edge, ticks)

    @cached_property
    def _calls_of(self) -> dict[int, list[Edge]]:
        """Per letter the edges that call it."""
        calls: dict[int, list[Edge]] = {}
        for edges in self._into:
            for edge in edges:
                if edge.letter != NO_LETTER:
                    calls.setdefault(edge.letter, []).append(edge)
        return calls

    def _push(self, edge: Edge, ticks: int) -> None:
        """Nothing; ``edge`` leads to a settled pair of ``ticks``."""
        head = edge.length if edge.letter == NO_LETTER else self._head(edge.letter)
        if head is None:
            return
        length, taken = self._cost[edge.to, ticks]
        cost = length + head, taken + edge.tick
        before = ticks + edge.tick
        wanted = (before, 0) if edge.tick and ticks == 0 else (before,)
        for number in wanted:
            pair = (edge.state, number)
            if number <= self._most[edge.state] and pair not in self._cost:
                if self._few_ticks and cost[1] > self._need(pair):
                    continue
                heapq.heappush(self._heap, (cost, pair, _Way(edge, (edge.to, ticks))))

    def _need(self, pair: Pair) -> int:
        """The fewest ticks from a pair on; where ticks are asked for, every number
        from the need of the state on can be met."""
        return max(self._frames.need.get(pair[0], 0), pair[1])

    def _head(self, number: int) -> int | None:
        """The length of the text of a letter; None while unknown."""
        letter = self._frames.letters[number]
        if letter.rule >= 0:
            return self._heads.get(number)
        known = self._heads.get(number)
        if known is None:
            assert self.standard is not None
            least = letter.window[0] if letter.window else 0
            known = self.standard.length(-1 - letter.rule, least)
            if known is not None:
                self._heads[number] = known
        return known

    def _walk(self, pair: Pair) -> list[Edge]:
        """The edges with bytes along the ways from a settled pair."""
        out: list[Edge] = []
        todo = [pair]
        while todo:
            state, ticks = todo.pop()
            if state in (FINAL, COUNTED_FINAL):
                continue
            edge = self._way[state, self._clamped(ticks)].edge
            if edge.data:
                out.append(edge)
            todo.append((edge.to, max(ticks - edge.tick, 0)))
            if edge.letter != NO_LETTER:
                todo += self._called(edge.letter, out)
        return out

    def _called(self, number: int, out: list[Edge]) -> list[Pair]:
        """The pair from which the text of a letter goes on, or none: then it has
        been added to ``out``."""
        letter = self._frames.letters[number]
        least, most = letter.window or (0, math.inf)
        if letter.rule < 0:
            assert self.standard is not None
            standard = self.standard
            entry = standard._frames.entries[-1 - letter.rule]
            out += standard._walk((entry, least))
            return []
        pair = (self._frames.entries[letter.rule], least)
        if self._cost[pair][1] > most:
            out += self._fewest._walk(pair)
            return []
        return [pair]

    def _too_long(self) -> NoReturn:
        raise LimitError(
            "the shortest output is too long to be worked out",
            what="bytes",
            limit=_LONGEST,
            hint="lower minLength and minItems",
        )
