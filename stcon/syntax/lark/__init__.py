"""Lark's grammar language to rules.

    start: "(" [NUMBER ("," NUMBER)*] ")"
    %import common.NUMBER
    %import common.WS
    %ignore WS

The meaning is scannerless, as that of Lark's Earley parser with its dynamic lexer: a
text is valid if there is any way to read it.  So priorities, which choose among ways,
have no effect, and what is ignored may stand before and after each terminal.

text -> ``tokens`` -> ``definitions`` -> ``parser`` (with ``inline``) -> rules.
Sources: the grammar reference of Lark 1.3; llguidance's syntax for ``%json``,
``%regex``, counts in braces and names with hyphens.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stcon.syntax.json_schema.options import unmetered
from stcon.syntax.lark.definitions import Definitions, read_definitions
from stcon.syntax.lark.inline import Schemas
from stcon.syntax.lark.parser import Parser
from stcon.syntax.named_rules import Grammar, NamedRules

__all__ = ["parse_lark"]

START = "start"


def parse_lark(text: str, **json_options: Any) -> Grammar:
    """The rules of a grammar; it starts with ``start``.

    ``json_options``: as of ``compile_schema``, for the schemas inside; ``work`` for
    the whole.
    Raises GrammarError with line, column and rule.
    """
    definitions: Definitions = read_definitions(text)
    named, schemas = NamedRules(text), Schemas(json_options)
    work = json_options.get("work", unmetered)
    parser = Parser(text, definitions, named, schemas, work)
    parser.define_all()
    grammar = named.finish(parser.begin(START))
    return replace(grammar, schemas=tuple(schemas.reports))
