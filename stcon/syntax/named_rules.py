"""The rules of a grammar while its text is read: definitions and calls by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stcon.errors import GrammarError
from stcon.syntax.rules import Call, Expr, Rules, parts


@dataclass(frozen=True)
class Grammar:
    """``rules``: what a grammar means; ``unused``: rules that the start does not
    reach, in the order of the text; ``schemas``: reports of the schemas inside."""

    rules: Rules
    unused: tuple[str, ...]
    schemas: tuple[dict[str, Any], ...] = ()


class NamedRules:
    """Collects rules; ``text`` is the whole grammar, for errors."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.rules: dict[str, Expr] = {}
        self._calls: dict[str, tuple[int, str]] = {}
        self._made = 0

    def define(self, name: str, body: Expr) -> None:
        """Nothing; the rule ``name`` is ``body``."""
        self.rules[name] = body

    def call(self, name: str, offset: int, rule: str) -> Expr:
        """A call at ``offset`` of ``text`` in the definition of ``rule``."""
        self._calls.setdefault(name, (offset, rule))
        return Call(name)

    def new(self, body: Expr) -> Expr:
        """A call of a new rule without a name of its own."""
        self._made += 1
        name = f"({self._made})"
        self.rules[name] = body
        return Call(name)

    def finish(self, start: str) -> Grammar:
        """All rules.  Raises GrammarError when one that is called, or ``start``, is
        not defined."""
        for name, (offset, rule) in self._calls.items():
            if name not in self.rules:
                raise GrammarError(
                    f"there is no rule {name}",
                    text=self.text,
                    offset=offset,
                    rule=rule,
                    hint=_similar(name, self.rules),
                )
        if start not in self.rules:
            raise GrammarError(
                f"there is no rule {start}, with which every text begins",
                text=self.text,
                offset=0,
                hint=f"call the rule of the whole {start} (in GBNF, with ::=, root; in "
                "Lark's notation, with a colon, start)",
            )
        reached = set(_reached(self.rules, start))
        unused = [n for n in self.rules if n not in reached and n[0] != "("]
        return Grammar(Rules(self.rules, start), tuple(unused))


def _similar(name: str, rules: dict[str, Expr]) -> str:
    from difflib import get_close_matches

    found = get_close_matches(name, list(rules)[:2000], 1)
    return f"did you mean {found[0]}?" if found else "define it, or write it as text"


def _reached(rules: dict[str, Expr], start: str) -> Iterator[str]:
    todo, seen = [start], {start}
    while todo:
        name = todo.pop()
        yield name
        for called in calls_in(rules[name]):
            if called not in seen:
                seen.add(called)
                todo.append(called)


def calls_in(expr: Expr) -> Iterator[str]:
    """The names of the rules that an expression calls, each once a node."""
    seen: set[int] = set()
    stack = [expr]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Call):
            yield node.name
        else:
            stack.extend(parts(node))
