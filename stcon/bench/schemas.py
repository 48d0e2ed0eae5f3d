"""Files of schemas with instances: how many each engine gets right.

stcon and its peers get the same texts, token by token.  Each engine works in a
process of its own, under bounds of time and memory, one at a time.  Times are
reported and decide nothing but the bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stcon.bench.schema_files import Entry
from stcon.bench.schema_tables import report
from stcon.bench.spelling import spelled
from stcon.bench.table import Progress
from stcon.bench.tally import tally
from stcon.bench.tokenizer import Tokens
from stcon.bench.verdicts import Verdict, verdict
from stcon.bench.workers import Bounds, Opener, Worker

__all__ = ["chosen", "measure", "report"]


def chosen(
    entries: Sequence[Entry], part: slice, only: Sequence[str] = ()
) -> list[Entry]:
    """The entries of the slice, of those whose names contain one of ``only``."""
    named = [
        entry
        for entry in entries
        if not only or any(text in entry.name for text in only)
    ]
    return named[part]


def measure(
    entries: Sequence[Entry],
    tokens: Tokens,
    openers: Mapping[str, Opener],
    bounds: Bounds,
    progress: Progress,
) -> dict[str, Any]:
    """Per schema and engine the verdict, and what they add up to."""
    workers = {name: Worker(name, open_, bounds) for name, open_ in openers.items()}
    verdicts: dict[str, list[Verdict]] = {name: [] for name in workers}
    rows = []
    try:
        for number, entry in enumerate(entries, 1):
            progress.say(f"schemas {number}/{len(entries)}: {entry.name:.60}")
            rows.append(_judged(entry, tokens, workers, verdicts))
    finally:
        for worker in workers.values():
            worker.close()
    return {
        "limits": {"seconds": bounds.seconds, "gb": bounds.bytes / 2**30},
        "overall": {name: tally(found) for name, found in verdicts.items()},
        "schemas": rows,
    }


def _judged(
    entry: Entry,
    tokens: Tokens,
    workers: Mapping[str, Worker],
    verdicts: dict[str, list[Verdict]],
) -> dict[str, Any]:
    """The row of one schema; the verdicts are added to ``verdicts``."""
    instances = [spelled(entry.schema, given, tokens) for given in entry.instances]
    job = {
        "schema": entry.schema,
        "instances": [instance.tokens for instance in instances],
    }
    engines = {}
    for name, worker in workers.items():
        found = verdict(instances, worker.do(job), tokens.vocabulary.decode)
        verdicts[name].append(found)
        engines[name] = {"fully_right": found.is_fully_right} | found.facts
    return {"name": entry.name, "engines": engines}
