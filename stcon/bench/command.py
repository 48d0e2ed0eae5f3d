"""``python -m stcon bench``: engines, a table and a JSON file."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from stcon.bench import decode, grammars, schemas
from stcon.bench.arguments import DECODE, GRAMMARS, SCHEMAS, parser
from stcon.bench.cases import cases
from stcon.bench.chart import chart
from stcon.bench.engines import PEERS, check_installed, open_peers
from stcon.bench.judging import opener
from stcon.bench.machine import machine, versions
from stcon.bench.model import Loaded, load_model
from stcon.bench.prompts import asked_cases
from stcon.bench.schema_files import Entry, read_entries
from stcon.bench.stcon_engine import StconEngine
from stcon.bench.table import Progress
from stcon.bench.timing import CLOCKS
from stcon.bench.tokenizer import Tokens, load_tokens
from stcon.bench.workers import Bounds
from stcon.errors import StconError

_PACKAGES = ("mlx", "mlx-lm", "numpy", "tokenizers", *PEERS, "cfgzip")


def run(arguments: Sequence[str]) -> int:
    """The exit status; writes the table to stdout."""
    whole = parser()
    options = whole.parse_args(arguments)
    if getattr(options, "clock", "wall") != "wall" and options.bench != "compile":
        whole.error(f"--clock {options.clock}: reading it takes as long as a step")
    progress = Progress()
    for file in (options.json, getattr(options, "chart", None)):
        if file and (Path(file).is_dir() or not Path(file).absolute().parent.is_dir()):
            whole.error(f"{file} cannot be written")
    try:
        result = _measure(options, progress)
    except StconError as error:
        progress.clear()
        whole.exit(2, f"stcon bench: {error}\n")
    progress.clear()
    module = import_module(f"stcon.bench.{options.bench}")
    sys.stdout.write(_title(result) + module.report(result) + "\n")
    if options.json:
        text = json.dumps(result, indent=1, ensure_ascii=False)
        Path(options.json).write_text(text + "\n", "utf-8")
    if getattr(options, "chart", None):
        Path(options.chart).write_text(chart(result), "utf-8")
    return 0


def _measure(options: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    if options.bench == DECODE:
        progress.say("reading the model")
        loaded = load_model(options.model)
        tokens, measured = loaded.tokens, _measure_decode(options, loaded, progress)
    else:
        tokens, measured = _measure_masks(options, progress)
    return {
        "bench": options.bench,
        "escapes": options.escapes,
        "machine": machine(),
        "versions": versions(_PACKAGES),
        "vocabulary": {
            "size": tokens.vocabulary.size,
            "eos_ids": list(tokens.vocabulary.eos_ids),
            "fingerprint": tokens.vocabulary.fingerprint,
        },
        **measured,
    }


def _measure_masks(
    options: argparse.Namespace, progress: Progress
) -> tuple[Tokens, dict[str, Any]]:
    """The tokenizer, and what is measured with it and no model."""
    is_schemas = options.bench == SCHEMAS
    entries = read_entries(options.files) if is_schemas else []
    progress.say("reading the tokenizer")
    tokens = load_tokens(options.vocab, options.eos)
    if is_schemas:
        chosen = schemas.chosen(entries, options.slice, options.only)
        return tokens, _measure_schemas(options, chosen, tokens, progress)
    if options.bench == GRAMMARS:
        return tokens, _measure_grammars(options, tokens, progress)
    return tokens, _measure_times(options, tokens, progress)


def _measure_grammars(
    options: argparse.Namespace, tokens: Tokens, progress: Progress
) -> dict[str, Any]:
    return grammars.measure(
        tokens,
        options.peer,
        options.grammar or grammars.NAMES,
        options.build,
        options.limit_seconds,
        Bounds(options.limit_before, int(options.limit_gb * 2**30)),
        progress,
    )


def _measure_decode(
    options: argparse.Namespace, loaded: Loaded, progress: Progress
) -> dict[str, Any]:
    peers = list(dict.fromkeys(options.peer))
    decoders = decode.open_decoders(loaded, peers, options.escapes)
    wanted = options.schema
    chosen = [c for c in asked_cases() if not wanted or c.name in wanted]
    rounds, limit = options.rounds, options.max_tokens
    return {
        "model": Path(options.model).name,
        "rounds": rounds,
        "clock": "wall",
        "reuse": options.reuse,
        **decode.measure(
            *(loaded, decoders, chosen, rounds, limit, progress),
            reuse=options.reuse,
        ),
    }


def _measure_times(
    options: argparse.Namespace, tokens: Tokens, progress: Progress
) -> dict[str, Any]:
    clock = CLOCKS[options.clock]
    stcon = StconEngine(tokens, clock, options.escapes)
    progress.say("opening the peers")
    peers = open_peers(list(dict.fromkeys(options.peer)), tokens, clock)
    chosen = [c for c in cases() if not options.schema or c.name in options.schema]
    measure = import_module(f"stcon.bench.{options.bench}").measure
    return {
        "rounds": options.rounds,
        "clock": options.clock,
        **measure(tokens, stcon, peers, chosen, options.rounds, progress),
    }


def _measure_schemas(
    options: argparse.Namespace,
    entries: Sequence[Entry],
    tokens: Tokens,
    progress: Progress,
) -> dict[str, Any]:
    check_installed(options.peer)
    names = list(dict.fromkeys(["stcon", *options.peer]))
    eos_ids = tokens.vocabulary.eos_ids
    openers = {
        name: opener(name, str(tokens.file), eos_ids, options.escapes) for name in names
    }
    bounds = Bounds(options.limit_seconds, int(options.limit_gb * 2**30))
    return {
        "files": [Path(file).name for file in options.files],
        **schemas.measure(entries, tokens, openers, bounds, progress),
    }


def _title(result: dict[str, Any]) -> str:
    place = result["machine"]
    size = result["vocabulary"]["size"]
    known = ", ".join(f"{k} {v}" for k, v in result["versions"].items() if v)
    known = textwrap.fill(known, 100, break_on_hyphens=False)
    if "max_tokens" in result:
        how = f"{result['rounds']} rounds, {result['max_tokens']} tokens at most"
    elif "limit_seconds" in result:
        how = f"{result['limit_seconds']:g} s an engine and grammar at most"
    elif "rounds" in result:
        how = f"{result['rounds']} rounds, {result['clock']} time"
    else:
        limits = result["limits"]
        how = f"{limits['seconds']:g} s and {limits['gb']:g} GB a schema at most"
    return (
        f"{result['bench']}: {size:,} tokens, {how}, escapes: {result['escapes']}\n"
        f"{place['processor']}, {place['cores']} cores, Python {place['python']}\n"
        f"{known}\n\n"
    )
