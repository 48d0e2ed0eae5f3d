"""Tool calls back from text; ``stcon.constrain_tools`` makes them valid."""

from __future__ import annotations

from stcon.syntax.tools import parse_tool_calls

__all__ = ["parse_tool_calls"]
