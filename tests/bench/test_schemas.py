"""``bench schemas`` from a file to its tables and its JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stcon.__main__ import main
from stcon.bench.machine import installed
from stcon.bench.schema_files import Entry, read_entries
from stcon.bench.schemas import chosen, measure, report
from stcon.bench.table import Progress
from stcon.bench.tokenizer import load_tokens
from stcon.bench.workers import Bounds
from tests.bench import fakes
from tests.bench.conftest import END

_FILE = str(Path(__file__).with_name("few_schemas.jsonl"))
_NAMES = [entry.name for entry in read_entries([_FILE])]


def _bench(tokenizer: Path, folder: Path, *more: str) -> dict[str, Any]:
    file = folder / "out.json"
    options = ["--vocab", str(tokenizer), "--eos", str(END), "--json", str(file)]
    assert main(["bench", "schemas", _FILE, *options, *more]) == 0
    result: dict[str, Any] = json.loads(file.read_text("utf-8"))
    assert result["bench"] == "schemas" and result["files"] == ["few_schemas.jsonl"]
    return result


@pytest.fixture(params=[None, "llguidance", "xgrammar"])
def peer(request: pytest.FixtureRequest) -> list[str]:
    """Options that ask for one peer, or for none."""
    if request.param is None:
        return []
    if not installed(request.param):
        pytest.skip(f"{request.param} is not installed")
    return ["--peer", request.param]


def test_bench(
    tokenizer_file: Path,
    tmp_path: Path,
    peer: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = _bench(tokenizer_file, tmp_path, *peer)
    assert list(result["overall"]) == ["stcon", *peer[1:]]
    assert [row["name"] for row in result["schemas"]] == _NAMES
    have = {row["name"]: row["engines"]["stcon"] for row in result["schemas"]}
    wrong = {name for name, facts in have.items() if not facts["fully_right"]}
    assert wrong == {
        "refused",
        "unsatisfiable",
        "a whole number with a fraction",
        "a wrong label",
        "anything",
    }
    assert have["refused"]["why"]["keyword"] == "uniqueItems"
    assert have["unsatisfiable"]["status"] == "refused"
    [strict] = have["a whole number with a fraction"]["too_strict"]
    assert (strict["test"], strict["before"]) == (0, '{"n":1')
    assert have["a wrong label"]["too_loose"] == [{"test": 0, "text": '"red"'}]
    [strict] = have["anything"]["too_strict"]  # half a surrogate pair
    assert strict["before"].startswith('[null,-0.5,1e-07,{"":"')
    assert have["a tree"]["kind"] == "pushdown"
    overall = result["overall"]["stcon"]
    assert overall["schemas"] == len(_NAMES) == overall["compiled"] + 2
    assert overall["mask_us"]["again"]["count"] > 50
    out = capsys.readouterr().out
    assert "a wrong label, test 0: too loose" in out
    assert "refused by stcon" in out and "uniqueItems" in out


def test_the_peer_sees_the_same_texts(tokenizer_file: Path, tmp_path: Path) -> None:
    if not installed("llguidance"):
        pytest.skip("llguidance is not installed")
    names = ["declared order", "a tree", "a wrong label"]
    only = [part for name in names for part in ("--only", name)]
    result = _bench(tokenizer_file, tmp_path, "--peer", "llguidance", *only)
    assert [row["name"] for row in result["schemas"]] == [
        "declared order",
        "a wrong label",
        "a tree",
    ]
    for row in result["schemas"]:
        ours, theirs = row["engines"].values()
        for key in ("fully_right", "too_loose", "too_strict", "tests"):
            assert ours[key] == theirs[key], row["name"]
        masks = [facts["mask_us"]["again"]["count"] for facts in (ours, theirs)]
        assert masks[0] == masks[1]


def test_bad_endings_are_reported(tokenizer_file: Path) -> None:
    tokens = load_tokens(str(tokenizer_file), [END])
    entries = read_entries([_FILE])[:2]
    openers = {
        "stcon": fakes.jobs_made_to("die"),
        "slow": fakes.jobs_made_to("hang"),
    }
    result = measure(entries, tokens, openers, Bounds(seconds=0.3), Progress())
    overall = result["overall"]
    assert overall["stcon"]["crash"] == overall["slow"]["timeout"] == 2
    assert overall["stcon"]["compiled"] == 0
    text = report(result)
    assert "declared order: crash: exit status 3: assertion failed: stack" in text


def test_choosing() -> None:
    entries = [Entry(name, True, ()) for name in ("ab", "bc", "cd", "de")]

    def names(part: slice, *only: str) -> list[str]:
        return [entry.name for entry in chosen(entries, part, only)]

    assert names(slice(None)) == ["ab", "bc", "cd", "de"]
    assert names(slice(1, 3)) == ["bc", "cd"]
    assert names(slice(None), "b", "e") == ["ab", "bc", "de"]
    assert names(slice(1, None, 2), "b", "e") == ["bc"]


_WRONG = {
    "no file": ([], "FILE"),
    "no such file": (["none.jsonl", "--vocab", "x"], "none.jsonl: No such file"),
    "a peer it does not have": ([_FILE, "--peer", "outlines-core"], "outlines-core"),
    "a slice": ([_FILE, "--slice", "5"], "LO:HI"),
    "a slice of words": ([_FILE, "--slice", "a:b"], "LO:HI"),
    "a slice without step": ([_FILE, "--slice", "1:2:0"], "LO:HI"),
    "no time": ([_FILE, "--limit-seconds", "0"], "more than 0"),
    "no memory": ([_FILE, "--limit-gb", "nan"], "more than 0"),
    "no tokenizer": ([_FILE], "tests.assets"),
}


@pytest.mark.parametrize("name", _WRONG)
def test_wrong_arguments(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    options, want = _WRONG[name]
    with pytest.raises(SystemExit) as left:
        main(["bench", "schemas", *options])
    assert left.value.code == 2
    assert want in capsys.readouterr().err


def test_a_broken_line_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_text('\n{"name": 1}\n')
    with pytest.raises(SystemExit) as left:
        main(["bench", "schemas", str(file)])
    assert left.value.code == 2
    assert "broken.jsonl:2: " in capsys.readouterr().err


def test_help_shows_the_form_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["bench", "schemas", "--help"])
    assert left.value.code == 0
    assert '"tests": [{"valid"' in capsys.readouterr().out
