"""Patterns to terms: one pass from left to right, a stack of open groups.

Each special character is a row of a table, runs of ordinary characters are taken
at once, and nothing recurses in Python.  The dialect: docs/regex.md.

Cost: about 0.5 µs a character and 10 µs a class or group.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from stcon.errors import RegexError
from stcon.syntax import rules as r
from stcon.syntax.charset import ANY, CharSet
from stcon.syntax.regex.assertions import (
    BOUNDARY,
    END,
    NO_BOUNDARY,
    START,
    Guarded,
    has_boundary,
    repeated,
)
from stcon.syntax.regex.budget import (
    ANCHORS,
    BOUNDARIES,
    CHARACTERS,
    COPIES,
    LOOKS,
    RANGES,
    Budget,
)
from stcon.syntax.regex.classes import read_class
from stcon.syntax.regex.cursor import Cursor
from stcon.syntax.regex.escapes import one_character, read_escape
from stcon.syntax.regex.groups import (
    AHEAD,
    COMMENT,
    FLAGS,
    GROUP,
    Flags,
    read_opening,
)
from stcon.syntax.regex.lookahead import Look, Term, choice, depth, sequence, size
from stcon.syntax.regex.quantifiers import read_quantifier
from stcon.syntax.regex.sets import LINE_ENDS
from stcon.syntax.regex.unicode import folded
from stcon.syntax.rules import Expr

MAX_DEPTH = 250
MAX_LOOK_DEPTH = 50

_ORDINARY = re.compile(r"[^\\^$.|?*+()\[{]+")
_ASSERTIONS = {
    "^": START,
    "$": END,
    r"\A": START,
    r"\Z": END,
    r"\z": END,
    r"\b": BOUNDARY,
    r"\B": NO_BOUNDARY,
}
# What stands before a quantifier.
_NONE, _ITEM, _REPEATED, _ASSERTION = range(4)


@dataclass(slots=True)
class _Group:
    """An open group: finished branches, the one under way, what it is."""

    offset: int
    kind: int
    flags: Flags
    branches: list[Term] = field(default_factory=list)
    parts: list[Term] = field(default_factory=list)


class Parser:
    """Parses one pattern; made new for each."""

    def __init__(self, pattern: str) -> None:
        self._budget = Budget()
        self._budget.spend(CHARACTERS, len(pattern))
        self._cursor = Cursor(pattern)
        self._open = [_Group(0, GROUP, Flags())]
        self._before = _NONE
        self._flags_end = 0
        self._characters: dict[tuple[str, bool], Expr] = {}
        self.assertions: list[int] = []  # where they stand, for errors

    def parse(self) -> Term:
        """The term of the whole pattern."""
        while self._cursor.char:
            _READERS.get(self._cursor.char, Parser._characters_here)(self)
        group = self._open[-1]
        if len(self._open) > 1:
            raise self._cursor.error(
                "a group without its closing parenthesis",
                group.offset,
                r"write \( for the character",
            )
        return self._closed(group)

    def _add(self, term: Term, before: int = _ITEM) -> None:
        self._open[-1].parts.append(term)
        self._before = before

    def _characters_here(self) -> None:
        """Takes ordinary characters, or the special one here as ordinary."""
        cursor, offset = self._cursor, self._cursor.at
        found = cursor.take(_ORDINARY)
        text = found[0] if found else cursor.char
        cursor.at = offset + len(text)
        for place, char in enumerate(text, offset):
            self._add(self._character(char, place))

    def _character(self, char: str, offset: int) -> Expr:
        """One character, in either case if so flagged; equal ones are one node."""
        key = char, self._open[-1].flags.ignore_case
        known = self._characters.get(key)
        if known is None:
            point = one_character(self._cursor, char, offset)
            known = self._characters[key] = self._one_of(CharSet.of(point))
        return known

    def _one_of(self, charset: CharSet) -> Expr:
        fold = self._open[-1].flags.ignore_case
        return r.chars(folded(charset) if fold else charset)

    def _dot(self) -> None:
        self._cursor.at += 1
        all_of = ANY if self._open[-1].flags.dot_all else ANY - LINE_ENDS
        self._add(r.chars(all_of))

    def _class(self) -> None:
        charset = read_class(self._cursor, self._open[-1].flags.ignore_case)
        self._budget.spend(RANGES, len(charset.ranges))
        self._add(r.chars(charset))

    def _escape(self) -> None:
        if self._cursor.pattern[self._cursor.at : self._cursor.at + 2] in _ASSERTIONS:
            self._assertion(2)
            return
        meant = read_escape(self._cursor, self._open[-1].flags.ignore_case)
        if isinstance(meant, CharSet):
            self._add(r.chars(meant))
        else:
            self._add(self._one_of(CharSet.of(meant)))

    def _assertion(self, length: int = 1) -> None:
        cursor, offset = self._cursor, self._cursor.at
        cursor.at += length
        term = _ASSERTIONS[cursor.pattern[offset : cursor.at]]
        self.assertions.append(offset)
        self._budget.spend(BOUNDARIES if has_boundary(term) else ANCHORS)
        self._add(term, _ASSERTION)

    def _bar(self) -> None:
        self._cursor.at += 1
        group = self._open[-1]
        self._end_branch(group)
        self._before = _NONE

    def _parenthesis(self) -> None:
        cursor, group = self._cursor, self._open[-1]
        offset = cursor.at
        kind, flags = read_opening(cursor, group.flags)
        if kind == COMMENT:
            return
        if kind == FLAGS:
            if offset != self._flags_end:
                raise cursor.error(
                    "flags in the middle of a pattern",
                    offset,
                    "write them at its start, or (?i:...) around a part",
                )
            group.flags = flags
            self._flags_end = cursor.at
            return
        if len(self._open) > MAX_DEPTH:
            raise cursor.error(
                f"groups nested too deeply, more than {MAX_DEPTH} levels", offset
            )
        self._open.append(_Group(offset, kind, flags))
        self._before = _NONE

    def _close(self) -> None:
        cursor, group = self._cursor, self._open[-1]
        if len(self._open) == 1:
            raise cursor.error(
                "a closing parenthesis without a group",
                cursor.at,
                r"write \) for the character",
            )
        cursor.at += 1
        self._open.pop()
        term = self._closed(group)
        if group.kind == GROUP:
            self._add(term)
            return
        self._budget.spend(LOOKS)
        self.assertions.append(group.offset)
        self._add(Look(term, wanted=group.kind == AHEAD), _ASSERTION)

    def _end_branch(self, group: _Group) -> None:
        self._budget.spend(COPIES, sum(map(size, group.parts)))
        group.branches.append(sequence(group.parts))
        group.parts = []

    def _closed(self, group: _Group) -> Term:
        """The term of a finished group."""
        self._end_branch(group)
        self._budget.spend(COPIES, sum(map(size, group.branches)))
        term = choice(group.branches)
        if depth(term) > MAX_LOOK_DEPTH:
            raise self._cursor.error(
                f"look-aheads nested too deeply, more than {MAX_LOOK_DEPTH} levels",
                group.offset,
            )
        return term

    def _quantifier(self) -> None:
        cursor, offset = self._cursor, self._cursor.at
        bounds = read_quantifier(cursor)
        if bounds is None:
            self._characters_here()
            return
        if self._before != _ITEM:
            raise self._nothing_to_repeat(offset)
        parts = self._open[-1].parts
        parts[-1] = self._repeated(parts[-1], *bounds, offset)
        self._before = _REPEATED

    def _nothing_to_repeat(self, offset: int) -> RegexError:
        written = self._cursor.pattern[offset : self._cursor.at]
        message, hint = _NOT_REPEATABLE[self._before]
        return self._cursor.error(f"{written} {message}", offset, hint)

    def _repeated(self, item: Term, least: int, most: int | None, offset: int) -> Term:
        if isinstance(item, Expr):
            return r.repeat(item, least, most)
        if most == 0:
            return r.EPSILON
        if most == 1:
            return item if least else choice([r.EPSILON, item])
        if isinstance(item, Guarded) and not has_boundary(item):
            return repeated(item, least, most)
        raise self._cursor.error(
            "a look-ahead or a word boundary inside a repetition is not supported",
            offset,
            "write the rounds out, or move it out of the repetition",
        )


_NOT_REPEATABLE = {
    _NONE: ("has nothing to repeat", "write a backslash before it for the character"),
    _REPEATED: ("repeats a repetition", "put the inner one in a group, (?:...)"),
    _ASSERTION: ("repeats an assertion, which matches no text", "leave it out"),
}
_READERS: Mapping[str, Callable[[Parser], None]] = {
    "\\": Parser._escape,
    "^": Parser._assertion,
    "$": Parser._assertion,
    ".": Parser._dot,
    "[": Parser._class,
    "(": Parser._parenthesis,
    ")": Parser._close,
    "|": Parser._bar,
    **dict.fromkeys("*+?{", Parser._quantifier),
}
