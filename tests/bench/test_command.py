"""``python -m stcon bench`` from its arguments to its JSON, on a tiny tokenizer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stcon.__main__ import main
from stcon.bench.engines import PEERS
from stcon.bench.machine import installed
from tests.bench.conftest import END

_TIMES = {"count", "p50", "p90", "p95", "p99", "mean", "least", "most", "stcon_ratio"}
_SCHEMAS = ("tool_call", "classification")
_HAVE = [peer for peer in PEERS if installed(peer)]


def _bench(bench: str, tokenizer: Path, folder: Path, *more: str) -> dict[str, Any]:
    file = folder / "out.json"
    names = _SCHEMAS[:1] if "--peer" in more else _SCHEMAS
    schemas = [part for name in names for part in ("--schema", name)]
    options = ["--vocab", str(tokenizer), "--eos", str(END), "--rounds", "1"]
    status = main(["bench", bench, *options, *schemas, "--json", str(file), *more])
    assert status == 0
    result: dict[str, Any] = json.loads(file.read_text("utf-8"))
    assert result["bench"] == bench
    assert result["vocabulary"]["size"] == END + 1
    assert result["versions"]["stcon"] and result["machine"]["python"]
    assert tuple(row["name"] for row in result["schemas"]) == names
    return result


@pytest.fixture(params=[None, *PEERS])
def peer(request: pytest.FixtureRequest) -> list[str]:
    """Options that ask for one peer, or for none."""
    if request.param is None:
        return []
    if request.param not in _HAVE:
        pytest.skip(f"{request.param} is not installed")
    return ["--peer", request.param]


def test_compile(
    tokenizer_file: Path,
    tmp_path: Path,
    peer: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = _bench("compile", tokenizer_file, tmp_path, *peer)
    for row in result["schemas"]:
        assert list(row["engines"]) == ["stcon", *peer[1:]]
        ours = row["engines"]["stcon"]
        assert ours["count"] == 1 and ours["states"] > 50
        assert list(ours["stages"]) == ["rules", "machine", "first mask"]
        for name, have in row["engines"].items():
            assert "refused" in have or have.keys() >= _TIMES, name
    assert result["overall"]["extraction_p50"] > 0
    assert "tool_call" in capsys.readouterr().out


def test_mask(
    tokenizer_file: Path,
    tmp_path: Path,
    peer: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = _bench("mask", tokenizer_file, tmp_path, *peer)
    for row in result["schemas"]:
        assert list(row["engines"]) == ["stcon", *peer[1:]]
        assert 0 < row["first_visits"] <= row["steps"]
        for name, ways in row["engines"].items():
            if "refused" in ways:
                continue
            want = ["bool"] if name == "stcon" else ["packed", "bool"]
            assert list(ways) == want
            for visits in ways.values():
                assert visits["first"]["count"] == row["first_visits"]
                assert visits["revisit"]["count"] == row["steps"]
                assert visits["first"].keys() == _TIMES
    steps = sum(row["steps"] for row in result["schemas"])
    assert result["overall"]["stcon"]["bool"]["revisit"]["count"] == steps
    assert "revisit" not in capsys.readouterr().err


def test_memory(
    tokenizer_file: Path,
    tmp_path: Path,
    peer: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("stcon.bench.memory._BATCH", 2)
    result = _bench("memory", tokenizer_file, tmp_path, *peer)
    for row in result["schemas"]:
        assert list(row["engines"]) == ["stcon", *peer[1:]]
        ours = row["engines"]["stcon"]
        parts = ours["automaton"] + ours["table"] + ours["class_map"]
        assert ours["told"] == parts
        assert ours["full_token_table"] == 3 * ours["states"] * (END + 1)
        for name, have in row["engines"].items():
            told, grown = have.get("told"), have.get("resident")
            assert "refused" in have or told or grown is not None, name
    assert result["shared"]["row_cache_limit"] == 32 << 20
    together = result["together"]
    assert together["formats"] == 16 and list(together["peers"]) == peer[1:]
    assert together["class_tables"] < together["full_token_tables"]
    said = capsys.readouterr().out
    assert "vocabulary" in said and "16 formats together" in said


_WRONG = {
    "no tokenizer": ([], "tests.assets"),
    "no such file": (["--vocab", "nowhere/tokenizer.json"], "nowhere"),
    "no rounds": (["--vocab", "x", "--rounds", "0"], "at least 1"),
    "a clock too slow": (["--vocab", "x", "--clock", "cpu"], "as long as a step"),
    "no such peer": (["--vocab", "x", "--peer", "other"], "other"),
}


@pytest.mark.parametrize("name", _WRONG)
def test_wrong_arguments(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    options, want = _WRONG[name]
    with pytest.raises(SystemExit) as left:
        main(["bench", "mask", *options])
    assert left.value.code == 2
    assert want in capsys.readouterr().err


def test_the_end_must_be_known(
    tokenizer_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["bench", "mask", "--vocab", str(tokenizer_file)])
    assert left.value.code == 2
    assert "--eos" in capsys.readouterr().err


def test_a_missing_peer_is_named(
    tokenizer_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("stcon.bench.engines.installed", lambda name: None)
    options = ["--vocab", str(tokenizer_file), "--eos", str(END)]
    with pytest.raises(SystemExit) as left:
        main(["bench", "mask", *options, "--peer", "xgrammar"])
    assert left.value.code == 2
    assert "pip install xgrammar" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "status", "stream"),
    [([], 0, "stdout"), (["--help"], 0, "stdout"), (["nonsense"], 2, "stderr")],
)
def test_python_m_stcon(arguments: list[str], status: int, stream: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stcon", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status
    assert "bench" in getattr(done, stream)
