"""``python -m stcon show``: an output with its forced tokens, or an automaton."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stcon import grammars
from stcon.api import constrain
from stcon.bench.tokenizer import load_tokens
from stcon.constraints.dfa import DfaConstraint
from stcon.errors import StconError
from stcon.machines.dfa import DEAD
from stcon.show.dot import dot
from stcon.show.trace import Trace, trace


def run(arguments: Sequence[str]) -> int:
    """The exit status; writes to stdout or the files asked for."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        _show(options)
    except (StconError, OSError) as error:
        parser.exit(2, f"stcon show: {error}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m stcon show",
        description="Show which tokens of an output its format forces, or the "
        "automaton of a small format as a graph (DOT, for graphviz).",
    )
    add = parser.add_argument
    formats = parser.add_mutually_exclusive_group(required=True)
    formats.add_argument("--schema", type=Path, metavar="FILE", help="a JSON Schema")
    formats.add_argument("--regex", metavar="PATTERN", help="a regular expression")
    formats.add_argument(
        "--grammar", metavar="FILE", help="GBNF or Lark; or one that ships: sql"
    )
    formats.add_argument("--choices", nargs="+", metavar="TEXT", help="some texts")
    add("--vocab", metavar="PATH", help="a tokenizer.json, or a folder holding one")
    add("--eos", metavar="ID", type=int, action="append", help="an end token")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--text", help="the output to look at; - reads it from stdin")
    what.add_argument("--dot", action="store_true", help="the automaton instead")
    add("--html", type=Path, metavar="FILE", help="write the output there as HTML")
    return parser


_WAYS_OUT = {
    "pushdown": "close its objects (additionalProperties: false) and drop counts",
    "grammar": "a small grammar whose rules do not call themselves has one",
}


def _show(options: argparse.Namespace) -> None:
    tokens = load_tokens(options.vocab, options.eos)
    constraint = constrain(tokens.vocabulary, **_format(options))
    if options.dot:
        if not isinstance(constraint, DfaConstraint):
            raise StconError(
                f"this format is a {constraint.kind}, which has no finite graph",
                hint=_WAYS_OUT.get(constraint.kind, ""),
            )
        sys.stdout.write(dot(constraint.dfa))
        return
    text = sys.stdin.read().rstrip("\n") if options.text == "-" else options.text
    if constraint.read(constraint.start, text.encode()) == DEAD:
        raise StconError(constraint.explain(text))
    found = trace(constraint, text)
    if options.html:
        options.html.write_text(_page(found), "utf-8")
    is_plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR")
    sys.stdout.write((str(found) if is_plain else found.ansi()) + "\n")
    if not constraint.matches(text):
        sys.stdout.write(f"not finished: {constraint.explain(text)}\n")


def _format(options: argparse.Namespace) -> dict[str, Any]:
    if options.schema:
        return {"schema": options.schema.read_text("utf-8")}
    if options.grammar:
        shipped = getattr(grammars, options.grammar.upper(), None)
        if options.grammar.islower() and isinstance(shipped, str):
            return {"grammar": shipped}
        return {"grammar": Path(options.grammar).read_text("utf-8")}
    if options.regex is not None:
        return {"regex": options.regex}
    return {"choices": options.choices}


def _page(found: Trace) -> str:
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>stcon trace</title><body>{found.html()}</body></html>\n"
    )
