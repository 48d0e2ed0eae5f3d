"""Each example runs as printed in the README, with the real model."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from tests import assets

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

pytestmark = pytest.mark.real


def run(script: str, *arguments: str, status: int = 0) -> list[str]:
    """The lines that the script prints; the model is there already."""
    assets.smollm2_folder()
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    folder = str(assets.assets_folder())
    done = subprocess.run(
        [sys.executable, EXAMPLES / script, *arguments],
        env=os.environ | {"PYTHONPATH": paths, "STCON_ASSETS": folder},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == status, done.stderr
    return done.stdout.splitlines()


def test_smollm2() -> None:
    (have,) = run("smollm2.py")
    assert Path(have) == assets.smollm2_folder()


def test_extract() -> None:
    text, shown, speed = run("extract.py")
    person = json.loads(text)
    assert list(person) == ["name", "age", "city", "job", "email"]
    assert 0 <= person["age"] <= 150 and "@" in person["email"]
    assert shown.startswith(f"Person(name={person['name']!r}, age={person['age']}, ")
    assert re.fullmatch(
        r"first mask \d+ ms after the schema, \d+ tokens at \d+\.\d tokens/s", speed
    )


def test_extract_with_a_schema_of_ones_own(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"animal": {"enum": ["cat", "dog"]}, "legs": {"const": 4}},
        "required": ["animal", "legs"],
        "additionalProperties": False,
    }
    file = tmp_path / "animal.json"
    file.write_text(json.dumps(schema), "utf-8")
    options = ["--schema", str(file), "--prompt", "Which animal barks?"]
    text, shown, _ = run("extract.py", *options)
    jsonschema.validate(json.loads(text), schema)
    assert shown == repr(json.loads(text))


def test_extract_says_when_the_tokens_ran_out() -> None:
    *_, last = run("extract.py", "--max-tokens", "3", status=1)
    assert last == "not complete after 3 tokens: give --max-tokens"


def test_by_tools() -> None:
    *call, read = run("by_tools.py")
    assert (call[0], call[2], len(call)) == ("<tool_call>", "</tool_call>", 3)
    before, [found] = ast.literal_eval(read)
    assert before == "" and json.loads(call[1]) == found
    assert found["name"] == "time" or found["arguments"]["unit"] in (
        *("celsius", "fahrenheit"),
    )


def test_by_regex() -> None:
    (have,) = run("by_regex.py")
    assert re.fullmatch(r"(19|20)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", have)


def test_by_choices() -> None:
    have = [line.split(": ")[0] for line in run("by_choices.py")]
    assert len(have) == 2 and set(have) <= {"positive", "negative", "neutral"}


def test_by_schema() -> None:
    (have,) = run("by_schema.py")
    items = json.loads(have)
    assert 2 <= len(items) <= 3
    for item in items:
        assert set(item) == {"item", "count"}
        assert len(item["item"]) <= 20 and 1 <= item["count"] <= 12


def test_by_grammar() -> None:
    sqlglot = pytest.importorskip("sqlglot")
    query, why, *_ = run("by_grammar.py")
    assert query.startswith(("SELECT", "WITH")) and sqlglot.parse_one(query)
    assert why.startswith("The text stops too early, at character 6")


def test_forced() -> None:
    pieces, summary = run("forced.py")
    text = re.sub(r"(?<=[]|[])\||\|(?=\[)|[][|]", "", pieces)
    assert json.loads(text).keys() == {
        "temperature_celsius",
        "conditions",
        "wind_direction",
    }
    found = re.fullmatch(
        r"(\d+) tokens, (\d+) forced \(\d+%\), (\d+) model runs", summary
    )
    assert found and int(found[3]) < int(found[2]) < int(found[1])


def test_stream() -> None:
    lines = [ast.literal_eval(line) for line in run("stream.py")]
    assert lines[0] == {} and len(lines) > 6
    assert 2 <= len(lines[-1]["tags"]) <= 3 and len(lines[-1]["title"]) <= 40
    assert lines[-1]["title"].startswith(lines[3]["title"])


@pytest.fixture(autouse=True)
def _no_leftovers() -> Iterator[None]:
    """No example leaves a file beside the scripts."""
    before = {path.name for path in EXAMPLES.iterdir()}
    yield
    assert {path.name for path in EXAMPLES.iterdir()} - before <= {"__pycache__"}
