"""docs/grammars.md says what is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from stcon import GrammarError, constrain, grammars
from tests.test_api import BYTES

PAGE = (Path(__file__).parents[2] / "docs" / "grammars.md").read_text("utf-8")


def test_every_grammar_has_its_row() -> None:
    assert tuple(sorted(re.findall(r"^\| `([A-Z]+)` \|", PAGE, re.M))) == grammars.NAMES
    with pytest.raises(AttributeError, match="no grammar"):
        grammars.PASCAL  # noqa: B018
    assert dir(grammars) == [*grammars.NAMES]


def test_the_first_example() -> None:
    text = re.search(r"grammar='''(.*?)'''", PAGE, re.S)
    assert text
    sums = constrain(BYTES, grammar=text[1])
    assert sums.matches("1+(22+3)") and not sums.matches("1+")


def test_a_shipped_grammar_inside_another() -> None:
    [line] = re.findall(r"^wrapped = .*$", PAGE, re.M)
    names: dict[str, Any] = {"grammars": grammars}
    exec(line, names)
    made = constrain(BYTES, grammar=names["wrapped"])
    assert made.matches('<json>{"a": [1]}</json>') and not made.matches("{}")


def test_masks_from_one_token_of_each_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STCON_CACHE_DIR", str(tmp_path))
    [code] = re.findall(r"```python\n(classes = query.*?)```", PAGE, re.S)
    exec(code, {"query": constrain(BYTES, grammar=grammars.JSON)})


def test_the_error_that_is_shown() -> None:
    shown = re.search(r"stcon.errors.GrammarError: (.*?)```", PAGE, re.S)
    assert shown
    text = 'root ::= item\nitem ::= "(" sum itm ")"\nsum ::= "1"'
    with pytest.raises(GrammarError) as found:
        constrain(BYTES, grammar=text)
    assert str(found.value) == shown[1].rstrip()


def test_everything_refused_is_named() -> None:
    for word in ("%declare", "%override", "%extend", "%lark", "%llguidance"):
        assert f"`{word}`" in PAGE
    for word in ("TagDispatch", "(= ...)", "<think>"):
        assert word in PAGE


def test_the_grammar_with_a_schema_inside() -> None:
    [text] = re.findall(r"```\n(start: text call.*?)```", PAGE, re.S)
    made = constrain(BYTES, grammar=text)
    search = '<tool_call>search {"words":"rain","limit":2}</tool_call>\n'
    quote = "<tool_call>quote not to be</tool_call>\n"
    for good in ("", "Yes.\n", search, f"Let me see. {quote}{search}"):
        assert made.matches(good), made.explain(good)
    for bad in (quote * 3, search.replace("2", '"2"'), quote.replace("to ", "")):
        assert not made.matches(bad), bad
