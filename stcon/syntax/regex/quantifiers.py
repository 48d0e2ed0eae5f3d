"""Quantifiers: ``*``, ``+``, ``?`` and counts in braces, greedy or lazy."""

from __future__ import annotations

import re

from stcon.syntax.regex.budget import ROUNDS, Budget
from stcon.syntax.regex.cursor import Cursor

_SIMPLE = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_COUNTS = re.compile(r"\{([0-9]+)(,?)([0-9]*)\}")
_UP_TO = re.compile(r"\{,[0-9]+\}")


def read_quantifier(cursor: Cursor) -> tuple[int, int | None] | None:
    """The least and most rounds of the quantifier at the cursor, which is behind
    it then; None when the ``{`` here is an ordinary character."""
    offset = cursor.at
    bounds = _SIMPLE.get(cursor.char)
    if bounds is not None:
        cursor.at += 1
    else:
        bounds = _counts(cursor, offset)
        if bounds is None:
            return None
    if cursor.char == "+":
        raise cursor.error(
            "possessive quantifiers are not supported",
            offset,
            "leave out the second +, unless it matters: a look-ahead can say what "
            "must not follow",
        )
    cursor.skip("?")  # lazy: finds another match, never another text
    return bounds


def _counts(cursor: Cursor, offset: int) -> tuple[int, int | None] | None:
    found = cursor.take(_COUNTS)
    if not found:
        if _UP_TO.match(cursor.pattern, offset):
            raise cursor.error(
                "a count without its least: engines disagree on it",
                offset,
                r"write {0,m}, or \{ for the character",
            )
        return None
    if max(len(found[1]), len(found[3])) > len(str(ROUNDS.limit)):
        Budget().spend(ROUNDS, ROUNDS.limit + 1)
    least = int(found[1])
    most = int(found[3]) if found[3] else None if found[2] else least
    if most is not None and most < least:
        raise cursor.error("the counts of a repetition are out of order", offset)
    return least, most
