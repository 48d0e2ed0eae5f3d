"""Python as Bython and back, for tests."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator

STEP = "    "
_OPENS = re.compile(
    r"(async |@|)(if|elif|else|for|while|try|except|finally|with|def|class)\b"
)


def from_python(module: ast.Module) -> str:
    """The same program with braces and semicolons."""
    return "\n".join(_statements(module.body, 0)) + "\n"


def _statements(body: list[ast.stmt], depth: int) -> Iterator[str]:
    for one in body:
        if isinstance(one, ast.If):
            yield from _if(one, depth, "if")
        elif isinstance(one, ast.Try):
            yield from _try(one, depth)
        elif hasattr(one, "body"):
            yield from _block(_header(one), one.body, depth)
            otherwise = getattr(one, "orelse", [])
            if otherwise:
                yield from _block(["else"], otherwise, depth)
        else:
            yield STEP * depth + ast.unparse(one) + ";"


def _header(one: ast.stmt) -> list[str]:
    bare = copy.copy(one)
    bare.body = [ast.Pass()]  # type: ignore[attr-defined]
    if hasattr(bare, "orelse"):
        bare.orelse = []
    return ast.unparse(bare).removesuffix("    pass").rstrip()[:-1].splitlines()


def _block(header: list[str], body: list[ast.stmt], depth: int) -> Iterator[str]:
    indent = STEP * depth
    yield from (indent + line for line in header[:-1])
    yield f"{indent}{header[-1]} {{"
    yield from _statements(body, depth + 1)
    yield indent + "}"


def _if(one: ast.If, depth: int, word: str) -> Iterator[str]:
    yield from _block([f"{word} {ast.unparse(one.test)}"], one.body, depth)
    if len(one.orelse) == 1 and isinstance(one.orelse[0], ast.If):
        yield from _if(one.orelse[0], depth, "elif")
    elif one.orelse:
        yield from _block(["else"], one.orelse, depth)


def _try(one: ast.Try, depth: int) -> Iterator[str]:
    yield from _block(["try"], one.body, depth)
    for handler in one.handlers:
        caught = f" {ast.unparse(handler.type)}" if handler.type else ""
        name = f" as {handler.name}" if handler.name else ""
        yield from _block([f"except{caught}{name}"], handler.body, depth)
    if one.orelse:
        yield from _block(["else"], one.orelse, depth)
    if one.finalbody:
        yield from _block(["finally"], one.finalbody, depth)


def to_python(text: str) -> str:
    """Bython in which a block's brace ends its line, and its closing one begins one,
    as Python."""
    lines: list[str] = []
    blocks: list[bool] = []
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith("}") and blocks and blocks.pop():
            lines.append(STEP * (sum(blocks) + 1) + "pass")
            bare = bare[1:].strip()
        if not bare:
            continue
        opens = bare.endswith("{")
        is_block = opens and bool(_OPENS.match(bare))
        indent = STEP * sum(blocks)
        lines.append(indent + (bare[:-1].rstrip() + ":" if is_block else bare))
        if opens:
            blocks.append(is_block)
        elif bare.endswith(("};", "},", "})", "});")) and blocks and not blocks[-1]:
            blocks.pop()
    return "\n".join(lines) + "\n"
