"""A grammar in whichever notation it is written: GBNF defines with ``::=``, Lark with a
colon."""

from __future__ import annotations

import re
from typing import Any

from stcon.syntax.gbnf import parse_gbnf
from stcon.syntax.json_schema.options import unmetered
from stcon.syntax.lark import parse_lark
from stcon.syntax.named_rules import Grammar

_LEADING = re.compile(r"(?:[ \t\r\n]+|#[^\n]*|//[^\n]*)*")
_LARK = re.compile(
    r"%[a-z]|[!?]*_{0,2}[A-Za-z][A-Za-z0-9_-]*(\.-?[0-9]+)?(\{[^}\n]*\})?[ \t]*:(?!:=)"
)


def parse_grammar(text: str, **json_options: Any) -> Grammar:
    """The rules of a grammar; the first definition tells the notation.

    ``json_options``: as of ``compile_schema``, for the schemas inside; GBNF has none.
    ``work``, among them, is for the whole.
    Raises GrammarError with line, column and rule.
    """
    leading = _LEADING.match(text)
    start = leading.end() if leading else 0
    if _LARK.match(text, start):
        return parse_lark(text, **json_options)
    return parse_gbnf(text, json_options.get("work", unmetered))
