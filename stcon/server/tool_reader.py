"""The server's reader of tool calls, for the forms that stcon writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stcon.errors import StconError
from stcon.syntax.tools import FORMS, parse_tool_calls
from stcon.syntax.tools.read import CLOSE, OPEN

Parser = Callable[[str, Any], Any]


def tool_reader(parser: Parser | None) -> Parser | None:
    """``parser``, mlx-lm's, or one that reads what a schema says by the schema; what
    that cannot read is left to ``parser``."""
    name = str(getattr(parser, "__module__", "")).rpartition(".")[2]
    if parser is None or name not in FORMS:
        return parser
    theirs = parser

    def read(text: str, tools: Any) -> Any:
        try:
            _, calls = parse_tool_calls(f"{OPEN}{text}{CLOSE}", tools or [])
        except (StconError, ValueError, KeyError, TypeError):
            return theirs(text, tools)
        return calls

    return read
