"""What can follow an opening parenthesis: kinds of groups, flags, comments."""

from __future__ import annotations

import re
from typing import NamedTuple

from stcon.syntax.regex.cursor import Cursor

GROUP, AHEAD, NOT_AHEAD, FLAGS, COMMENT = range(5)


class Flags(NamedTuple):
    """``(?i)``: characters match in either case.  ``(?s)``: the dot matches line
    ends too."""

    ignore_case: bool = False
    dot_all: bool = False


class Opening(NamedTuple):
    """The kind of a group and the flags inside it."""

    kind: int
    flags: Flags


_KINDS = {"(?:": GROUP, "(?=": AHEAD, "(?!": NOT_AHEAD}
_NAMED = re.compile(r"\(\?P?<([A-Za-z_$][A-Za-z0-9_$]*)>")
_COMMENT = re.compile(r"\(\?#[^)]*\)")
_FLAGS = re.compile(r"\(\?([A-Za-z]*)(-[A-Za-z]+)?([:)])")
_BACK = "look-behind is not supported"
_RECURSION = "recursion is not regular"
# the longest first
_REFUSED = (
    ("(?<=", _BACK, "write the text before as a part of the pattern"),
    ("(?<!", _BACK, "write what may stand before as a part of the pattern"),
    ("(?P=", "a backreference is not regular", "write the group out again"),
    ("(?P>", _RECURSION, "write the levels out, as many as needed"),
    ("(?&", _RECURSION, "write the levels out, as many as needed"),
    ("(?R", _RECURSION, "write the levels out, as many as needed"),
    ("(?P<", "a group needs a name of letters, digits and _", "write (?P<name>...)"),
    ("(?<", "a group needs a name of letters, digits and _", "write (?<name>...)"),
    ("(?>", "atomic groups are not supported", "write (?:...), unless it matters"),
    ("(?(", "conditionals are not supported", "write both cases as alternatives"),
    ("(?|", "branch reset groups are not supported", "write (?:...)"),
    ("(?#", "a comment without its closing parenthesis", ""),
)
_FLAG_HINTS = {
    "m": r"write (?:^|[\s\S]*\n) and (?:$|\n[\s\S]*) for the ends of lines",
    "x": "take out the blanks and comments",
    "a": r"leave it out: \d and \w are ASCII",
    "u": r"leave it out: \d and \w are ASCII, \p{L} and \p{Nd} are not",
    "L": "leave it out",
}


def read_opening(cursor: Cursor, flags: Flags) -> Opening:
    """What the parenthesis at the cursor opens; the cursor is behind it, and
    behind all of flags or of a comment."""
    offset = cursor.at
    kind = _KINDS.get(cursor.pattern[offset : offset + 3])
    if kind is not None:
        cursor.at += 3
        return Opening(kind, flags)
    if not cursor.starts("(?"):
        cursor.at += 1
        return Opening(GROUP, flags)
    if cursor.take(_NAMED):
        return Opening(GROUP, flags)
    if cursor.take(_COMMENT):
        return Opening(COMMENT, flags)
    for prefix, message, hint in _REFUSED:
        if cursor.starts(prefix):
            raise cursor.error(message, offset, hint)
    return _flags(cursor, offset, flags)


def _flags(cursor: Cursor, offset: int, flags: Flags) -> Opening:
    """``(?is-i:`` opens a group with other flags, ``(?is)`` sets those of all."""
    found = cursor.take(_FLAGS)
    if not found or not (found[1] or found[2]):
        raise cursor.error(
            "unknown kind of group", offset, r"write (?:...), or \( for the character"
        )
    on, off = found[1], found[2] or "-"
    for letter in on + off[1:]:
        if letter not in "is":
            hint = _FLAG_HINTS.get(letter, "the flags are i and s")
            raise cursor.error(f"the flag {letter} is not supported", offset, hint)
    if found[3] == ")" and found[2]:
        raise cursor.error("flags off for the rest", offset, "write (?-i:...)")
    flags = Flags(
        (flags.ignore_case or "i" in on) and "i" not in off,
        (flags.dot_all or "s" in on) and "s" not in off,
    )
    return Opening(FLAGS if found[3] == ")" else GROUP, flags)
