"""Matchers of another engine, which change, behind places, which do not.

A place is the classes of the tokens before it.  A logits processor is asked about
places in any order: rows of a batch take turns, speculative decoding jumps back.  A
matcher that is at the place before goes on; one that has gone further is copied, and
the copy taken back; where none has been, a new one reads all tokens again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from stcon.errors import EngineError

_MOST = 256


class Place:
    """A place in an output, after a token of the class ``kind``.

    ``mask``: the packed mask there, None before it is asked for.
    """

    __slots__ = ("before", "depth", "kind", "mask", "reader")

    def __init__(self, before: Place | None = None, kind: int = -1) -> None:
        """The start, or the place after ``before`` and a token of class ``kind``."""
        self.before = before
        self.kind = kind
        self.depth: int = before.depth + 1 if before else 0
        self.mask: bytes | None = None
        self.reader: _Reader | None = None

    def kinds(self) -> list[int]:
        """The classes of all tokens before this place, in order."""
        found = [place.kind for place in self._backwards()]
        return found[::-1]

    def _backwards(self) -> Iterator[Place]:
        place = self
        while place.before is not None:
            yield place
            place = place.before


class _Reader:
    """A matcher, and the place it is at; None once it is dropped."""

    def __init__(self, matcher: Any, at: Place) -> None:
        self.matcher = matcher
        self.at = at


class Matchers:
    """The matchers of one grammar, at most ``most``; the longest unused go first."""

    def __init__(self, make: Callable[[], Any], most: int = _MOST) -> None:
        """``make``: a new matcher, with ``accept_token``, ``fork`` and ``rollback``
        as XGrammar's."""
        self._make = make
        self._most = most
        self._readers: OrderedDict[_Reader, None] = OrderedDict()

    def __len__(self) -> int:
        """How many there are."""
        return len(self._readers)

    def at(self, place: Place) -> Any:
        """A matcher that has read the tokens before ``place``; good until the next
        call.

        Raises EngineError when the engine refuses one, though its mask let it through.
        """
        ahead: list[Place] = []
        known = place
        while known.reader is None or known.reader.matcher is None:
            if known.before is None:
                known.reader = _Reader(self._make(), known)
                break
            ahead.append(known)
            known = known.before
        reader = self._standing_at(known)
        for following in reversed(ahead):
            if not reader.matcher.accept_token(following.kind):
                self._drop(reader)
                raise EngineError(
                    "the engine refused a token that its mask let through"
                )
            reader.at = following
            following.reader = reader
        self._use(reader)
        return reader.matcher

    def _standing_at(self, place: Place) -> _Reader:
        """A reader that is at ``place``, where one has been."""
        reader = place.reader
        assert reader is not None
        if reader.at is place:
            return reader
        if place.before is None:
            matcher = self._make()
        else:
            matcher = reader.matcher.fork()
            matcher.rollback(reader.at.depth - place.depth)
        place.reader = _Reader(matcher, place)
        return place.reader

    def _use(self, reader: _Reader) -> None:
        self._readers[reader] = None
        self._readers.move_to_end(reader)
        while len(self._readers) > self._most:
            self._drop(next(iter(self._readers)))

    def _drop(self, reader: _Reader) -> None:
        self._readers.pop(reader, None)
        reader.matcher = None
