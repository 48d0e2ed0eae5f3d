"""GBNF, the grammar notation of llama.cpp, and XGrammar's dialect of it, to rules.

    root   ::= "{" pair ("," pair)* "}"      # a comment
    pair   ::= [a-z_]+ ":" [^,}\\n]{1,20}

A rule goes on until the next ``name ::=``, over any number of lines.  The meaning is
scannerless: a text is valid if there is any way to read it.  ``.`` is any character,
line ends included, as in llama.cpp.
Sources: grammars/README.md of llama.cpp, the EBNF page of XGrammar.
Cost: linear in the text, 3 µs a character.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from stcon.errors import GrammarError
from stcon.syntax import rules as r
from stcon.syntax.charset import ANY, MAX_CODE_POINT, CharSet, Range
from stcon.syntax.counts import counted_items
from stcon.syntax.encode import utf8
from stcon.syntax.json_schema.options import unmetered
from stcon.syntax.named_rules import Grammar, NamedRules
from stcon.syntax.rules import Expr

START = "root"

_DEEPEST = 100  # Python recurses
_HIGHEST_COUNT = 1 << 63
_SPACE = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_]))*")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_LAST_WORD = re.compile(r"([A-Za-z0-9_.-]+)[ \t\r\n]*\Z")
_LONGEST_HEAD = 300
_DEFINES = re.compile(r"[ \t\r\n]*::=")
_COUNT = re.compile(r"\{\s*(\d+)\s*(,)?\s*(\d+)?\s*\}")
_SIMPLE = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "0": "\0",
    "e": "\x1b",
    **{c: c for c in "\\\"'[]-^?/.()|*+{}$ "},
}
_HEX = {"x": 2, "u": 4, "U": 8}
_MACROS = {"TagDispatch", "TokenTagDispatch", "Token", "ExcludeToken"}
_REFUSED = {
    "<": ("a token by its name or number is not part of a text", "write its text"),
    "!": ("a token that must not come is not enforced", "write what may come"),
    "@": ("directives are not known", "leave it out"),
    "'": ("a text is written in double quotes", 'write "..."'),
    "~": ("~ is not known", "leave it out"),
    "/": (
        "a regex is not part of GBNF",
        "write its parts as classes, or use Lark's notation; a comment begins with #",
    ),
    "%": ("% is not known here", "%json and others are of Lark's notation"),
    ";": ("; is not known here", "a rule ends with its line"),
}
_NO_RULES = (
    "grammar= is the text of a grammar, not the name of a file; those that ship are "
    "stcon.grammars.SQL and others"
)


def parse_gbnf(text: str, work: Callable[[int], None] = unmetered) -> Grammar:
    """The rules of a grammar; it starts with ``root``.

    ``work``: told of steps of about 10 µs before they are taken, and may raise.
    Raises GrammarError with line, column and rule.
    """
    return _Parser(text, work).parse()


class _Parser:
    def __init__(self, text: str, work: Callable[[int], None]) -> None:
        self._text = text
        self._work = work
        self._at = 0
        self._rule = ""
        self._depth = 0
        self._named = NamedRules(text)
        heads = (_LAST_WORD.search(part[-_LONGEST_HEAD:]) for part in text.split("::="))
        self._dotted = {head[1] for head in heads if head and "." in head[1]}

    def parse(self) -> Grammar:
        """All rules of the text."""
        self._space()
        while self._at < len(self._text):
            self._definition()
        return self._named.finish(START)

    def _definition(self) -> None:
        start = self._at
        name = self._name()
        if not name or not (found := _DEFINES.match(self._text, self._at)):
            hint = "" if "::=" in self._text else _NO_RULES
            self._fail("a rule was expected here, such as name ::= ...", start, hint)
        if name in self._named.rules:
            self._fail(f"there is a rule {name} already", start)
        self._at = found.end()
        self._rule = name
        self._named.define(name, r.EMPTY)
        self._space()
        self._named.define(name, self._alternatives())
        if self._peek() == ")":
            self._fail("this parenthesis closes nothing")

    def _alternatives(self) -> Expr:
        found = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            self._space()
            found.append(self._sequence())
        return r.union(*found)

    def _sequence(self) -> Expr:
        items: list[Expr] = []
        while self._peek() not in ("", "|", ")") and not self._at_definition():
            items.append(self._repeated(self._item()))
        return r.concat(*items)

    def _at_definition(self) -> bool:
        found = _NAME.match(self._text, self._at)
        return bool(found and _DEFINES.match(self._text, found.end()))

    def _item(self) -> Expr:
        start, first = self._at, self._peek()
        self._work(1)
        if first == '"':
            found = self._literal()
        elif first == "[":
            found = self._class()
        elif first == "(":
            found = self._group()
        elif first == ".":
            self._at += 1
            found = utf8(ANY)
        else:
            name = self._name()
            if not name:
                self._refuse(first)
            self._refuse_macro(name, start)
            found = self._named.call(name, start, self._rule)
        self._space()
        return found

    def _name(self) -> str:
        found = _NAME.match(self._text, self._at)
        if found and "." in found[0] and found[0] not in self._dotted:
            found = _PLAIN_NAME.match(self._text, self._at)
        if not found:
            return ""
        self._at = found.end()
        return found[0]

    def _refuse_macro(self, name: str, start: int) -> None:
        if name in _MACROS and self._peek() == "(":
            self._fail(
                f"{name}(...) is a macro, and macros are not known",
                start,
                "write what it stands for as rules",
            )

    def _group(self) -> Expr:
        start = self._at
        self._depth += 1
        if self._depth > _DEEPEST:
            self._fail(f"more than {_DEEPEST} parentheses inside one another")
        self._at += 1
        self._space()
        if self._peek() == "=":
            self._fail("lookahead is not enforced", hint="leave out (= ...)")
        found = self._alternatives()
        if self._peek() != ")":
            self._fail("this parenthesis is not closed", start)
        self._at += 1
        self._depth -= 1
        return found

    def _repeated(self, item: Expr) -> Expr:
        while (sign := self._peek()) in ("*", "+", "?", "{"):
            least, most = _SIMPLE[sign] if sign in _SIMPLE else self._counts()
            self._at += 1 if sign in _SIMPLE else 0
            self._space()
            item = counted_items(item, least, most, self._named.new)
        return item

    def _counts(self) -> tuple[int, int | None]:
        start = self._at
        found = _COUNT.match(self._text, start)
        if not found or any(len(n or "") > 20 for n in found.groups()):
            self._fail("a count is {n}, {n,} or {n,m}")
        least = int(found[1])
        most = int(found[3]) if found[3] else (None if found[2] else least)
        if most is not None and most < least:
            self._fail(f"a count from {least} to {most} is none")
        if max(least, most or 0) > _HIGHEST_COUNT:
            self._fail("this count is too high", hint="leave it out, or write *")
        self._at = found.end()
        return least, most

    def _literal(self) -> Expr:
        start = self._at
        self._at += 1
        found = []
        while (char := self._peek()) != '"':
            if char in ("", "\n"):
                self._fail("this text is not closed", start, 'end it with "')
            found.append(self._character())
        self._at += 1
        return r.literal("".join(found))

    def _class(self) -> Expr:
        start = self._at
        self._at += 1
        negated = self._peek() == "^"
        self._at += negated
        ranges: list[Range] = []
        while self._peek() != "]":
            if self._peek() in ("", "\n"):
                self._fail("this class is not closed", start, "end it with ]")
            ranges.append(self._range())
        self._at += 1
        charset = CharSet.of(*ranges)
        return r.EMPTY if not (charset or negated) else utf8(_signed(charset, negated))

    def _range(self) -> Range:
        start = self._at
        first = last = ord(self._character())
        if self._peek() == "-" and self._text[self._at + 1 : self._at + 2] != "]":
            self._at += 1
            if self._peek() in ("", "\n"):
                self._fail("this class is not closed", start, "end it with ]")
            last = ord(self._character())
        if last < first:
            self._fail("this range is empty: its end comes before its start", start)
        return first, last

    def _character(self) -> str:
        char = self._peek()
        self._at += 1
        if char != "\\":
            if "\ud800" <= char <= "\udfff":
                self._fail("half a surrogate pair is no character", self._at - 1)
            return char
        kind = self._peek()
        self._at += 1
        if kind in _HEX:
            return self._by_number(_HEX[kind])
        if not kind or kind not in _ESCAPES:
            self._fail(
                f"\\{kind} is not known", self._at - 2, "for \\ itself write \\\\"
            )
        return _ESCAPES[kind]

    def _by_number(self, digits: int) -> str:
        start, stop = self._at - 2, self._at + digits
        written = self._text[self._at : stop]
        if not re.fullmatch(f"[0-9A-Fa-f]{{{digits}}}", written):
            self._fail(f"{digits} hexadecimal digits must follow here", start)
        self._at = stop
        code = int(written, 16)
        if 0xD800 <= code <= 0xDFFF or code > MAX_CODE_POINT:
            self._fail(f"U+{code:04X} is no character", start)
        return chr(code)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _space(self) -> None:
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _refuse(self, first: str) -> NoReturn:
        why, hint = _REFUSED.get(first, (f"{first!r} is not known here", ""))
        self._fail(why, hint=hint)

    def _fail(
        self, message: str, offset: int | None = None, hint: str = ""
    ) -> NoReturn:
        raise GrammarError(
            message,
            text=self._text,
            offset=self._at if offset is None else offset,
            rule=self._rule,
            hint=hint,
        )


def _signed(charset: CharSet, negated: bool) -> CharSet:
    return ~charset if negated else charset
