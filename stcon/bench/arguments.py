"""The arguments of ``python -m stcon bench``."""

from __future__ import annotations

import argparse
import textwrap

from stcon.bench import grammar_peers, grammars, model
from stcon.bench.cases import cases
from stcon.bench.engines import PEERS
from stcon.bench.prompts import asked_cases
from stcon.bench.timing import CLOCKS
from stcon.bench.tokenizer import HOW_TO
from stcon.bench.workers import Bounds

TIMED = {
    "mask": "microseconds a step, first visits and revisits",
    "compile": "milliseconds from a schema to its first mask",
    "memory": "bytes a grammar",
}
DECODE = "decode"
_DECODE_WHAT = "model runs for each token, and time, of whole answers"
_DECODE_MORE = """\
Decode the same prompts greedily with one model: with stcon patched into the loop,
with stcon as a logits processor alone and, if you like, with llguidance's masks and
with its fast-forward. Counts model runs for each token, the share of forced tokens,
times, and how much of the model's free answer is kept."""
GRAMMARS = "grammars"
_GRAMMARS_WHAT = "microseconds a step of whole grammars, and their tables"
_GRAMMARS_MORE = """\
Walk texts in the shipped grammars (programs, queries, documents) with stcon and, if you
like, with other engines on the same grammar, and compare the masks."""
SCHEMAS = "schemas"
_SCHEMAS_WHAT = "how many schemas of a file each engine gets right"
_SCHEMAS_MORE = """\
Feed the instances of many schemas to stcon, and to other engines if you like,
token by token, and count what comes out right. FILE holds one JSON object a
line, {"name": ..., "schema": ..., "tests": [{"valid": ..., "data": ...}]}; it may
be compressed with gzip. The keys of an instance are first put into the order in
which its schema declares them, for all engines alike."""

_MOST = 1_000_000  # seconds, or GB

# The others; outlines-core takes seconds a schema, and minutes for some.
_SCHEMA_PEERS = ("llguidance", "xgrammar")


