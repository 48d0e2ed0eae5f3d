"""``python -m stcon bench grammars`` on a tiny tokenizer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stcon import constrain, grammars
from stcon.__main__ import main
from stcon.bench.grammar_peers import PEERS
from stcon.bench.grammars import NAMES, texts_of
from stcon.bench.machine import installed
from tests.bench.conftest import END
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
    tokenizer_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("STCON_CACHE_DIR", str(tmp_path))
    rows = bench(tokenizer_file, tmp_path, "--build")
    assert [row["name"] for row in rows] == _CHOSEN
    for row in rows:
        ours = row["engines"]["stcon"]
        assert ours["first"]["count"] == ours["again"]["count"] == row["steps"] > 20
        assert ours["mb"] > 0 and ours["ready_s"] > 0 and ours["peak_mb"] > 10
    built = rows[0]["engines"]["stcon"]
    assert built["hops"] > built["mask_classes"] / 10 and built["build_s"] > 0
    assert "json" in capsys.readouterr().out


@pytest.mark.parametrize("peer", PEERS)
def test_beside_a_peer(peer: str, tokenizer_file: Path, tmp_path: Path) -> None:
    if not installed(peer.removesuffix("-classes")):
        pytest.skip(f"{peer} is not installed")
    rows = bench(tokenizer_file, tmp_path, "--peer", peer)
    found = [row["engines"][peer] for row in rows]
    for row, have in zip(rows, found, strict=True):
        if "refused" not in have:
            assert have["first"]["count"] == row["steps"]
            assert have["differ"] == 0
    assert any("refused" not in have for have in found)


@pytest.mark.parametrize("name", NAMES)
def test_every_text_is_of_its_grammar(name: str) -> None:
    made = constrain(BYTES, grammar=getattr(grammars, name.upper()))
    assert [made.explain(t) for t in texts_of(name) if not made.matches(t)] == []
