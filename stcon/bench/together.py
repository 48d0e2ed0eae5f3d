"""Sixteen formats resident together: what a server holds that knows them all.

Six extraction schemas and forms of 8 to 96 fields, as in the few-paths paper.  stcon's
tables are counted as they lie on the device, the classes of tokens that all share among
them; peers tell their sizes, or are measured by what the process grows.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

from stcon.api import constrain
from stcon.bench.cases import Case, cases, filled, form
from stcon.bench.engines import Engine, Refused
from stcon.bench.machine import give_back_free_memory, resident_bytes
from stcon.bench.table import Progress
from stcon.bench.tokenizer import Tokens
from stcon.constraints.dfa import DfaConstraint
from stcon.machines.limits import Limits

_PATIENT = Limits(seconds=60)  # what is slow is reported, not refused
_FIELDS = (8, 12, 16, 24, 32, 40, 48, 64, 80, 96)


def sixteen() -> list[Case]:
    """The formats, the extractions first."""
    forms = [Case(f"form_{n}", form(n), (filled(n, 0),)) for n in _FIELDS]
    return [*(case for case in cases() if case.is_extraction), *forms]


def measure(
    tokens: Tokens, peers: Sequence[Engine], progress: Progress
) -> dict[str, Any]:
    """Bytes of stcon's tables on a device, and of each peer's grammars."""
    from stcon.metal.tables import TokenTables
    from stcon.metal.walk import ByteTables

    progress.say("memory of sixteen formats: stcon")
    made = []
    for case in sixteen():
        one = constrain(tokens.vocabulary, case.schema, path="traced", limits=_PATIENT)
        assert isinstance(one, DfaConstraint)
        made.append(one)
    tables, automata = TokenTables(made, limits=True), ByteTables(made, limits=True)
    found: dict[str, Any] = {
        "formats": len(made),
        "states": sum(one.dfa.states for one in made),
        "class_tables": tables.nbytes,
        "common_classes": tables.classes,
        "automata": automata.nbytes,
        "full_token_tables": sum(3 * one.dfa.states for one in made) * tables.tokens,
        "peers": {},
    }
    for peer in peers:
        progress.say(f"memory of sixteen formats: {peer.name}")
        found["peers"][peer.name] = _size(peer, tokens)
    return found


def _size(engine: Engine, tokens: Tokens) -> dict[str, Any]:
    """What the grammars take as the engine tells it, or as the process has grown."""
    gc.collect()
    give_back_free_memory()
    before, kept, refused = resident_bytes(), [], 0
    for case in sixteen():
        try:
            grammar = engine.compile(case.schema)
        except Refused:
            refused += 1
            continue
        for text in case.texts():
            engine.first_wrong(grammar, tokens.encode(text))
        kept.append(grammar)
    gc.collect()
    give_back_free_memory()
    told = [engine.grammar_bytes(grammar) for grammar in kept]
    grown = max(resident_bytes() - before, 0)
    is_told = bool(told) and None not in told
    size = sum(size or 0 for size in told) if is_told else grown
    return {"bytes": size, "is_told": is_told, "refused": refused}


def lines(result: dict[str, Any]) -> list[str]:
    """The result in words."""
    full, tables = result["full_token_tables"], result["class_tables"]
    formats, classes = result["formats"], result["common_classes"]
    found = [
        f"{formats} formats together on a device, {result['states']:,} states:",
        f"  class tables {_mb(tables)}, the {classes} common classes included;",
        f"  automata to walk {_mb(result['automata'])} beside the bytes of the tokens; "
        f"full tables {_mb(full)}.",
    ]
    for name, peer in result["peers"].items():
        how = "as it says" if peer["is_told"] else "growth of the process"
        refused = f", {peer['refused']} refused" if peer["refused"] else ""
        found.append(f"  {name}: {_mb(peer['bytes'])}, {how}{refused}.")
    return found


def _mb(size: float) -> str:
    return f"{size / 1e6:,.1f} MB"
