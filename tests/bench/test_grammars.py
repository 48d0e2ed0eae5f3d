"""``python -m stcon bench grammars`` on a tiny tokenizer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stcon import constrain, grammars
from stcon.__main__ import main
from stcon.bench import grammar_peers
from stcon.bench.grammar_engines import GrammarEngine, Message, Row, Walks
from stcon.bench.grammar_forms import FORMS, form_of
from stcon.bench.grammar_peers import PEERS
from stcon.bench.grammars import NAMES, facts_of, texts_of
from stcon.bench.machine import installed
from stcon.bench.workers import Outcome
from tests.bench.conftest import END
from tests.grammars.mutants import mutants
from tests.test_api import BYTES

_CHOSEN = ["json", "csv"]


def bench(tokenizer: Path, folder: Path, *more: str) -> list[dict[str, Any]]:
    """The rows of the bench."""
    file = folder / "out.json"
    options = ["--vocab", str(tokenizer), "--eos", str(END), "--json", str(file)]
    chosen = [part for name in _CHOSEN for part in ("--grammar", name)]
    assert main(["bench", "grammars", *options, *chosen, *more]) == 0
    rows: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))["grammars"]
    return rows


def test_alone(
    tokenizer_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = bench(tokenizer_file, tmp_path, "--build")
    assert [row["name"] for row in rows] == _CHOSEN
    for row in rows:
        ours = row["engines"]["stcon"]
        for facts in row["engines"].values():
            assert facts["step"]["count"] == row["steps"] > 20
            assert facts["differ"] == 0
        assert ours["mb"] > 0 and ours["ready_s"] > 0 and ours["peak_mb"] >= 0
    built = rows[0]["engines"]["stcon"]
    assert built["hops"] > built["classes"] / 10 and built["build_s"] > 0
    shown = capsys.readouterr().out
    for name in ("stcon-first", "stcon-classes", "stcon-tokens"):
        assert name in rows[0]["engines"] and name in shown


@pytest.mark.parametrize("peer", PEERS)
def test_beside_a_peer(peer: str, tokenizer_file: Path, tmp_path: Path) -> None:
    if not installed(PEERS[peer]):
        pytest.skip(f"{peer} is not installed")
    rows = bench(tokenizer_file, tmp_path, "--peer", peer)
    found = [row["engines"][peer] for row in rows]
    for row, have in zip(rows, found, strict=True):
        if "refused" not in have:
            assert have["step"]["count"] == row["steps"]
            assert have["differ"] == 0
    assert any("refused" not in have for have in found)


@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_that_is_not_installed(
    peer: str,
    tokenizer_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(grammar_peers, "installed", lambda package: None)
    options = ["--vocab", str(tokenizer_file), "--eos", str(END), "--peer", peer]
    with pytest.raises(SystemExit) as ended:
        main(["bench", "grammars", *options])
    assert ended.value.code == 2
    assert f"pip install {PEERS[peer]}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--limit-gb", "1e300"], "must be more than 0"),
        (["--limit-seconds", "x"], "must be more than 0"),
        (["--limit-before", "nan"], "must be more than 0"),
        (["--json", "/no/such/folder/x.json"], "cannot be written"),
        (["--json", "/"], "cannot be written"),
    ],
)
def test_wrong_options(
    options: list[str],
    words: str,
    tokenizer_file: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    vocab = ["--vocab", str(tokenizer_file), "--eos", str(END)]
    with pytest.raises(SystemExit) as ended:
        main(["bench", "grammars", *vocab, *options])
    assert ended.value.code == 2 and words in capsys.readouterr().err


class Wrong(GrammarEngine):
    """Every token may always come, and ``bad`` is refused."""

    name = "wrong"

    def __init__(self, bad: int) -> None:
        self._bad = bad

    def compile(self, text: str) -> Message:
        return {}

    def reset(self) -> None:
        pass

    def fill(self) -> None:
        pass

    def row(self) -> Row:
        return np.ones(BYTES.size, np.bool_)

    def advance(self, token: int) -> bool:
        return token != self._bad


def walked(histories: list[list[int]], limit: float, bad: int = -1) -> list[Message]:
    return list(Walks(BYTES, histories, limit).of(Wrong(bad), "wrong"))


def test_a_walk_ends_at_a_refused_token() -> None:
    found = walked([[5, 6], [5, 9, 6], [5]], 60, bad=9)
    assert [len(message["ns"]) for message in found] == [2, 2]
    assert found[1]["refused"] == "a valid text, at its token 2"


def test_a_walk_ends_when_its_time_is_over() -> None:
    (only,) = walked([[5, 6], [5]], 1e-9)
    assert len(only["ns"]) == 1


def test_other_masks_are_counted() -> None:
    constraint = constrain(BYTES, choices=["ab"])
    history = [token for token in range(BYTES.size) if BYTES.token_bytes(token) == b"a"]
    wanted = _digests_of(constraint.allowed(constraint.start))
    messages = walked([history], 60)
    one = {"walk": "stcon-first", "ns": [1], "translate_ns": [0], "digests": wanted}
    ours = facts_of("stcon", Outcome([one]), [wanted])
    theirs = facts_of("wrong", Outcome(messages), [wanted])
    assert ours["stcon-first"]["differ"] == 0 and theirs["wrong"]["differ"] == 1


def _digests_of(row: Row) -> list[bytes]:
    class One(Wrong):
        def row(self) -> Row:
            return row

    (message,) = Walks(BYTES, [[5]], 60).of(One(-1), "one")
    found: list[bytes] = message["digests"]
    return found


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        (Outcome([{"refused": "no"}]), "no"),
        (Outcome([{"walk": "x", "ns": [], "refused": "a text"}]), "a text"),
        (Outcome([], ending="timeout", why="more than 1 s"), "more than 1 s"),
    ],
)
def test_what_did_not_run(outcome: Outcome, why: str) -> None:
    assert facts_of("x", outcome, []) == {"x": {"refused": why}}


@pytest.mark.parametrize("file", sorted(FORMS.glob("*.gbnf")), ids=lambda f: f.stem)
def test_forms_are_the_same_language(file: Path) -> None:
    name = file.stem
    shipped = constrain(BYTES, grammar=getattr(grammars, name.upper()))
    other = constrain(BYTES, grammar=form_of(name, ""))
    compared = set()
    for seed, text in enumerate(texts_of(name)):
        for changed in [text, *mutants(text, 25, seed)]:
            assert other.matches(changed) == shipped.matches(changed), changed
            compared.add(other.matches(changed))
    assert compared == {True, False}


def test_a_grammar_without_another_form() -> None:
    assert form_of("none", "the text") == "the text"


@pytest.mark.parametrize("name", NAMES)
def test_every_text_is_of_its_grammar(name: str) -> None:
    made = constrain(BYTES, grammar=getattr(grammars, name.upper()))
    assert [made.explain(t) for t in texts_of(name) if not made.matches(t)] == []
