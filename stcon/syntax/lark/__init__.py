"""Lark's grammar language to rules.

    start: "(" [NUMBER ("," NUMBER)*] ")"
    %import common.NUMBER
    %import common.WS
    %ignore WS

The meaning is scannerless, as that of Lark's Earley parser with its dynamic lexer: a
text is valid if there is any way to read it.  So priorities, which choose among ways,
have no effect, and what is ignored may stand before and after each terminal.

text -> ``tokens`` -> ``definitions`` -> ``parser`` -> rules.
Source: the grammar reference of Lark 1.3.
"""

from __future__ import annotations

from stcon.syntax.lark.definitions import Definitions, read_definitions
from stcon.syntax.lark.parser import Parser
from stcon.syntax.named_rules import Grammar, NamedRules

__all__ = ["parse_lark"]

START = "start"


def parse_lark(text: str) -> Grammar:
    """The rules of a grammar; it starts with ``start``.

    Raises GrammarError with line, column and rule.
    """
    definitions: Definitions = read_definitions(text)
    named = NamedRules(text)
    parser = Parser(text, definitions, named)
    parser.define_all()
    return named.finish(parser.begin(START))
