"""Bython as a model writes it, wherever lines end, as Python.

Beside ``bython.to_python``, which reads one statement a line.  A brace opens a block if
it stands in the header of one, outside brackets, after a whole expression; every other
brace belongs to a dict or a set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.grammars.bython import STEP

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\n]+)
    | (?P<comment>\#[^\n]*)
    | (?P<text>(?:[rRbBfF]{0,2})(?:\"{3}(?:\\.|[^\\])*?\"{3}
        | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*'))
    | (?P<word>\w+)
    | (?P<sign>.)
    """,
    re.X | re.S,
)
_BARE = {"else", "try", "finally", "except"}
_HEADS = _BARE | {"if", "elif", "for", "while", "with", "def", "class", "async"}
_BETWEEN = {"in", "not", "and", "or", "is", "if", "else", "lambda", "await", "yield"}
_BETWEEN |= {"from", "for", "while", "with", "elif", "except"}


def to_python(text: str) -> str:
    """The same program, laid out."""
    return "".join(line + "\n" for line in _Layout().lines(text))


class _Layout:
    """The statement that is being read, as tokens, and the blocks around it."""

    def __init__(self) -> None:
        self._statement: list[str] = []
        self._brackets = 0
        self._blocks = 0

    def lines(self, text: str) -> Iterator[str]:
        for found in _TOKEN.finditer(text):
            yield from self._read(str(found.lastgroup), found[0])
        yield from self._ended()

    def _read(self, kind: str, token: str) -> Iterator[str]:
        outside = not self._brackets
        if kind == "space":
            is_decorator = self._statement[:1] == ["@"]
            if is_decorator and outside and "\n" in token:
                yield from self._ended()
            elif self._statement:
                self._statement.append(" ")
        elif kind == "comment":
            yield STEP * self._blocks + token
        elif token == ";" and outside:
            yield from self._ended()
        elif token == "{" and outside and self._opens_block():
            yield from self._ended(":")
            self._blocks += 1
        elif token == "}" and outside:
            yield STEP * self._blocks + "pass"
            self._blocks -= 1
        else:
            self._brackets += (token in "([{") - (token in ")]}")
            self._statement.append(token)

    def _opens_block(self) -> bool:
        """Whether the statement is the header of a block, and whole."""
        words = [token for token in self._statement if token != " "]
        if not words or words[0] not in _HEADS:
            return False
        if len(words) == 1:
            return words[0] in _BARE
        last = words[-1]
        ends = last[-1].isalnum() or last[-1] in "_)]}.\"'"
        return ends and last not in _BETWEEN

    def _ended(self, mark: str = "") -> Iterator[str]:
        if self._statement:
            bare = "".join(self._statement).rstrip()
            yield STEP * self._blocks + bare + mark
            self._statement.clear()
