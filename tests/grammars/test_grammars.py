"""The grammars that ship, against parsers that know nothing of them.

Whatever a grammar accepts its parser must; where a language needs more than a grammar
(names that match), the parser's complaint says so, and that is left out.
"""

from __future__ import annotations

import ast
import csv
import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any
from xml.parsers import expat

import pytest

from stcon import constrain, grammars
from stcon.constraints.constraint import Constraint
from tests.grammars.mutants import mutants
from tests.test_api import BYTES

PROGRAMS = Path(__file__).with_name("programs")


@cache
def made(name: str) -> Constraint:
    return constrain(BYTES, grammar=getattr(grammars, name))


def texts(file: str, line: str = "-----\n") -> list[str]:
    """The texts of a file, which stand between lines."""
    return (PROGRAMS / file).read_text("utf-8").split(line)


def refused(name: str, found: list[str]) -> list[str]:
    """Why texts are refused; nothing for those that are accepted."""
    return [made(name).explain(text) for text in found if not made(name).matches(text)]


def accepted(name: str, found: list[str]) -> list[str]:
    return [text for text in found if made(name).matches(text)]


def is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=lambda word: int(word))
    except ValueError:
        return False
    return True


def is_csv(text: str) -> bool:
    try:
        list(csv.reader(StringIO(text, newline=""), strict=True))
    except csv.Error:
        return False
    return True


def is_expression(text: str) -> bool:
    try:
        ast.parse(text.strip(" \t"), mode="eval")
    except SyntaxError:
        return False
    return True


def is_sql(text: str) -> bool:
    sqlglot = pytest.importorskip("sqlglot")
    try:
        sqlglot.parse_one(text)
    except sqlglot.errors.SqlglotError:
        return False
    return True


NOT_CONTEXT_FREE = {
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_TAG_MISMATCH,
        expat.errors.XML_ERROR_DUPLICATE_ATTRIBUTE,
        expat.errors.XML_ERROR_UNDEFINED_ENTITY,
        expat.errors.XML_ERROR_BINARY_ENTITY_REF,
        expat.errors.XML_ERROR_RECURSIVE_ENTITY_REF,
    )
}


def is_xml(text: str) -> bool:
    """Whether expat has no complaint that a grammar could make."""
    try:
        expat.ParserCreate().Parse(text.encode(), True)
    except expat.ExpatError as error:
        return error.code in NOT_CONTEXT_FREE
    return True


def random_json(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(7 if depth < 4 else 5)
    if kind == 5:
        return [random_json(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 6:
        keys = ["id", "né", "a b", "\n", ""][: rng.randrange(6)]
        return {key: random_json(rng, depth + 1) for key in keys}
    return [
        None,
        rng.random() < 0.5,
        rng.randrange(-99, 99),
        rng.random() * 1e20,
        "x\t😀",
    ][kind]


def json_texts() -> list[str]:
    rng = random.Random(1)
    return [
        json.dumps(
            {"items": [random_json(rng) for _ in range(6)]},
            indent=rng.choice([None, 2]),
            ensure_ascii=rng.random() < 0.5,
        )
        for _ in range(20)
    ]


def csv_texts() -> list[str]:
    rng = random.Random(2)
    fields = ["a", "", "two words", 'a "quoted" one', "1,5", "line\nend", "é", "-3.5"]
    found = []
    for _ in range(20):
        out = StringIO(newline="")
        end = rng.choice(["\n", "\r\n"])
        csv.writer(out, lineterminator=end).writerows(
            [rng.choice(fields) for _ in range(3)] for _ in range(5)
        )
        found.append(out.getvalue())
    return found


def random_sum(rng: random.Random, depth: int = 0) -> str:
    kind = rng.randrange(6 if depth < 4 else 2)
    if kind < 2:
        return rng.choice(["x", "rate", "7", "0", "3.25", ".5", "1e-9", "60."])
    parts = [random_sum(rng, depth + 1) for _ in range(2)]
    if kind == 2:
        return f"({parts[0]})"
    if kind == 3:
        return f"f( {parts[0]},{parts[1]})"
    sign = rng.choice([" + ", "-", "*", " / ", "//", " % ", "**"])
    return rng.choice(["", "-", "+"]) + sign.join(parts)


GOOD: dict[str, Callable[[], list[str]]] = {
    "JSON": json_texts,
    "CSV": csv_texts,
    "ARITHMETIC": lambda: [random_sum(random.Random(n), -2) for n in range(60)],
    "XML": lambda: texts("documents.xml"),
    "SQL": lambda: texts("queries.sql"),
}
JUDGES: dict[str, Callable[[str], bool]] = {
    "JSON": is_json,
    "CSV": is_csv,
    "ARITHMETIC": is_expression,
    "XML": is_xml,
    "SQL": is_sql,
}


@pytest.mark.parametrize("name", GOOD)
def test_good_texts(name: str) -> None:
    found = GOOD[name]()
    assert [text for text in found if not JUDGES[name](text)] == []
    assert refused(name, found) == []


@pytest.mark.parametrize("name", GOOD)
def test_texts_with_one_change(name: str) -> None:
    """The grammar accepts nothing that the parser refuses."""
    judge, count = JUDGES[name], 0
    for seed, text in enumerate(GOOD[name]()):
        for mutant in mutants(text, 20, seed):
            if not judge(mutant):
                count += 1
                assert not made(name).matches(mutant), mutant
    assert count >= 20


@pytest.mark.parametrize(
    ("name", "file"), [("XML", "broken.xml"), ("SQL", "broken.sql")]
)
def test_broken_texts(name: str, file: str) -> None:
    found = texts(file)
    assert len(found) >= 20
    assert [text for text in found if JUDGES[name](text)] == []
    assert accepted(name, found) == []


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1,]",
        "{'a':1}",
        "01",
        "1.",
        ".5",
        "+1",
        "NaN",
        '"\n"',
        '"\\x"',
        "[1 2]",
        '{"a"}',
        '{"a":}',
        "tru",
        "nulll",
        "",
        " ",
        "[",
        '"a',
        '{"a":1,}',
        "1 2",
        "--1",
    ],
)
def test_broken_json(text: str) -> None:
    assert not is_json(text) and not made("JSON").matches(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1+",
        "*2",
        "(1",
        "1)",
        "f(",
        "f(1,",
        "f(,1)",
        "1 2",
        "x y",
        "012",
        "1..2",
        "**2",
        "2 ** ",
        "(,)",
        "f(1)(",
        "1e",
        "x+/y",
        "$",
        "2^",
        "a=1",
    ],
)
def test_broken_sums(text: str) -> None:
    assert not is_expression(text) and not made("ARITHMETIC").matches(text)


