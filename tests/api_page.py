"""Makes docs/api.md, the reference of all public names, from their docstrings.

python -m tests.api_page > docs/api.md
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import stcon
from stcon import errors
from stcon.constraints.grammar import GrammarConstraint
from stcon.decode.stream import Event
from stcon.engines import CompressedXgrammar, Representatives, compressed_xgrammar
from stcon.show.trace import Trace
from stcon.tokens.displacement import DisplacementClasses
from stcon.tokens.mask_classes import MaskClasses
from stcon.tools import parse_tool_calls

HEAD = """# Reference

Every public name of stcon. This page is made from the docstrings, by

    python -m tests.api_page > docs/api.md

and a test fails when it is not up to date. `help(stcon.constrain)` says the same.
"""
GROUPS: dict[str, list[Any]] = {
    "Formats": [
        *(stcon.constrain, stcon.constrain_tools, parse_tool_calls, stcon.load),
        *(stcon.Constraint, GrammarConstraint),
    ],
    "Decoding": [stcon.patch, stcon.unpatch, stcon.stream, Event, stcon.partial_json],
    "Looking at it": [stcon.trace, Trace],
    "Other engines": [
        *(compressed_xgrammar, CompressedXgrammar, Representatives),
        *(MaskClasses, DisplacementClasses),
    ],
    "Tokens and limits": [stcon.Vocabulary, stcon.Limits],
    "Errors": [
        errors.StconError,
        *(getattr(stcon, name) for name in stcon.__all__ if name.endswith("Error")),
    ],
}


def page() -> str:
    """The text of docs/api.md."""
    return "\n".join([HEAD, *(line for group in GROUPS for line in _group(group))])


def _group(name: str) -> Iterator[str]:
    yield f"## {name}\n"
    shown: set[str] = set()
    for value in GROUPS[name]:
        if value.__name__ in shown:
            continue
        shown.add(value.__name__)
        yield from _entry(value, value.__name__, "###")
        if inspect.isclass(value):
            for member, inner in _members(value):
                yield from _entry(inner, f"{value.__name__}.{member}", "####")


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that the class documents itself."""
    for name, value in vars(kind).items():
        if name.startswith("_"):
            continue
        found = (
            value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        )
        is_shown = inspect.isfunction(found) or isinstance(found, property)
        if is_shown and inspect.getdoc(found):
            yield name, found


def _entry(value: Any, name: str, level: str) -> Iterator[str]:
    yield f"{level} `{name}{_signature(value)}`\n"
    yield _prose(inspect.getdoc(value) or "") + "\n"


def _signature(value: Any) -> str:
    if isinstance(value, property) or (
        inspect.isclass(value) and issubclass(value, Exception)
    ):
        return ""
    if inspect.isclass(value) and inspect.isabstract(value):
        return ""
    shape = inspect.signature(value)
    kept = [p for name, p in shape.parameters.items() if name not in ("self", "cls")]
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in kept]
    bare = shape.replace(parameters=plain, return_annotation=inspect.Signature.empty)
    return re.sub(r"<[^>]*>", "...", str(bare))


def _prose(text: str) -> str:
    """A docstring as Markdown: double backquotes become single ones."""
    return text.replace("``", "`")


if __name__ == "__main__":
    print(page(), end="")
