"""Earley's parser (1970), slow and plain: the oracle for grammars.

A grammar is productions: a name, and the symbols it stands for; a symbol is a name or
one byte.  Nothing is shared with the machines: no automata, no stacks.  Names that
match nothing are passed at once (Aycock and Horspool 2002).
"""

from __future__ import annotations

from collections.abc import Iterator

Symbol = str | bytes
Productions = dict[str, list[tuple[Symbol, ...]]]
Item = tuple[str, tuple[Symbol, ...], int, int]


class Earley:
    """Reads texts by the ``productions`` of a grammar, from ``start`` on."""

    def __init__(self, productions: Productions, start: str) -> None:
        self.start = start
        self.productions = _productive(productions)
        self.nullable = _nullable(self.productions)

    def accepts(self, text: bytes) -> bool:
        """Whether ``text`` is in the language."""
        last = self._sets(text)[-1]
        return any(
            name == self.start and at == len(body) and origin == 0
            for name, body, at, origin in last
        )

    def begins(self, text: bytes) -> bool:
        """Whether ``text`` is the beginning of something in the language."""
        return bool(self._sets(text)[-1])

    def _sets(self, text: bytes) -> list[set[Item]]:
        first = {(self.start, body, 0, 0) for body in self.productions[self.start]}
        sets = [self._closed(first, [], 0)]
        for place in range(len(text)):
            byte = text[place : place + 1]
            read = {
                (name, body, at + 1, origin)
                for name, body, at, origin in sets[-1]
                if at < len(body) and body[at] == byte
            }
            sets.append(self._closed(read, sets, place + 1))
        return sets

    def _closed(self, items: set[Item], before: list[set[Item]], now: int) -> set[Item]:
        while True:
            found = set(items)
            for item in items:
                found.update(self._follow(item, items, before, now))
            if found == items:
                return items
            items = found

    def _follow(
        self, item: Item, items: set[Item], before: list[set[Item]], now: int
    ) -> Iterator[Item]:
        name, body, at, origin = item
        if at == len(body):
            waiting = items if origin == now else before[origin]
            for other, symbols, place, start in waiting:
                if place < len(symbols) and symbols[place] == name:
                    yield other, symbols, place + 1, start
            return
        wanted = body[at]
        if isinstance(wanted, str):
            for after in self.productions[wanted]:
                yield wanted, after, 0, now
            if wanted in self.nullable:
                yield name, body, at + 1, origin


def _productive(productions: Productions) -> Productions:
    """Without productions that lead to no text; names stay."""
    known: set[str] = set()
    while True:
        found = {
            name
            for name, bodies in productions.items()
            if any(all(isinstance(s, bytes) or s in known for s in b) for b in bodies)
        }
        if found == known:
            break
        known = found
    return {
        name: [b for b in bodies if all(isinstance(s, bytes) or s in known for s in b)]
        for name, bodies in productions.items()
    }


def _nullable(productions: Productions) -> set[str]:
    known: set[str] = set()
    while True:
        found = {
            name
            for name, bodies in productions.items()
            if any(all(s in known for s in body) for body in bodies)
        }
        if found == known:
            return known
        known = found
