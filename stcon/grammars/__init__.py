"""Grammars of common languages, as GBNF.

    from stcon import constrain, grammars
    query = constrain(tokenizer, grammar=grammars.SQL)

Each name is the text of the file of that name beside this one, read when it is first
used.  What a grammar leaves out stands at its top; docs/grammars.md has a table.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent

ARITHMETIC: str
BYTHON: str
CPP: str
CSV: str
JSON: str
SMILES: str
SQL: str
XML: str

NAMES = ("ARITHMETIC", "BYTHON", "CPP", "CSV", "JSON", "SMILES", "SQL", "XML")


def __getattr__(name: str) -> str:
    """The text of the grammar ``name``."""
    if name not in NAMES:
        raise AttributeError(f"module {__name__!r} has no grammar {name!r}")
    text = (FOLDER / f"{name.lower()}.gbnf").read_text("utf-8")
    globals()[name] = text
    return text


def __dir__() -> list[str]:
    """The names of the grammars."""
    return [*NAMES]
