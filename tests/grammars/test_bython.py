"""Bython against Python: programs of the standard library, with braces and back."""

from __future__ import annotations

import ast
import importlib
import inspect
import warnings
from collections.abc import Iterator
from functools import cache

import pytest

from stcon import constrain, grammars
from tests.grammars.bython import from_python, to_python
from tests.grammars.mutants import mutants
from tests.test_api import BYTES

MODULES = (
    *("abc", "argparse", "bdb", "bisect", "calendar", "cmd", "code", "codeop"),
    *("colorsys", "contextlib", "copy", "csv", "difflib", "fnmatch", "fractions"),
    *("getopt", "graphlib", "heapq", "imaplib", "keyword", "linecache", "queue"),
    *("random", "sched", "shlex", "statistics", "string", "textwrap", "timeit"),
)


@cache
def programs() -> list[str]:
    """Functions and classes of the standard library, as Bython."""
    found = []
    for name in MODULES:
        module = ast.parse(inspect.getsource(importlib.import_module(name)))
        for node in module.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not is_left_out(
                node
            ):
                text = from_python(ast.Module([node], []))
                if 300 < len(text) < 3000:
                    found.append(text)
    return found


def is_left_out(node: ast.AST) -> bool:
    """What the grammar says it leaves out: match, and texts in formatted texts."""
    kinds = {type(part).__name__ for part in ast.walk(node)}
    if kinds & {"Match", "TryStar", "TypeAlias", "TypeVar"}:
        return True
    fields = [f for part in ast.walk(node) if isinstance(part, ast.JoinedStr)
              for f in part.values if isinstance(f, ast.FormattedValue)]  # fmt: skip
    return any(not is_simple(field) for field in fields)


def is_simple(field: ast.FormattedValue) -> bool:
    allowed = (ast.Name, ast.Attribute, ast.Load, ast.Subscript)
    spec = field.format_spec
    values = spec.values if isinstance(spec, ast.JoinedStr) else []
    return all(isinstance(part, allowed) for part in ast.walk(field.value)) and all(
        isinstance(part, ast.Constant) for part in values
    )


def is_python(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that Python lets pass
        try:
            ast.parse(text)
        except (SyntaxError, ValueError):
            return False
    return True


def test_programs_of_the_standard_library() -> None:
    made = constrain(BYTES, grammar=grammars.BYTHON)
    assert len(programs()) > 100
    assert [made.explain(text) for text in programs() if not made.matches(text)] == []


def broken() -> Iterator[str]:
    for seed, text in enumerate(programs()[::2]):
        for mutant in mutants(text, 10, seed):
            if not is_python(to_python(mutant)):
                yield mutant


def test_broken_programs() -> None:
    made = constrain(BYTES, grammar=grammars.BYTHON)
    found = list(broken())
    assert len(found) > 150
    assert [text for text in found if made.matches(text)] == []


def test_the_way_back() -> None:
    for text in programs():
        assert is_python(to_python(text)), text


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n",
        "if x { y = 1; }}\n",
        "if x y = 1;\n",
        "x = ;\n",
        "1 = x;\n",
        "f(a=1, b);\n",
        "def f(a=1, b) { pass; }\n",
        "f(x;\n",
        "pass = 1;\n",
        "x = 012;\n",
        "x = 'a;\n",
        "for x { pass; }\n",
        "class { pass; }\n",
        "else { pass; }\n",
        "x = [1 2];\n",
        "try { pass; }\n",
        "import ;\n",
        "lambda;\n",
        "x = y z;\n",
        "x += 1 += 2;\n",
        "x = b'é';\n",
        "x = 'a' b'b';\n",
        "f() = 1;\n",
        "x = {1: 2, 3};\n",
        "*a;\n",
        "x = 1.real;\n",
        "x = 1\n, ;\n",
        "1.x = 2;\n",
        "x = 'a\rb';\n",
        'x = "a\0b";\n',
        "# a\0\n",
    ],
)
def test_no_programs(text: str) -> None:
    assert not constrain(BYTES, grammar=grammars.BYTHON).matches(text)