@pytest.mark.parametrize(
    "text",
    [
        *('"a', 'a,"b', '"a"b', '"a" ,b', '"a"""b', '"a"\nb,"c', 'x\n"y"z', '"', ',"'),
        *('"a""', '"a","b', '"a"b"', '"a"x,"b"', '1,2\n"3', '"\n', '"a"\t', '"a" "b"'),
        *('é,"é"é', '"a,b\nc', '""a', '"a"-1', 'k,v\n"k"v,1'),
    ],
)
def test_broken_csv(text: str) -> None:
    assert not is_csv(text) and not made("CSV").matches(text)


def test_references_by_number() -> None:
    """Every number that expat takes and no other, around all borders."""
    borders = (0, 9, 11, 13, 32, 0xD7FF, 0xE000, 0xFFFD, 0x10000, 0x10FFFF, 10**7)
    numbers = {max(n + d, 0) for n in borders for d in range(-3, 4)}
    numbers |= {10**n + d for n in range(7) for d in (-1, 0, 1)}
    for number in numbers:
        for text in (f"&#{number};", f"&#x{number:x};", f"&#x00{number:X};"):
            document = f"<a>{text}</a>"
            assert made("XML").matches(document) == is_xml(document), document


def test_molecules() -> None:
    good, bad = texts("molecules.txt", "\n")[:-1], texts("no_molecules.txt", "\n")[:-1]
    assert len(good) >= 20 and len(bad) >= 20
    assert refused("SMILES", good) == [] and accepted("SMILES", bad) == []


def test_molecules_in_rdkit() -> None:
    """The lists are right; RDKit also knows chemistry, so only lists are compared."""
    chem = pytest.importorskip("rdkit.Chem")
    pytest.importorskip("rdkit.RDLogger").DisableLog("rdApp.*")
    assert all(map(chem.MolFromSmiles, texts("molecules.txt", "\n")[:-1]))
    bad = texts("no_molecules.txt", "\n")[:-1]
    assert [text for text in bad if chem.MolFromSmiles(text)] == []


CPP_LINE = "// -----\n"


def compiles(text: str) -> bool:
    options = ["-std=c++17", "-fsyntax-only", "-x", "c++", "-"]
    done = subprocess.run(["g++", *options], input=text.encode(), capture_output=True)
    return done.returncode == 0


def test_cpp() -> None:
    good, bad = texts("programs.cpp", CPP_LINE), texts("broken.cpp", CPP_LINE)
    assert len(good) >= 20 and len(bad) >= 20
    assert refused("CPP", good) == [] and accepted("CPP", bad) == []


def syntax_error(text: str) -> bool:
    """Whether the first thing that g++ has against a program is its syntax."""
    done = subprocess.run(
        ["g++", "-std=c++17", "-fsyntax-only", "-fmax-errors=1", "-x", "c++", "-"],
        input=text.encode(),
        capture_output=True,
        env={**os.environ, "LC_ALL": "C"},
    )
    first = next((line for line in done.stderr.splitlines() if b"error:" in line), b"")
    return bool(re.search(rb"expected|stray|missing terminating", first))


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++ here")
def test_cpp_with_one_change() -> None:
    """What has the words of a program but not its signs; other names would be errors
    that no grammar can see, and so is >> after what is no template."""
    count = 0
    for seed, text in enumerate(texts("programs.cpp", CPP_LINE)):
        for mutant in mutants(text, 12, seed):
            if re.findall(r"\w+", mutant) != re.findall(r"\w+", text):
                continue
            if mutant.count(">>") > text.count(">>") or not syntax_error(mutant):
                continue
            count += 1
            assert not made("CPP").matches(mutant), mutant
    assert count >= 20


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++ here")
def test_cpp_in_gcc() -> None:
    assert [t for t in texts("programs.cpp", CPP_LINE) if not compiles(t)] == []
    assert [t for t in texts("broken.cpp", CPP_LINE) if compiles(t)] == []
