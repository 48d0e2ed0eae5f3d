"""The budgets of the house style, on every file that git knows or would add."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOP_LEVEL = {
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "docs",
    "examples",
    "pyproject.toml",
    "stcon",
    "tests",
}
FILE_LINES, FUNCTION_LINES, NAMES, WIDTH = 400, 60, 20, 88
SPEAKS = (
    "stcon/bench/",
    "stcon/server/command.py",
    "stcon/__main__.py",
)  # programs, so they may print
MACHINE_PATH = re.compile(
    r"""(?<![\w.}\])~*-])/(home|root|tmp|work|Users)/(?!\.\.\.)"""
)
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|\bNotImplementedError\b")


@cache
def files() -> list[str]:
    """The paths of all files that are, or would be, in the tree."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True)
    names = done.stdout.decode().split("\0")
    return sorted({name for name in names if name and (ROOT / name).is_file()})


def sources(*folders: str) -> list[str]:
    """The Python files below ``folders``."""
    return [
        name for name in files() if name.endswith(".py") and name.startswith(folders)
    ]


def read(name: str) -> str | None:
    """The text of a file, or None if it holds none."""
    try:
        return (ROOT / name).read_text("utf-8")
    except (UnicodeDecodeError, FileNotFoundError):
        return None


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method in ``tree``."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Its lines, from ``def`` to the last statement."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


def long_file(text: str) -> Iterator[str]:
    """A complaint about a file with too many lines."""
    lines = len(text.splitlines())
    if lines > FILE_LINES:
        yield f"{lines} lines, more than {FILE_LINES}"


def wide_lines(text: str) -> Iterator[str]:
    """Complaints about lines that are too wide."""
    for at, line in enumerate(text.splitlines(), 1):
        if len(line) > WIDTH:
            yield f"line {at} has {len(line)} characters, more than {WIDTH}"


def long_functions(text: str) -> Iterator[str]:
    """Complaints about functions with too many lines."""
    for function in functions(ast.parse(text)):
        if length(function) > FUNCTION_LINES:
            yield f"{function.name} has {length(function)} lines"


def crowded_door(text: str) -> Iterator[str]:
    """Complaints about an ``__all__`` with too many names."""
    for node in ast.parse(text).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(name, ast.Name) and name.id == "__all__" for name in targets):
            names = ast.literal_eval(node.value)  # type: ignore[attr-defined]
            if len(names) > NAMES:
                yield f"__all__ has {len(names)} names, more than {NAMES}"


def undocumented(text: str) -> Iterator[str]:
    """Complaints about what is public and has no docstring."""
    tree = ast.parse(text)
    if tree.body and not ast.get_docstring(tree):
        yield "no docstring at the top"
    yield from undocumented_in(tree)


def undocumented_in(scope: ast.Module | ast.ClassDef) -> Iterator[str]:
    """The same for the definitions in ``scope``."""
    for node in scope.body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if node.name.startswith("_"):
            continue
        if not ast.get_docstring(node):
            yield f"{node.name} (line {node.lineno}) has no docstring"
        if isinstance(node, ast.ClassDef) and not inherits(node):
            yield from undocumented_in(node)


def inherits(node: ast.ClassDef) -> bool:
    """Whether methods of the class may be overrides, documented where they began."""
    return {getattr(base, "id", "") for base in node.bases} - {
        "ABC",
        "NamedTuple",
        "Protocol",
    } != set()


