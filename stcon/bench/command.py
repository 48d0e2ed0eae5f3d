"""``python -m stcon bench``: arguments, engines, a table and a JSON file."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from stcon.bench.engines import PEERS, open_peers
from stcon.bench.machine import machine, versions
from stcon.bench.cases import cases
from stcon.bench.stcon_engine import StconEngine
from stcon.bench.table import Progress
from stcon.bench.timing import CLOCKS
from stcon.bench.tokenizer import HOW_TO, load_tokens
from stcon.errors import StconError

_BENCHES = {
    "mask": "microseconds a step, first visits and revisits",
    "compile": "milliseconds from a schema to its first mask",
    "memory": "bytes a grammar",
}
_PACKAGES = ("mlx", "numpy", "tokenizers", *PEERS)


def run(arguments: Sequence[str]) -> int:
    """The exit status; writes the table to stdout."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.clock != "wall" and options.bench != "compile":
        parser.error(f"--clock {options.clock}: reading it takes as long as a step")
    progress = Progress()
    try:
        result = _measure(options, progress)
    except StconError as error:
        progress.clear()
        parser.exit(2, f"stcon bench: {error}\n")
    progress.clear()
    module = import_module(f"stcon.bench.{options.bench}")
    sys.stdout.write(_title(result) + module.report(result) + "\n")
    if options.json:
        text = json.dumps(result, indent=1, ensure_ascii=False)
        Path(options.json).write_text(text + "\n", "utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    benches = "; ".join(f"{name}: {what}" for name, what in _BENCHES.items())
    parser = argparse.ArgumentParser(
        prog="python -m stcon bench",
        description=f"Measure stcon, beside other engines if you like. {benches}.",
        epilog=HOW_TO,
    )
    add = parser.add_argument
    add("bench", choices=list(_BENCHES))
    add("--vocab", metavar="PATH", help="a tokenizer.json, or a folder holding one")
    add(
        "--eos",
        metavar="ID",
        type=int,
        action="append",
        help="a token that ends an output (default: as the model's files say)",
    )
    add(
        "--peer",
        choices=list(PEERS),
        action="append",
        default=[],
        help="another engine to measure in the same process; may be repeated",
    )
    add(
        "--escapes",
        choices=["usual", "any", "canonical"],
        default="usual",
        help="how stcon lets JSON strings be written (default: usual)",
    )
    add(
        "--clock",
        choices=list(CLOCKS),
        default="wall",
        help="of compile; cpu: time computed, where the machine does other work",
    )
    add("--schema", choices=[c.name for c in cases()], action="append", help="only it")
    add("--rounds", metavar="N", type=_positive, default=5, help="default: 5")
    add("--json", metavar="FILE", help="write everything there too")
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _measure(options: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    progress.say("reading the tokenizer")
    tokens = load_tokens(options.vocab, options.eos)
    clock = CLOCKS[options.clock]
    stcon = StconEngine(tokens, clock, options.escapes)
    progress.say("opening the peers")
    peers = open_peers(list(dict.fromkeys(options.peer)), tokens, clock)
    chosen = [c for c in cases() if not options.schema or c.name in options.schema]
    measure = import_module(f"stcon.bench.{options.bench}").measure
    return {
        "bench": options.bench,
        "rounds": options.rounds,
        "escapes": options.escapes,
        "clock": options.clock,
        "machine": machine(),
        "versions": versions(_PACKAGES),
        "vocabulary": {
            "size": tokens.vocabulary.size,
            "eos_ids": list(tokens.vocabulary.eos_ids),
            "fingerprint": tokens.vocabulary.fingerprint,
        },
        **measure(tokens, stcon, peers, chosen, options.rounds, progress),
    }


def _title(result: dict[str, Any]) -> str:
    place = result["machine"]
    size = result["vocabulary"]["size"]
    known = ", ".join(f"{k} {v}" for k, v in result["versions"].items() if v)
    known = textwrap.fill(known, 100, break_on_hyphens=False)
    return (
        f"{result['bench']}: {size:,} tokens, {result['rounds']} rounds, "
        f"{result['clock']} time, escapes: {result['escapes']}\n"
        f"{place['processor']}, {place['cores']} cores, Python {place['python']}\n"
        f"{known}\n\n"
    )
