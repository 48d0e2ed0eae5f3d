"""Imports point one way: from later rooms to earlier ones, lazy ones included."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "stcon"

# A room imports from rooms of a smaller number and from itself.
RANK = {
    "errors": 0,
    "grammars": 0,  # data
    "syntax": 1,
    "machines": 2,
    "tokens": 3,
    "constraints": 4,
    "cuda": 4,  # how the text of a kernel runs there; knows no kernel
    "cpu": 5,
    "metal": 5,
    "decode": 6,
    "engines": 7,
    "qwen35": 7,
    "api": 8,  # the door: the rooms behind it do not know it
    "tools": 8,  # another one, for what comes back
    "server": 9,
    "bench": 9,
    "show": 10,
    "doctor": 10,
    "__main__": 11,
}
KNOWS_MLX_LM = {"decode", "qwen35", "server", "bench", "doctor", "__main__"}
HEAVY = ("mlx", "mlx_lm", "numpy", "pydantic", "tokenizers", "torch", "transformers")
MODULES = sorted(PACKAGE.rglob("*.py"))


def test_every_room_has_a_rank() -> None:
    have = {room(path) for path in MODULES} - {"__init__"}
    assert have <= set(RANK), "new rooms: put them into RANK and docs/design.md"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_come_from_earlier_rooms(path: Path) -> None:
    for line, target in imports(path.read_text("utf-8"), package_of(path)):
        complaint = judge(room(path), target)
        assert not complaint, f"{path.relative_to(ROOT)}:{line}: {complaint}"


CASES = [
    # The room, what it says, the complaint.
    ("syntax", "import json, numpy", None),
    ("syntax", "from stcon.errors import SchemaError", None),
    ("syntax", "from stcon.syntax.rules import Rules", None),
    ("syntax", "from stcon import __version__", None),
    ("syntax", "from stcon import constrain", "the door"),
    ("syntax", "from stcon import tokens", "later"),
    ("syntax", "from stcon.machines.dfa import Dfa", "later"),
    ("syntax", "import stcon.machines.dfa as dfa", "later"),
    ("syntax", "from ..machines import dfa", "later"),
    ("syntax", "def f():\n    from stcon.tokens import trie", "later"),
    ("syntax", "if TYPE_CHECKING:\n    from stcon.api import constrain", "later"),
    ("syntax", "import_module('stcon.tokens.trie')", "later"),
    ("errors", "from stcon.syntax import rules", "later"),
    ("cpu", "from stcon.metal import walk", "beside"),
    ("cpu", "from stcon.cpu.rows import Rows", None),
    ("constraints", "from stcon.decode.processor import bind", "later"),
    ("decode", "from stcon.constraints.dfa import DfaConstraint", None),
    ("decode", "import mlx_lm.generate", None),
    ("cpu", "def f():\n    from mlx_lm.generate import generate_step", "mlx_lm"),
    ("api", "import mlx_lm", "mlx_lm"),
    ("bench", "from stcon import constrain", None),
    ("bench", "import mlx_lm", None),
]


@pytest.mark.parametrize(("at", "source", "want"), CASES)
def test_judgement(at: str, source: str, want: str | None) -> None:
    found = imports(source, ["stcon", at])
    have = [complaint for _, name in found if (complaint := judge(at, name))]
    assert len(have) == bool(want) and (not want or want in have[0])


@pytest.mark.parametrize("statement", ["import stcon", "import stcon.errors"])
def test_import_loads_nothing_heavy(statement: str) -> None:
    have = loaded(statement)
    assert not have & set(HEAVY)
    assert not any(name.startswith("stcon.syntax") for name in have)


def test_the_door_loads_no_model_library() -> None:
    have = loaded("from stcon import constrain")
    assert not have & (set(HEAVY) - {"numpy"})


def test_a_missing_name_is_an_attribute_error() -> None:
    import stcon

    with pytest.raises(AttributeError, match="no_such"):
        _ = stcon.no_such
    assert set(stcon.__all__) <= set(dir(stcon))


def loaded(statement: str) -> set[str]:
    """The names in sys.modules after ``statement`` in a new interpreter."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True
    )
    return set(done.stdout.decode().split())


def room(path: Path) -> str:
    """The first name below the package: a folder, or a module of its own."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def package_of(path: Path) -> list[str]:
    """The dotted name, in parts, of the package that ``path`` is in."""
    return list(path.relative_to(ROOT).parts[:-1])


def judge(at: str, target: str) -> str:
    """What is wrong with room ``at`` importing ``target``, or nothing."""
    top, *below = target.split(".")
    if top == "mlx_lm" and at not in KNOWS_MLX_LM:
        return f"{at} imports mlx_lm; only {', '.join(sorted(KNOWS_MLX_LM))} may"
    if top != "stcon" or at == "__init__" or not below or below[0] == "__version__":
        return ""
    if below[0] not in RANK:
        door = RANK["api"]
        return "" if RANK[at] >= door else f"{at} imports {target} through the door"
    if below[0] == at or RANK[below[0]] < RANK[at]:
        return ""
    where = "beside" if RANK[below[0]] == RANK[at] else "later than"
    return f"{at} imports {target}, which is {where} it"


def imports(source: str, package: list[str]) -> Iterator[tuple[int, str]]:
    """The line and the absolute name of all that ``source`` imports anywhere."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            parts = [*base, *(node.module or "").split(".")]
            stem = ".".join(part for part in parts if part)
            if stem == "stcon":
                yield from ((node.lineno, f"stcon.{a.name}") for a in node.names)
            else:
                yield node.lineno, stem
        elif isinstance(node, ast.Call) and is_import_module(node.func):
            yield from ((node.lineno, a.value) for a in node.args if is_text(a))


def is_import_module(node: ast.expr) -> bool:
    """Whether ``node`` names importlib.import_module."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name == "import_module"


def is_text(node: ast.expr) -> bool:
    """Whether ``node`` is a string constant."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
