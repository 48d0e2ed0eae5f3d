"""The tokens of Lark's grammar language, with their places."""

from __future__ import annotations

import re
from typing import NamedTuple

from stcon.errors import GrammarError

_TOKEN = re.compile(
    r"""
    (?P<space>(?:[ \t\r\n]|//[^\n]*|\#[^\n]*)+)
  | (?P<string>"(?:[^"\\\n]|\\.)*"i?)
  | (?P<regex>/(?![/*])(?:[^/\\\n]|\\.)+/[a-zA-Z]*)
  | (?P<name>_{0,2}[A-Za-z][A-Za-z0-9_]*)
  | (?P<directive>%[a-z]+)
  | (?P<number>-?[0-9]+)
  | (?P<special><[^>\n]*>)
  | (?P<sign>->|\.\.|[|:()\[\]{}?*+~,.!])
    """,
    re.VERBOSE,
)
_OPEN = {'"': "this text is not closed", "/": "this regex is not closed"}


class Token(NamedTuple):
    """``kind``: string, regex, name, directive, number, special, sign or end;
    ``first``: whether it is the first on its line."""

    kind: str
    text: str
    offset: int
    first: bool


def read_tokens(text: str) -> list[Token]:
    """The tokens of ``text``, the last of the kind ``end``.

    Raises GrammarError.
    """
    found: list[Token] = []
    at, first = 0, True
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            why = _OPEN.get(text[at], f"{text[at]!r} is not known here")
            raise GrammarError(why, text=text, offset=at)
        kind = match.lastgroup or ""
        if kind == "space":
            first = first or "\n" in match[0]
        else:
            found.append(Token(kind, match[0], at, first))
            first = False
        at = match.end()
    found.append(Token("end", "", len(text), True))
    return found
