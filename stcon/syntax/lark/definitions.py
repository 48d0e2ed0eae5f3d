"""What a Lark grammar defines, before the bodies are read.

A definition begins at the first token of a line, if that is a name with a colon after
it; everything up to the next is its body.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NoReturn

from stcon.errors import GrammarError
from stcon.syntax.lark.tokens import Token, read_tokens

_LIBRARY = "common"
REFUSED = {
    "%declare": ("terminals without a text cannot be written", "define them"),
    "%override": ("%override changes an imported grammar", "write the rule out"),
    "%extend": ("%extend changes an imported grammar", "write the rule out"),
    "%lark": ("a grammar inside a grammar is not known", "write its rules"),
    "%llguidance": ("options of llguidance are not known", "leave the line out"),
    "%json": ("a schema is a part of a rule", "write name: %json {...}"),
    "%regex": ("%regex is a part of a rule", "write NAME: %regex {...}"),
}
"""Directives that are not known where they stand: why, and the way out."""


@dataclass(frozen=True)
class Definition:
    """``body``: its tokens, the last of the kind ``end``; ``parameters``: of a
    template."""

    name: Token
    parameters: tuple[str, ...]
    body: list[Token]

    @property
    def is_terminal(self) -> bool:
        """Whether the name is that of a terminal."""
        return is_terminal(self.name.text)


@dataclass
class Definitions:
    """``by_name``: what is defined; ``ignored``: bodies of what may stand between
    terminals; ``source``: the text that bodies are from, by name."""

    by_name: dict[str, Definition] = field(default_factory=dict)
    ignored: list[list[Token]] = field(default_factory=list)
    source: dict[str, str] = field(default_factory=dict)


def is_terminal(name: str) -> bool:
    """Whether a name is that of a terminal: in capitals."""
    return name.lstrip("_")[:1].isupper()


def read_definitions(text: str) -> Definitions:
    """All definitions of ``text``, the imported ones included.

    Raises GrammarError.
    """
    reader = _Reader(text)
    while reader.peek().kind != "end":
        reader.statement()
    return reader.found


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = read_tokens(text)
        self._at = 0
        self.found = Definitions()

    def peek(self, ahead: int = 0) -> Token:
        """The token that comes next, or later."""
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def statement(self) -> None:
        """Nothing; reads one definition or directive."""
        token = self.peek()
        if token.kind == "directive":
            self._directive(token)
            return
        while self.peek().text in ("?", "!"):
            self._at += 1
        if token.kind == "json":
            directive = "%json" if token.text.startswith("%json") else "%regex"
            self._fail(REFUSED[directive][0], token, REFUSED[directive][1])
        name = self._take("name", "a rule or a terminal was expected here")
        self._priority()
        parameters = self._parameters()
        if self.peek().text != ":":
            self._fail("a colon was expected here", self.peek())
        self._at += 1
        self._define(Definition(name, parameters, self._body()))

    def _define(self, made: Definition) -> None:
        if made.name.text in self.found.by_name:
            self._fail(f"there is a rule {made.name.text} already", made.name)
        self.found.by_name[made.name.text] = made
        self.found.source[made.name.text] = self._text

    def _priority(self) -> None:
        if self.peek().text == ".":
            self._at += 1
            self._take("number", "the number of a priority was expected here")

    def _parameters(self) -> tuple[str, ...]:
        if self.peek().text != "{":
            return ()
        self._at += 1
        found = [self._take("name", "the name of a parameter was expected here").text]
        while self.peek().text == ",":
            self._at += 1
            found.append(self._take("name", "a parameter was expected here").text)
        if self.peek().text != "}":
            self._fail("} was expected here", self.peek())
        self._at += 1
        return tuple(found)

    def _body(self) -> list[Token]:
        found: list[Token] = []
        while not self._at_statement():
            found.append(self.peek())
            self._at += 1
        return [*found, Token("end", "", self.peek().offset, True)]

    def _at_statement(self) -> bool:
        token = self.peek()
        if token.kind == "end" or (token.first and token.kind == "directive"):
            return True
        if not token.first or (token.kind != "name" and token.text not in ("?", "!")):
            return False
        ahead = 0
        while self.peek(ahead).text in ("?", "!"):
            ahead += 1
        if self.peek(ahead).kind != "name":
            return False
        after = self.peek(ahead + 1)
        if after.text == "{":  # of a template, not of a count
            return self.peek(ahead + 2).kind == "name" and not after.first
        return after.text in (":", ".") and not after.first

    def _directive(self, token: Token) -> None:
        self._at += 1
        if token.text == "%import":
            self._import(token)
        elif token.text == "%ignore":
            body = self._body()
            if body[0].kind == "end":
                self._fail("what is ignored was expected here", body[0])
            self.found.ignored.append(body)
        else:
            why = f"{token.text} is not known"
            message, hint = REFUSED.get(token.text, (why, ""))
            self._fail(message, token, hint)

    def _import(self, token: Token) -> None:
        path = [self._take("name", "the name of a library was expected here").text]
        names: list[tuple[Token, str]] = []
        while self.peek().text == ".":
            self._at += 1
            last = self._take("name", "a name was expected here")
            path.append(last.text)
            names = [(last, last.text)]
        if self.peek().text == "(":
            names = self._list()
        else:
            path.pop()
        if path != [_LIBRARY]:
            self._fail(
                f"only {_LIBRARY} can be imported, not {'.'.join(path)}",
                token,
                "write the rules into the grammar",
            )
        if self.peek().text == "->":
            self._at += 1
            alias = self._take("name", "a new name was expected here").text
            names = [(names[0][0], alias)]
        for name, alias in names:
            self._bring(name, alias)

    def _list(self) -> list[tuple[Token, str]]:
        found = []
        while self.peek().text != ")":
            self._at += 1
            name = self._take("name", "a name was expected here")
            found.append((name, name.text))
            if self.peek().text not in (",", ")"):
                self._fail("a comma was expected here", self.peek())
        self._at += 1
        return found

    def _bring(self, name: Token, alias: str) -> None:
        """Defines what is imported, with all that it needs."""
        library = _library()
        if name.text not in library.by_name:
            self._fail(f"{_LIBRARY} has no {name.text}", name)
        todo = [(name.text, alias)]
        for known, own in todo:
            if own in self.found.by_name:
                continue
            definition = library.by_name[known]
            made = Definition(name._replace(text=own), (), definition.body)
            self.found.by_name[own] = made
            self.found.source[own] = library.source[known]
            todo += [(t.text, t.text) for t in definition.body if t.kind == "name"]

    def _take(self, kind: str, why: str) -> Token:
        token = self.peek()
        if token.kind != kind:
            self._fail(why, token)
        self._at += 1
        return token

    def _fail(self, message: str, token: Token, hint: str = "") -> NoReturn:
        raise GrammarError(message, text=self._text, offset=token.offset, hint=hint)


@cache
def _library() -> Definitions:
    return read_definitions(Path(__file__).with_name("common.lark").read_text("utf-8"))
