"""matches, explain and forced_spans: what a person asks a constraint."""

from __future__ import annotations

import pytest

from tests.worlds import constraint, record

ASKED = [
    ('{"a":1,"b":x}', "The text is valid."),
    ('{"a":1,"c":x}', "at character 9 (line 1, column 9): found 'c', expected 'b\":'"),
    ('{"a":x', "at character 6 (line 1, column 6): found 'x', expected '0' to '9'"),
    ('{"a":1;', "found ';', expected one of ',', '0' to '9'"),
    ('{"a":1,"b":x}}', "found '}', expected the end of the text"),
    ('{"a":1', "stops too early, at character 7 (line 1, column 7)"),
    ('{"a":1', "A shortest way to finish it: ',\"b\":x}'"),
    ("", "expected '{\"a\":'"),
    ('{"\n', "at character 3 (line 1, column 3): found '\\n', expected 'a\":'"),
    ('{"é', "found 'é', expected 'a\":'"),
    ("\ud800", "character 1 (line 1, column 1)"),
]


@pytest.mark.parametrize(("text", "want"), ASKED)
def test_explain(text: str, want: str) -> None:
    made = constraint(record())
    have = made.explain(text)
    assert want in have
    assert made.matches(text) == (have == "The text is valid.")


def test_caret_stands_under_the_place() -> None:
    lines = constraint(record()).explain('{"a":1,"c":x}').splitlines()
    assert lines[1].strip() == '{"a":1,"c":x}'
    assert lines[1][len(lines[2]) - 1] == "c"


def test_forced_spans() -> None:
    made = constraint(record())
    text = '{"a":12,"b":y}'
    have = [text[a:b] for a, b in made.forced_spans(text)]
    assert have == ['{"a":', '"b":', "}"]
    assert made.forced_spans(b"{x") == [(0, 2)] or made.forced_spans(b"{x") == [(0, 1)]
