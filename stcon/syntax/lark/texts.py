"""Texts, ranges and regexes of a Lark grammar to expressions."""

from __future__ import annotations

import re

from stcon.errors import RegexError
from stcon.syntax import rules as r
from stcon.syntax.charset import CharSet
from stcon.syntax.encode import encode, utf8
from stcon.syntax.regex import parse_regex
from stcon.syntax.rules import Expr

_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.S)
_ESCAPES = {
    **{"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0"},
    **{c: c for c in "\\\"'/ "},
}


class Unreadable(Exception):
    """What a token is not; ``at``: the character of the token that is to blame."""

    def __init__(self, message: str, at: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.hint = hint


def text_expr(written: str) -> Expr:
    """A text in quotes, with ``i`` after them in any mixture of small and capital
    letters.  Raises Unreadable."""
    text = _unescaped(written)
    return _insensitive(text) if written.endswith("i") else r.literal(text)


def range_expr(first: str, last: str) -> Expr:
    """One character from ``first`` to ``last``, both in quotes.  Raises Unreadable."""
    ends = [_unescaped(first), _unescaped(last)]
    if any(len(end) != 1 for end in ends) or ends[0] > ends[1]:
        raise Unreadable("a range goes from one character to a later one")
    return utf8(CharSet.of((ord(ends[0]), ord(ends[1]))))


def regex_expr(written: str) -> Expr:
    """A pattern between slashes, with flags after them.  Raises Unreadable."""
    inside, flags = written[1:].rsplit("/", 1)
    flags = flags.replace("u", "")
    if set(flags) - set("is"):
        raise Unreadable(
            "of the flags of a regex i, s and u are known",
            hint="for m write \\n, for x leave the blanks and comments out",
        )
    opening, closing = (f"(?{flags}:", ")") if flags else ("", "")
    pattern = inside.replace("\\/", "/")
    try:
        return encode(parse_regex(opening + pattern + closing, mode="part"), utf8)
    except RegexError as error:
        reason = error.message.splitlines()[0]
        reason = reason.removesuffix(f" at offset {error.offset}")
        at = min(max(error.offset - len(opening), 0), len(pattern))
        at += inside[: at + 1].count("\\/")
        raise Unreadable(f"in this regex: {reason}", 1 + at, error.hint) from error


def _unescaped(written: str) -> str:
    def one(found: re.Match[str]) -> str:
        kind = found[0][1]
        if kind in "xuU" and len(found[0]) > 2:
            return _by_number(int(found[0][2:], 16))
        if kind not in _ESCAPES:
            raise Unreadable(f"\\{kind} is not known in a text")
        return _ESCAPES[kind]

    for at, char in enumerate(written):
        if 0xD800 <= ord(char) <= 0xDFFF:
            raise Unreadable(f"U+{ord(char):04X} is no character", at)
    return _ESCAPE.sub(one, written.removesuffix("i")[1:-1])


def _by_number(code: int) -> str:
    if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        raise Unreadable(f"U+{code:04X} is no character")
    return chr(code)


def _insensitive(text: str) -> Expr:
    return r.concat(
        *(
            utf8(CharSet.of(*(c for c in {char.lower(), char.upper()} if len(c) == 1)))
            for char in text
        )
    )