def prints(text: str) -> Iterator[str]:
    """Complaints about calls of print."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
            yield f"line {node.lineno} prints"


def mutable_state(text: str) -> Iterator[str]:
    """Complaints about containers to be filled later, and global names."""
    tree = ast.parse(text)
    for node in tree.body:
        value = getattr(node, "value", None)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and is_empty(value):
            yield f"line {node.lineno}: module-level mutable state"
    for inner in ast.walk(tree):
        if isinstance(inner, ast.Global):
            yield f"line {inner.lineno}: global"


def is_empty(value: ast.expr | None) -> bool:
    """Whether ``value`` is an empty container that only filling makes useful."""
    if isinstance(value, ast.Call):
        makers = {"list", "dict", "set", "defaultdict", "OrderedDict", "deque"}
        return not value.args and getattr(value.func, "id", "") in makers
    if isinstance(value, ast.Dict):
        return not value.keys
    return isinstance(value, ast.List) and not value.elts


def unfinished(text: str) -> Iterator[str]:
    """Complaints about marks of unfinished work."""
    for at, line in enumerate(text.splitlines(), 1):
        if UNFINISHED.search(line):
            yield f"line {at}: {line.strip()}"


def machine_paths(text: str) -> Iterator[str]:
    """Complaints about paths that exist on one machine only."""
    for at, line in enumerate(text.splitlines(), 1):
        if MACHINE_PATH.search(line):
            yield f"line {at}: {line.strip()}"


Check = Callable[[str], Iterator[str]]

# Each check, where it applies, and a text that it must complain about.
CHECKS: list[tuple[Check, tuple[str, ...], str]] = [
    (long_file, ("stcon/", "tests/", "examples/"), "x\n" * 401),
    (wide_lines, ("stcon/", "tests/", "examples/"), "x" * 89),
    (long_functions, ("stcon/", "tests/", "examples/"), "def f():\n" + " x\n" * 60),
    (crowded_door, ("stcon/",), f"__all__ = {list('abcdefghijklmnopqrstu')}"),
    (undocumented, ("stcon/", "examples/"), "'''Doc.'''\ndef f(): pass"),
    (undocumented, ("stcon/", "examples/"), "x = 1"),
    (undocumented, ("stcon/",), "'''D.'''\nclass C:\n '''D.'''\n def f(self): pass"),
    (prints, ("stcon/",), "if x:\n    print(x)"),
    (mutable_state, ("stcon/",), "cache = {}"),
    (mutable_state, ("stcon/",), "_seen: dict[int, int] = dict()"),
    (mutable_state, ("stcon/",), "def f():\n    global x"),
    (unfinished, ("stcon/", "examples/"), "x = 1  # TO" + "DO: more"),
]
NAMES_OF_CHECKS = [f"{check.__name__}-{i}" for i, (check, *_) in enumerate(CHECKS)]


@pytest.mark.parametrize(("check", "folders", "bad"), CHECKS, ids=NAMES_OF_CHECKS)
def test_budget(check: Check, folders: tuple[str, ...], bad: str) -> None:
    assert list(check(bad)), "the check sees nothing"
    excused = SPEAKS if check is prints else ()
    have = [
        f"{name}: {complaint}"
        for name in sources(*folders)
        if not name.startswith(excused or "\0")
        for complaint in check(read(name) or "")
    ]
    assert not have, "\n".join(have)


def test_files_and_functions_are_mostly_small() -> None:
    texts = [read(name) or "" for name in sources("stcon/")]
    assert statistics.median(text.count("\n") for text in texts if text) <= 200
    lengths = [length(f) for text in texts for f in functions(ast.parse(text))]
    assert statistics.median(lengths) <= 10


def test_no_drawer_for_odds_and_ends() -> None:
    drawers = {"utils.py", "util.py", "helpers.py", "misc.py", "common.py"}
    assert not [name for name in files() if Path(name).name in drawers]


def test_top_level_holds_nothing_else() -> None:
    assert {name.split("/")[0] for name in files()} <= TOP_LEVEL


PATHS = [
    ("see /ho" + "me/ann/x", True),
    ('open("/t' + 'mp/x")', True),
    ("--out=/ro" + "ot/x", True),
    ("#/$defs/ro" + "ot/type", False),
    ("~/wo" + "rk/x", False),
    ("/ho" + "mestead", False),
]


@pytest.mark.parametrize(("text", "want"), PATHS)
def test_machine_paths_are_seen(text: str, want: bool) -> None:
    assert bool(list(machine_paths(text))) == want


def test_no_file_names_a_machine_path() -> None:
    have = [
        f"{name}: {complaint}"
        for name in files()
        if not name.startswith("tests/cases/")  # reports of users, as they came
        for complaint in machine_paths(read(name) or "")
    ]
    assert not have, "\n".join(have)


def test_every_example_is_run_by_a_test() -> None:
    tests = read("tests/examples/test_examples.py") or ""
    scripts = [name.removeprefix("examples/") for name in sources("examples/")]
    assert scripts and not [name for name in scripts if f'"{name}"' not in tests]
