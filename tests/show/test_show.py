"""Traces and graphs, and the command that shows them."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import stcon
from stcon import HistoryError, LimitError, StconError, constrain
from stcon.__main__ import main
from stcon.constraints.dfa import DfaConstraint
from stcon.show.dot import dot
from stcon.show.trace import Trace
from tests import tiny
from tests.worlds import constraint as small
from tests.worlds import record

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
TEXT = '{"name":"Maria é","age":34}'


def made(text: str = TEXT) -> Trace:
    constraint = constrain(tiny.tokenizer(), SCHEMA, eos_token_ids=[tiny.end_id()])
    return stcon.trace(constraint, text)


def test_pieces_are_the_output() -> None:
    found = made()
    assert b"".join(piece.data for piece in found.pieces).decode() == TEXT
    assert found.forced + found.runs == len(found.pieces) and found.forced > 2
    forced = b"".join(p.data for p in found.pieces if p.forced).decode()
    assert '"name' in forced and "Maria" not in forced
    ids = [piece.token for piece in found.pieces]
    constraint = constrain(tiny.tokenizer(), SCHEMA, eos_token_ids=[tiny.end_id()])
    assert stcon.trace(constraint, [*ids, tiny.end_id()]) == found


def test_ways_to_show_it() -> None:
    found = made()
    plain = re.sub(r"\x1b\[\d+m", "", found.ansi()).split("\n")[0]
    assert plain == TEXT
    assert found.html() == found._repr_html_()
    page = ElementTree.fromstring(f"<p>{found.html()}</p>")
    assert "".join(page.itertext()).startswith(TEXT)
    assert "model runs" in str(found).splitlines()[-1]
    assert "[" in str(found)


def test_what_is_not_allowed() -> None:
    with pytest.raises(HistoryError, match="not allowed") as caught:
        made('{"name":7}')
    assert caught.value.position is not None
    with pytest.raises(StconError, match="not known"):
        stcon.trace(small(record()), "x")
    with pytest.raises(TypeError, match="takes a constraint first"):
        stcon.trace("x", small(record()))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="text or token ids"):
        stcon.trace(small(record()), {"a": 1})  # type: ignore[arg-type]
    only_ids = stcon.trace(small(record()), [2 + ord("{")])
    assert only_ids.runs == 1


def test_the_graph_of_an_automaton(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = small(record())
    assert isinstance(machine, DfaConstraint)
    graph = dot(machine.dfa)
    assert graph.startswith("digraph") and graph.count("->") == 6
    assert 'label="{\\"a\\":' in graph.replace("...", "") and "doublecircle" in graph
    monkeypatch.setattr("stcon.show.dot._MOST_NODES", 3)
    with pytest.raises(LimitError, match="too many to look at"):
        dot(machine.dfa)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tiny.tokenizer().save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "config.json").write_text(json.dumps({"eos_token_id": tiny.end_id()}))
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    return tmp_path


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vocab = ["--vocab", str(folder)]
    page = folder / "page.html"
    schema = str(folder / "schema.json")
    assert (
        main(["show", "--schema", schema, *vocab, "--text", TEXT, "--html", str(page)])
        == 0
    )
    assert "forced" in capsys.readouterr().out and "<span" in page.read_text("utf-8")
    assert main(["show", "--regex", "ab|ac", *vocab, "--dot"]) == 0
    assert "digraph" in capsys.readouterr().out
    (folder / "sums.gbnf").write_text('root ::= root "+" [0-9]+ | "n=1"')
    sums = ["--grammar", str(folder / "sums.gbnf")]
    assert main(["show", *sums, *vocab, "--text", "n=1+22"]) == 0
    assert "forced" in capsys.readouterr().out
    assert main(["show", "--grammar", "json", *vocab, "--text", '{"a":[1]}']) == 0
    assert "forced" in capsys.readouterr().out
    assert main(["show", "--choices", "yes", "no", *vocab, "--text", "no"]) == 0
    assert "not finished" not in capsys.readouterr().out
    assert main(["show", "--choices", "yes", "no", *vocab, "--text", "ye"]) == 0
    assert "not finished: The text stops too early" in capsys.readouterr().out
    for wrong in (
        ["--regex", "(", *vocab, "--text", "x"],
        ["--schema", str(folder / "none.json"), *vocab, "--text", "x"],
        ["--regex", "a", *vocab, "--text", "b"],
        ["--schema", schema, *vocab, "--dot"],
        [*sums, *vocab, "--dot"],
    ):
        if wrong[-1] == "--dot":
            (folder / "schema.json").write_text("{}")
        with pytest.raises(SystemExit) as caught:
            main(["show", *wrong])
        assert caught.value.code == 2
        assert capsys.readouterr().err.startswith("stcon show: ")
