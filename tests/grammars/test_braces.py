"""Two ways from Bython to Python agree, and the free one takes any layout."""

from __future__ import annotations

import ast

import pytest

from tests.grammars import bython
from tests.grammars.braces import to_python
from tests.grammars.test_bython import programs


def tree(text: str) -> str:
    """The program, but for the ``pass`` at the end of each block."""
    module = ast.parse(text)
    for node in ast.walk(module):
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            if isinstance(inner, list):
                kept = [one for one in inner if not isinstance(one, ast.Pass)]
                setattr(node, name, kept)
    return ast.dump(module)


def test_programs_of_the_standard_library() -> None:
    for text in programs():
        assert tree(to_python(text)) == tree(bython.to_python(text)), text


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("if x { y = 1; } else { z; }", "if x:\n y = 1\nelse:\n z"),
        ("if x in {1, 2} { y; }", "if x in {1, 2}:\n y"),
        ("if x { {1: 2}; }", "if x:\n {1: 2}"),
        ("for x in {1: {2}} { pass; pass; }", "for x in {1: {2}}:\n pass"),
        ("@a\ndef f() -> int { return {}; }", "@a\ndef f() -> int:\n return {}"),
        ("if x if y else {1} { z; }", "if x if y else {1}:\n z"),
        ("while {} != (lambda: {}) { break; }", "while {} != (lambda: {}):\n break"),
        ("x = '};'; y = \"{\"; # }\n", "x = '};'\ny = '{'"),
        ("try {} except { f('''\n}'''); }", "try:\n pass\nexcept:\n f('''\n}''')"),
        ("x = (1,\n 2)  ;", "x = (1, 2)"),
        ("class A {}", "class A:\n pass"),
    ],
)
def test_any_layout(text: str, want: str) -> None:
    assert tree(to_python(text)) == tree(want)
