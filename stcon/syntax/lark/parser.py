"""The bodies of a Lark grammar to expressions.

A terminal in a rule is a call, and what is ignored may come after it; inside other
terminals nothing is ignored.  A template is read again for each list of arguments it
is called with, its parameters standing for expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn

from stcon.errors import GrammarError, SchemaError
from stcon.syntax import rules as r
from stcon.syntax.counts import counted_items
from stcon.syntax.json_schema.near_misses import warning_of
from stcon.syntax.json_schema.options import unmetered
from stcon.syntax.lark.definitions import (
    REFUSED,
    Definition,
    Definitions,
    is_terminal,
)
from stcon.syntax.lark.inline import Schemas, structured_regex
from stcon.syntax.lark.texts import Unreadable, range_expr, regex_expr, text_expr
from stcon.syntax.lark.tokens import Token
from stcon.syntax.named_rules import NamedRules
from stcon.syntax.rules import Expr

_DEEPEST = 100  # groups and templates inside one another; Python recurses
_MOST_TEMPLATES = 2_000
_SIMPLE = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_REPEATS = (*_SIMPLE, "~", "{")
_HIGHEST_COUNT = 1 << 63
_HINTS = {"number": "a set of characters is a regex: /[0-9]/"}
Bound = Mapping[str, Expr]


class Parser:
    """Reads the bodies of ``definitions`` into ``named``."""

    def __init__(
        self,
        text: str,
        definitions: Definitions,
        named: NamedRules,
        schemas: Schemas,
        work: Callable[[int], None] = unmetered,
    ) -> None:
        """``work``: told of steps of about 10 µs before they are taken."""
        self._text = text
        self._schemas = schemas
        self.work = work
        self._definitions = definitions
        self._named = named
        self._made: dict[tuple[str, tuple[int, ...]], Expr] = {}
        self._arguments: list[Expr] = []  # kept, so that their ids stay theirs
        self._rules: dict[int, Expr] = {}
        self.nested = 0
        self._called: dict[tuple[str, bool], Expr] = {}  # one node each, for templates
        self._ignored: Expr = r.EPSILON

    def define_all(self) -> None:
        """Nothing; defines every rule and terminal."""
        bodies = [
            _Body(self, tokens, self._text, "%ignore", {}, False).whole()
            for tokens in self._definitions.ignored
        ]
        if bodies:
            self._ignored = self._named.new(r.star(r.union(*bodies)))
        for name, definition in self._definitions.by_name.items():
            if not definition.parameters:
                self._named.define(name, self._body(definition, {}))
        self._refuse_recursive_terminals()

    def begin(self, start: str) -> str:
        """The name of the rule that begins with what is ignored, then ``start``."""
        if start not in self._named.rules or self._ignored is r.EPSILON:
            return start
        whole = self._named.new(r.concat(self._ignored, r.Call(start)))
        assert isinstance(whole, r.Call)
        return whole.name

    def _body(self, definition: Definition, bound: Bound) -> Expr:
        name = definition.name.text
        source = self._definitions.source[name]
        in_rule = not definition.is_terminal
        return _Body(self, definition.body, source, name, bound, in_rule).whole()

    def called(self, token: Token, body: _Body) -> Expr:
        """A call of a rule or terminal without arguments."""
        definition = self._definitions.by_name.get(token.text)
        if definition and definition.parameters:
            body.fail(f"{token.text} is a template: give its arguments", token)
        if not body.in_rule and not is_terminal(token.text):
            body.fail("a terminal is made of terminals, not of rules", token)
        key = token.text, body.in_rule
        if key not in self._called:
            found = self._named.call(token.text, token.offset, body.name)
            spaced = is_terminal(token.text) and body.in_rule
            self._called[key] = self.spaced(found) if spaced else found
        return self._called[key]

    def schema(self, text: str) -> Expr:
        """A call of the rule of a schema."""
        return self._schemas.call(text, self._named)

    def spaced(self, terminal: Expr) -> Expr:
        """A terminal and what is ignored after it."""
        return r.concat(terminal, self._ignored)

    def instance(self, token: Token, arguments: list[Expr], body: _Body) -> Expr:
        """A call of a template with these arguments."""
        definition = self._definitions.by_name.get(token.text)
        if not definition or not definition.parameters:
            body.fail(f"there is no template {token.text}", token)
        if len(arguments) != len(definition.parameters):
            wanted = len(definition.parameters)
            body.fail(f"{token.text} takes {wanted} arguments", token)
        arguments = [self._as_rule(argument) for argument in arguments]
        key = token.text, tuple(map(id, arguments))
        known = self._made.get(key)
        if known is None:
            if len(self._made) >= _MOST_TEMPLATES or self.nested >= _DEEPEST:
                body.fail("a template calls itself with ever new arguments", token)
            known = self._made[key] = self._named.new(r.EMPTY)
            bound = dict(zip(definition.parameters, arguments, strict=True))
            assert isinstance(known, r.Call)
            self.nested += 1
            self._named.define(known.name, self._body(definition, bound))
            self.nested -= 1
        return known

    def _as_rule(self, argument: Expr) -> Expr:
        """An argument as one call: written out wherever a parameter stands it would
        double with each template that passes it on twice."""
        if isinstance(argument, r.Call):
            return argument
        known = self._rules.get(id(argument))
        if known is None:
            known = self._rules[id(argument)] = self._named.new(argument)
            self._arguments.append(argument)
        return known

    def _refuse_recursive_terminals(self) -> None:
        todo = {
            name: {t.text for t in made.body if t.kind == "name"}
            for name, made in self._definitions.by_name.items()
            if made.is_terminal
        }
        while ready := [
            name for name, needs in todo.items() if not needs & todo.keys()
        ]:
            for name in ready:
                del todo[name]
        for name in todo:
            raise GrammarError(
                f"the terminal {name} calls itself",
                text=self._text,
                offset=self._definitions.by_name[name].name.offset,
                rule=name,
                hint="write it in small letters: then it is a rule",
            )


class _Body:
    """One body: tokens of ``source``; ``bound``: what parameters stand for."""

    def __init__(
        self,
        parser: Parser,
        tokens: list[Token],
        source: str,
        name: str,
        bound: Bound,
        in_rule: bool,
    ) -> None:
        self._parser = parser
        self._tokens = tokens
        self._source = source
        self._bound = bound
        self._at = 0
        self.name = name
        self.in_rule = in_rule

    def whole(self) -> Expr:
        """All of the body."""
        found = self._alternatives()
        if self._peek().kind != "end":
            self.fail(f"{self._peek().text} was not expected here", self._peek())
        return found

    def _peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def _is_next(self, sign: str) -> bool:
        token = self._peek()
        return token.kind == "sign" and token.text == sign

    def _alternatives(self) -> Expr:
        if self._is_next("|"):
            self._at += 1
        found = [self._sequence()]
        while self._is_next("|"):
            self._at += 1
            found.append(self._sequence())
        return r.union(*found)

    def _sequence(self) -> Expr:
        found = []
        while self._peek().kind != "end" and self._peek().text not in ("|", ")", "]"):
            if self._is_next("->"):
                self._alias()
                break
            if self._peek().text in (",", "}"):
                break
            found.append(self._repeated())
        return r.concat(*found)

    def _alias(self) -> None:
        """Nothing; reads ``-> name``, after which an alternative ends."""
        self._at += 1
        if self._peek().kind != "name":
            self.fail("the name of an alias was expected here", self._peek())
        self._at += 1
        after = self._peek()
        if after.kind != "end" and after.text not in ("|", ")", "]", ",", "}"):
            self.fail("an alternative ends with its alias", after)

    def _repeated(self) -> Expr:
        item = self._item()
        while self._peek().kind == "sign" and self._peek().text in _REPEATS:
            sign = self._peek()
            self._at += 1
            least, most = self._counts(sign)
            item = counted_items(item, least, most, self._parser._named.new)
        return item

    def _counts(self, sign: Token) -> tuple[int, int | None]:
        """Of ``*``, ``+``, ``?``, ``~ n``, ``~ n..m`` and ``{n,m}``."""
        if sign.text in _SIMPLE:
            return _SIMPLE[sign.text]
        is_braced = sign.text == "{"
        first = self._peek()
        has_least = not (is_braced and self._is_next(","))
        least = int(self._number().text) if has_least else 0
        most: int | None = least
        if self._is_next("," if is_braced else ".."):
            self._at += 1
            is_open = is_braced and self._is_next("}") and has_least
            most = None if is_open else int(self._number().text)
        if is_braced:
            if not self._is_next("}"):
                self.fail("this count is not closed", sign)
            self._at += 1
        highest = least if most is None else most
        if not 0 <= least <= highest <= _HIGHEST_COUNT:
            self.fail(f"a count from {least} to {most} is none", first)
        return least, most

    def _is_count(self) -> bool:
        """Whether a count in braces comes next, not the arguments of a template."""
        inside = self._peek(1)
        return self._is_next("{") and (inside.kind == "number" or inside.text == ",")

    def _number(self) -> Token:
        token = self._peek()
        if token.kind != "number" or len(token.text) > 20:
            self.fail("a count was expected here", token)
        self._at += 1
        return token

    def _item(self) -> Expr:
        token = self._peek()
        self._at += 1
        self._parser.work(2)
        if token.kind in ("string", "regex", "json"):
            try:
                return self._terminal(self._written(token))
            except Unreadable as error:
                place = token._replace(offset=token.offset + error.at)
                self.fail(error.message, place, error.hint)
        if token.kind == "name":
            return self._name(token)
        if token.text in ("(", "["):
            return self._group(token)
        if token.kind == "special":
            self.fail("a special token is not part of a text", token)
        hint = REFUSED.get(token.text, ("", _HINTS.get(token.kind, "")))[1]
        self.fail(f"{token.text!r} is not known here" if token.text else
                  "something was expected here", token, hint)  # fmt: skip

    def _written(self, token: Token) -> Expr:
        if token.kind == "string":
            return self._text_or_range(token)
        return regex_expr(token.text) if token.kind == "regex" else self._inline(token)

    def _terminal(self, found: Expr) -> Expr:
        return self._parser.spaced(found) if self.in_rule else found

    def _group(self, opening: Token) -> Expr:
        self._enter(opening)
        found = self._alternatives()
        if self._peek().text != {"(": ")", "[": "]"}[opening.text]:
            self.fail("this group is not closed", opening)
        self._at += 1
        self._parser.nested -= 1
        return found if opening.text == "(" else r.optional(found)

    def _name(self, token: Token) -> Expr:
        if self._is_next("{") and not self._is_count():
            return self._parser.instance(token, self._arguments(), self)
        if token.text in self._bound:
            return self._bound[token.text]
        return self._parser.called(token, self)

    def _arguments(self) -> list[Expr]:
        opening = self._peek()
        self._enter(opening, _DEEPEST + 1)  # a template that calls itself is told apart
        found = []
        while not self._is_next("}"):
            self._at += 1
            found.append(self._alternatives())
            if self._peek().text not in (",", "}"):
                self.fail("the arguments are not closed", opening)
        self._at += 1
        self._parser.nested -= 1
        return found

    def _enter(self, opening: Token, most: int = _DEEPEST) -> None:
        """Nothing; one more group or list is open, of at most so many."""
        self._parser.nested += 1
        if self._parser.nested > most:
            self.fail(f"more than {_DEEPEST} groups inside one another", opening)

    def _text_or_range(self, token: Token) -> Expr:
        if not self._is_next(".."):
            return text_expr(token.text)
        self._at += 1
        last = self._peek()
        self._at += 1
        if last.kind != "string":
            raise Unreadable("a range goes from one character to a later one")
        return range_expr(token.text, last.text)

    def _inline(self, token: Token) -> Expr:
        """What ``%json`` or ``%regex`` stands for."""
        if token.text.startswith("%regex"):
            return structured_regex(token.text.removeprefix("%regex"))
        if not self.in_rule:
            raise Unreadable("a schema stands in a rule, not in a terminal")
        line = self._source.count("\n", 0, token.offset) + 1
        try:
            with warning_of(lambda said: f"line {line} in rule {self.name}: {said}"):
                return self._parser.schema(token.text.removeprefix("%json").strip())
        except SchemaError as error:
            raise Unreadable(
                f"in this schema: {error.message}", hint=error.hint
            ) from error

    def fail(self, message: str, token: Token, hint: str = "") -> NoReturn:
        """Raises GrammarError at ``token``."""
        raise GrammarError(
            message,
            text=self._source,
            offset=token.offset,
            rule=self.name,
            hint=hint,
        )
