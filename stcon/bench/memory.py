"""What a grammar keeps: bytes each, and what all of them share.

stcon's tables are counted exactly.  Engines that do not tell their size are
measured from outside: grammars are compiled and walked over the instances, all
are kept, and the growth of the resident memory is divided by their number.  The
same is done to stcon, as a check of its count.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Sequence
from typing import Any

from stcon.bench.cases import Case
from stcon.bench.engines import Engine, Refused
from stcon.bench.machine import give_back_free_memory, resident_bytes
from stcon.bench.stcon_engine import StconEngine
from stcon.bench.table import Cell, Progress, table
from stcon.bench.timing import timed
from stcon.bench.together import lines
from stcon.bench.together import measure as measure_together
from stcon.bench.tokenizer import Tokens
from stcon.constraints.constraint import Constraint
from stcon.constraints.dfa import DfaConstraint
from stcon.constraints.pushdown import PushdownConstraint
from stcon.cpu.rows import shared_rows

_BATCH = 16
_SECONDS = 10.0  # of compiling for one batch; a slow engine gets a smaller one


def measure(
    tokens: Tokens,
    stcon: StconEngine,
    peers: Sequence[Engine],
    cases: Sequence[Case],
    rounds: int,
    progress: Progress,
) -> dict[str, Any]:
    """Per schema the bytes of stcon's tables and of the peers' grammars."""
    rows = []
    for case in cases:
        histories = [tokens.encode(text) for text in case.texts()]
        engines: dict[str, Any] = {}
        for engine in [stcon, *peers]:
            progress.say(f"memory {case.name}: {engine.name}")
            try:
                engines[engine.name] = _measure_engine(engine, case, histories, rounds)
            except Refused as error:
                engines[engine.name] = {"refused": error.message}
        if "refused" not in engines[stcon.name]:
            engines[stcon.name] |= _tables(stcon, case, histories, tokens)
        rows.append({"name": case.name, "engines": engines})
    rows_limit = shared_rows().limit
    shared = {"vocabulary": tokens.vocabulary.nbytes, "row_cache_limit": rows_limit}
    together = measure_together(tokens, peers, progress)
    return {"unit": "bytes", "schemas": rows, "shared": shared, "together": together}


def _measure_engine(
    engine: Engine, case: Case, histories: list[list[int]], rounds: int
) -> dict[str, Any]:
    nanoseconds, grammar = timed(lambda: engine.compile(case.schema))
    for history in histories:  # some tables are made while decoding
        engine.first_wrong(grammar, history)
    told = engine.grammar_bytes(grammar)
    if told is not None and not isinstance(engine, StconEngine):
        return {"told": told, "resident": None}
    batch = max(1, min(_BATCH, int(_SECONDS * 1e9 / nanoseconds)))
    grown = [_resident(engine, case, histories, batch) for _ in range(rounds)]
    return {"told": told, "resident": statistics.median(grown), "batch": batch}


def _resident(
    engine: Engine, case: Case, histories: list[list[int]], batch: int
) -> float:
    """Growth of the resident memory a grammar, over a batch of them."""
    gc.collect()
    give_back_free_memory()
    before = resident_bytes()
    kept = [engine.compile(case.schema) for _ in range(batch)]
    for grammar in kept:
        for history in histories:
            engine.first_wrong(grammar, history)
    gc.collect()
    give_back_free_memory()
    grown = resident_bytes() - before
    return max(grown, 0) / len(kept)


def _tables(
    stcon: StconEngine, case: Case, histories: list[list[int]], tokens: Tokens
) -> dict[str, Any]:
    constraint = stcon.compile(case.schema)
    for history in histories:
        stcon.first_wrong(constraint, history)
    states = stcon.dfa_states(case.schema)
    return {
        "kind": constraint.kind,
        "states": states,
        **_parts(constraint),
        "full_token_table": 3 * states * tokens.vocabulary.size,
    }


def _parts(constraint: Constraint) -> dict[str, int]:
    if isinstance(constraint, DfaConstraint):
        return {
            "automaton": constraint.dfa.nbytes,
            "table": constraint.table.nbytes,
            "class_map": constraint.class_of.nbytes,
        }
    assert isinstance(constraint, PushdownConstraint)
    automaton = constraint.machine.nbytes
    return {
        "automaton": automaton,
        "table": constraint.nbytes - automaton,
        "class_map": 0,
    }


def report(result: dict[str, Any]) -> str:
    """The result as a table, in MB (10^6 bytes)."""
    head = ["schema", "engine", "states", "automaton", "table", "class map"]
    head += ["total", "resident", "full table"]
    rows: list[list[Cell]] = []
    notes = []
    for schema in result["schemas"]:
        for name, have in schema["engines"].items():
            if "refused" in have:
                notes.append(f"{schema['name']}, {name}: refused: {have['refused']}")
            parts = [_mb(have.get(k)) for k in ("automaton", "table", "class_map")]
            sizes = [_mb(have.get(key)) for key in ("told", "resident")]
            full = _mb(have.get("full_token_table"))
            states = have.get("states")
            rows.append([schema["name"], name, states, *parts, *sizes, full])
    legend = [*_legend(result), *lines(result["together"])]
    return "\n".join([table(head, rows, left=2), *notes, *legend])


def _legend(result: dict[str, Any]) -> list[str]:
    shared = result["shared"]
    return [
        "MB a grammar. total: as the engine tells it. resident: growth of the resident",
        f"memory over up to {_BATCH} grammars walked over their instances, each.",
        "table: of a finite automaton the token table; of a pushdown what its",
        "transducer has worked out for these instances. states: of the minimal finite",
        "automaton. full table: 3 bytes for each of them and each token.",
        f"Shared by all grammars: vocabulary {shared['vocabulary'] / 1e6:.1f} MB; rows "
        f"kept for the CPU backend, at most {shared['row_cache_limit'] / 1e6:.1f} MB.",
    ]


def _mb(size: float | None) -> float | None:
    return None if size is None else size / 1e6
