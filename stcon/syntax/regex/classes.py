"""Character classes: what stands between brackets, as one set.

Cost: linear in the text; the set itself is sorted once.
"""

from __future__ import annotations

import re

from stcon.syntax.charset import CharSet
from stcon.syntax.regex.cursor import Cursor
from stcon.syntax.regex.escapes import one_character, read_escape
from stcon.syntax.regex.unicode import folded

_POSIX = re.compile(r"\[[:.=]\^?[A-Za-z]+[:.=]\]")
_DASH = re.compile(r"-(?!\]|\Z)")  # a dash that is not the last of its class
_BACKSPACE = 8


def read_class(cursor: Cursor, ignore_case: bool) -> CharSet:
    """The set of the class at the cursor."""
    return _Class(cursor, ignore_case).read()


class _Class:
    """Reads one class: ``ranges`` of written characters, and escaped ``sets``."""

    def __init__(self, cursor: Cursor, ignore_case: bool) -> None:
        self._cursor = cursor
        self._ignore_case = ignore_case
        self._start = cursor.at
        self._ranges: list[tuple[int, int]] = []
        self._sets: list[CharSet] = []

    def read(self) -> CharSet:
        """The set, the cursor behind its bracket."""
        cursor = self._cursor
        cursor.at += 1
        negated = cursor.skip("^")
        if cursor.char == "]":
            raise cursor.error(
                "a class begins with ], which ends it or is in it, by engine",
                self._start,
                r"write \] for the character, [\s\S] for any, (?!) for none",
            )
        while not cursor.skip("]"):
            self._item()
        charset = CharSet.of(*self._ranges)
        if self._ignore_case:
            charset = folded(charset)
        ranges = (pair for part in self._sets for pair in part.ranges)
        charset = CharSet.of(*charset.ranges, *ranges)
        return ~charset if negated else charset

    def _item(self) -> None:
        """Takes a character, a set, or a range of characters.

        Next to a set a dash is a character, as in ``[\\w-.]``.
        """
        cursor, offset = self._cursor, self._cursor.at
        first = self._member()
        if not cursor.take(_DASH):
            self._add(first)
            return
        last = self._member()
        if isinstance(first, int) and isinstance(last, int):
            if first > last:
                raise cursor.error("a range that runs backwards", offset)
            self._ranges.append((first, last))
            return
        if _DASH.match(cursor.pattern, cursor.at):
            raise cursor.error(
                "a range next to a set and a dash", offset, r"write the dash as \-"
            )
        self._add(first)
        self._add(ord("-"))
        self._add(last)

    def _add(self, member: int | CharSet) -> None:
        if isinstance(member, int):
            self._ranges.append((member, member))
        else:
            self._sets.append(member)

    def _member(self) -> int | CharSet:
        """One character or set, behind the cursor now."""
        cursor, offset = self._cursor, self._cursor.at
        char = cursor.char
        if char == "\\":
            if cursor.skip("\\b"):
                return _BACKSPACE
            return read_escape(cursor, self._ignore_case)
        if not char:
            raise cursor.error(
                "a class without its closing bracket",
                self._start,
                r"write \[ for the character",
            )
        if char == "[" and (posix := _POSIX.match(cursor.pattern, offset)):
            raise cursor.error(
                f"POSIX classes such as {posix[0]} are not supported",
                offset,
                r"write \d, \w, \s or \p{...}",
            )
        cursor.at += 1
        return one_character(cursor, char, offset)