def parser() -> argparse.ArgumentParser:
    """The parser of all benches."""
    whole = argparse.ArgumentParser(
        prog="python -m stcon bench",
        description="Measure stcon, beside other engines if you like.",
        epilog=HOW_TO,
    )
    benches = whole.add_subparsers(dest="bench", metavar="BENCH", required=True)
    for name, what in TIMED.items():
        one = benches.add_parser(name, help=what, description=what, epilog=HOW_TO)
        _add_tokenizer(one)
        _add_shared(one, list(PEERS))
        _add_timed(one)
    one = benches.add_parser(
        DECODE, help=_DECODE_WHAT, description=_DECODE_MORE, epilog=model.HOW_TO
    )
    _add_shared(one, ["llguidance"])
    _add_decode(one)
    one = benches.add_parser(
        GRAMMARS, help=_GRAMMARS_WHAT, description=_GRAMMARS_MORE, epilog=HOW_TO
    )
    _add_tokenizer(one)
    _add_shared(one, list(grammar_peers.PEERS))
    _add_grammars(one)
    one = benches.add_parser(
        SCHEMAS,
        help=_SCHEMAS_WHAT,
        description=_SCHEMAS_MORE,
        epilog=textwrap.fill(HOW_TO, 80, break_on_hyphens=False),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_tokenizer(one)
    _add_shared(one, list(_SCHEMA_PEERS))
    _add_schemas(one)
    return whole


def _add_tokenizer(one: argparse.ArgumentParser) -> None:
    """Nothing; the options that say which tokenizer, where no model brings it."""
    add = one.add_argument
    add("--vocab", metavar="PATH", help="a tokenizer.json, or a folder holding one")
    add(
        "--eos",
        metavar="ID",
        type=int,
        action="append",
        help="a token that ends an output (default: as the model's files say)",
    )


def _add_shared(one: argparse.ArgumentParser, peers: list[str]) -> None:
    """Nothing; the options that every bench has."""
    add = one.add_argument
    add(
        "--peer",
        choices=peers,
        action="append",
        default=[],
        help="another engine to measure; may be repeated",
    )
    add(
        "--escapes",
        choices=["usual", "any", "canonical"],
        default="usual",
        help="how stcon lets JSON strings be written (default: usual)",
    )
    add("--json", metavar="FILE", help="write everything there too")


def _add_timed(one: argparse.ArgumentParser) -> None:
    """Nothing; the options of what is measured on stcon's own cases."""
    add = one.add_argument
    add(
        "--clock",
        choices=list(CLOCKS),
        default="wall",
        help="of compile; cpu: time computed, where the machine does other work",
    )
    add("--schema", choices=[c.name for c in cases()], action="append", help="only it")
    add("--rounds", metavar="N", type=_positive, default=5, help="default: 5")


def _add_decode(one: argparse.ArgumentParser) -> None:
    """Nothing; the options of the bench of whole answers."""
    add = one.add_argument
    names = [case.name for case in asked_cases()]
    add("--model", metavar="FOLDER", help="a model that mlx-lm reads")
    add("--schema", choices=names, action="append", help="only it")
    add("--rounds", metavar="N", type=_positive, default=1, help="default: 1")
    add(
        "--max-tokens",
        metavar="N",
        type=_positive,
        default=200,
        help="of an answer (default: 200)",
    )
    add(
        "--reuse",
        action="store_true",
        help="one grammar a schema, met once before the clock runs",
    )
    add("--chart", metavar="FILE.svg", help="draw the runs for each token there")


def _add_grammars(one: argparse.ArgumentParser) -> None:
    """Nothing; the options of the bench of whole grammars."""
    add = one.add_argument
    add("--grammar", choices=grammars.NAMES, action="append", help="only it")
    add("--build", action="store_true", help="work out all hops too, as build() does")
    add(
        "--limit-seconds",
        metavar="S",
        type=_more_than_none,
        default=60.0,
        help="of the steps of an engine with one grammar (default: 60)",
    )
    add(
        "--limit-before",
        metavar="S",
        type=_more_than_none,
        default=420.0,
        help="seconds that an engine may take before its first step (default: 420)",
    )
    add(
        "--limit-gb",
        metavar="GB",
        type=_more_than_none,
        default=8.0,
        help="memory that one grammar may add to the process of an engine (default: 8)",
    )


def _add_schemas(one: argparse.ArgumentParser) -> None:
    """Nothing; the options of the bench of schemas."""
    add = one.add_argument
    usual = Bounds()
    add("files", metavar="FILE", nargs="+", help="schemas with instances")
    add(
        "--only",
        metavar="TEXT",
        action="append",
        default=[],
        help="only schemas whose name contains it; may be repeated",
    )
    add(
        "--slice",
        metavar="LO:HI[:STEP]",
        type=_slice,
        default=slice(None),
        help="only these, as Python slices a list: 0:60, or ::25 for every 25th",
    )
    add(
        "--limit-seconds",
        metavar="S",
        type=_more_than_none,
        default=usual.seconds,
        help=f"wall time of a compile, and of an instance (default: {usual.seconds:g})",
    )
    add(
        "--limit-gb",
        metavar="GB",
        type=_more_than_none,
        default=usual.bytes / 2**30,
        help="memory that one schema may add to the process of an engine "
        f"(default: {usual.bytes / 2**30:g})",
    )


def _positive(text: str) -> int:
    value = int(text) if text.isdecimal() else 0
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _more_than_none(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= _MOST:
        raise argparse.ArgumentTypeError(f"must be more than 0, and at most {_MOST:,}")
    return value


def _slice(text: str) -> slice:
    try:
        parts = [int(part) if part else None for part in text.split(":")]
    except ValueError:
        parts = []
    if not 2 <= len(parts) <= 3 or parts[2:] == [0]:
        raise argparse.ArgumentTypeError(f"{text!r} is not LO:HI or LO:HI:STEP")
    return slice(*parts)
