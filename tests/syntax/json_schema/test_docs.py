"""docs/json-schema.md names every keyword and format there is, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stcon.syntax.json_schema.formats import KNOWN, is_format
from stcon.syntax.json_schema.keywords import _TABLE

PAGE = (Path(__file__).parents[3] / "docs" / "json-schema.md").read_text("utf-8")


def test_every_keyword_has_its_row() -> None:
    rows = re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([$A-Za-z]+)`", row)}
    assert set(_TABLE) <= named


def test_every_format_is_named() -> None:
    paragraph = PAGE[PAGE.index("`format` enforces") : PAGE.index("Other names are")]
    named = re.findall(r"`([a-z0-9-]+)`", paragraph)[1:]
    assert [n for n in named if not is_format(n)] == [*KNOWN]


def test_outlines_core_does_what_the_page_says() -> None:
    outlines = pytest.importorskip("outlines_core.json_schema")
    code = re.findall(r">>> (re\.fullmatch.*)\n(True|False)", PAGE)
    assert len(code) == 2
    import json

    scope = {"re": re, "json": json, "regex": outlines.build_regex_from_schema}
    for line, want in code:
        assert str(eval(line, scope)) == want
