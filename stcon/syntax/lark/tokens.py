"""The tokens of Lark's grammar language, with their places."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from stcon.errors import GrammarError

_TOKEN = re.compile(
    r"""
    (?P<space>(?:[ \t\r\n]|//[^\n]*|\#[^\n]*)+)
  | (?P<string>"(?:[^"\\\n]|\\.)*"i?)
  | (?P<regex>/(?![/*])(?:[^/\\\n]|\\.)+/[a-zA-Z]*)
  | (?P<name>_{0,2}[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*)
  | (?P<directive>%[a-z]+)
  | (?P<number>-?[0-9]+)
  | (?P<special><[^>\n]*>)
  | (?P<sign>->|\.\.|[|:()\[\]{}?*+~,.!])
    """,
    re.VERBOSE,
)
_SPACE = re.compile(r"[ \t\r\n]*")
INLINE = ("%json", "%regex")
"""Directives that stand for something inside a rule."""

_OPEN = {
    '"': ("this text is not closed", 'end it with " in the same line'),
    "/": ("this regex is not closed", "end it with / in the same line"),
    "'": ("' is not known here", 'write "..."'),
    "&": ("& between terminals is not known", "write one regex, with a look-ahead"),
    "=": ("= is not known here", "a definition has a colon: name: ..."),
    ";": ("; is not known here", "a definition ends with its line"),
}


class Token(NamedTuple):
    """``kind``: string, regex, name, directive, json, number, special, sign or end;
    ``first``: whether it is the first on its line.

    A token of the kind json is ``%json`` or ``%regex`` with the JSON text after it.
    """

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
            why, hint = _OPEN.get(text[at], (f"{text[at]!r} is not known here", ""))
            raise GrammarError(why, text=text, offset=at, hint=hint)
        kind = match.lastgroup or ""
        end = match.end()
        if kind == "space":
            first = first or "\n" in match[0]
        elif match[0] in INLINE:
            end = _end_of_json(text, end)
            found.append(Token("json", text[at:end], at, first))
            first = False
        else:
            found.append(Token(kind, match[0], at, first))
            first = False
        at = end
    found.append(Token("end", "", len(text), True))
    return found


def _end_of_json(text: str, at: int) -> int:
    """Where the JSON text that begins at ``at`` or after white space ends."""
    space = _SPACE.match(text, at)
    start = space.end() if space else at
    try:
        return json.JSONDecoder().raw_decode(text, start)[1]
    except json.JSONDecodeError as error:
        is_open = start < error.pos == len(text.rstrip()) or error.pos >= len(text)
        why = "this JSON is not closed" if is_open else f"this is no JSON: {error.msg}"
        offset = start if is_open else error.pos
        raise GrammarError(why, text=text, offset=offset) from None
    except (RecursionError, ValueError):
        why = "this JSON nests too deep, or has too long a number"
        raise GrammarError(why, text=text, offset=start) from None
