"""A grammar in whichever notation it is written: GBNF defines with ``::=``, Lark with a
colon."""

from __future__ import annotations

import re

from stcon.syntax.gbnf import parse_gbnf
from stcon.syntax.lark import parse_lark
from stcon.syntax.named_rules import Grammar

_LEADING = re.compile(r"(?:[ \t\r\n]+|#[^\n]*|//[^\n]*)*")
_LARK = re.compile(
    r"%[a-z]|[!?]*_{0,2}[A-Za-z][A-Za-z0-9_]*(\.-?[0-9]+)?(\{[^}\n]*\})?[ \t]*:(?!:=)"
)


def parse_grammar(text: str) -> Grammar:
    """The rules of a grammar; the first definition tells the notation.

    Raises GrammarError with line, column and rule.
    """
    leading = _LEADING.match(text)
    start = leading.end() if leading else 0
    return parse_lark(text) if _LARK.match(text, start) else parse_gbnf(text)
