"""Model runs and time of whole answers, with forced text and without.

All engines decode the same prompts greedily with one model and in one loop
(decoders.py); each prompt is read once for all.  A run counts when something is
sampled from it: that of the prompt's last token does, reading the prompt before it
does not.  Total time is what comes after that reading; control is the total without
the model's own time and without sampling, which is one code for all: the logits
masked, normalised, and the likeliest found.  Grammars are new in each round, and
compiled before the clock runs; or, if they are reused, the same in all rounds, after
one that does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from time import perf_counter_ns
from typing import Any

import numpy as np

from stcon.bench.agreement import agreement, completed, found_in
from stcon.bench.cases import Case
from stcon.bench.decoders import Decoder, DropInDecoder, Free, StconDecoder, follow
from stcon.bench.engines import PeerMissing, Refused, check_installed
from stcon.bench.model import Loaded, Meter, Prompt
from stcon.bench.prompts import request
from stcon.bench.table import Cell, Progress, table
from stcon.bench.timing import quiet, rotated, summary, timed

_MS, _US = 1e6, 1e3
_FREE_LIMIT = 2  # times that of an answer: a free one is written with blanks

_LEGEND = (
    "runs/token: model runs for each token of the answer, its end included. forced:",
    "share of tokens without a run of their own. ms/run: the model's, median. s: all",
    "after the prompt was read. control: microseconds a run besides the model's and",
    "besides sampling, which the next column has.",
    "agrees: share of values in the model's free answer that are in this one too.",
)


def open_decoders(
    loaded: Loaded, peers: Sequence[str], escapes: str = "usual"
) -> list[Decoder]:
    """stcon's two ways, and both of llguidance if it is asked for; raises
    PeerMissing."""
    tokens = loaded.tokens
    decoders: list[Decoder] = [
        StconDecoder(tokens, escapes),
        DropInDecoder(tokens, escapes),
    ]
    check_installed(peers)
    if peers:
        try:
            from stcon.bench.llguidance_decoder import FastForwardDecoder, MasksDecoder

            decoders += [MasksDecoder(tokens), FastForwardDecoder(tokens)]
        except ImportError as error:
            raise PeerMissing(f"llguidance cannot be imported: {error}") from error
    return decoders


@dataclass
class _Tally:
    """What one engine wrote for one schema, and how long each round of it took."""

    tokens: list[int]
    sizes: list[int]
    run_ns: list[int] = field(default_factory=list)
    total_ns: list[int] = field(default_factory=list)
    control_ns: list[float] = field(default_factory=list)
    sampling_ns: list[float] = field(default_factory=list)

    def add(self, meter: Meter, total: int) -> None:
        """Nothing; one more round that wrote the same."""
        self.run_ns += meter.runs
        self.total_ns.append(total)
        runs, sampling = max(len(meter.runs), 1), meter.sampling_ns
        self.control_ns.append((total - meter.model_ns - sampling) / runs)
        self.sampling_ns.append(sampling / runs)


def measure(
    loaded: Loaded,
    decoders: Sequence[Decoder],
    cases: Sequence[Case],
    rounds: int,
    limit: int,
    progress: Progress,
    reuse: bool = False,
) -> dict[str, Any]:
    """Per schema and engine the runs, the times and the answer."""
    rows = []
    for case in cases:
        progress.say(f"decode {case.name}: the prompt")
        prompt = Prompt(loaded.model, loaded.encode(request(case)))
        progress.say(f"decode {case.name}: the free answer")
        free = _free(loaded, prompt, _FREE_LIMIT * limit)
        tallies: dict[str, _Tally] = {}
        grammars = _Grammars(case, reuse)
        for turn in range(-1 if reuse else 0, rounds):
            for decoder in rotated(decoders, turn):
                progress.say(f"decode {case.name}: {decoder.name} {turn + 1}/{rounds}")
                meter = Meter(prompt)
                _round(decoder, grammars, meter, limit, tallies if turn >= 0 else {})
        rows.append(_row(loaded, decoders, case, free, tallies, grammars.refused))
        rows[-1]["prompt_tokens"] = len(prompt.ids)
    return {
        "max_tokens": limit,
        "schemas": rows,
        "overall": {d.name: _overall(rows, d.name) for d in decoders},
    }


def _free(loaded: Loaded, prompt: Prompt, limit: int) -> dict[str, Any]:
    """The model's answer without a constraint."""
    meter = Meter(prompt)
    eos_ids = loaded.tokens.vocabulary.eos_ids
    began = perf_counter_ns()
    out = follow(Free(), meter, limit, eos_ids)
    total = perf_counter_ns() - began
    tally = _Tally(out, meter.sizes)
    tally.add(meter, total)
    text = _text(loaded, out).decode("utf-8", "replace")
    return _counts(tally) | {"text": text, "value": found_in(text)}


class _Grammars:
    """The grammar of one schema for each engine, and why some have none."""

    def __init__(self, case: Case, reuse: bool) -> None:
        self._case = case
        self._kept: dict[str, Any] | None = {} if reuse else None
        self.refused: dict[str, str] = {}

    def of(self, decoder: Decoder) -> Any:
        """A new grammar, or the one and only; None if the engine refuses it."""
        name = decoder.name
        if self._kept is not None and name in self._kept:
            return self._kept[name]
        try:
            grammar = decoder.compile(self._case.schema)
        except Refused as error:
            self.refused[name] = error.message
            grammar = None
        if self._kept is not None:
            self._kept[name] = grammar
        return grammar


def _round(
    decoder: Decoder,
    grammars: _Grammars,
    meter: Meter,
    limit: int,
    tallies: dict[str, _Tally],
) -> None:
    """Nothing; one answer of ``decoder`` goes into its tally."""
    grammar = grammars.of(decoder)
    if grammar is None:
        return
    with quiet():
        total, out = timed(lambda: decoder.decode(grammar, meter, limit))
    tally = tallies.setdefault(decoder.name, _Tally(out, meter.sizes))
    tally.add(meter, total)


def _row(
    loaded: Loaded,
    decoders: Sequence[Decoder],
    case: Case,
    free: dict[str, Any],
    tallies: dict[str, _Tally],
    refused: dict[str, str],
) -> dict[str, Any]:
    """All engines on one schema."""
    judge = StconDecoder(loaded.tokens).compile(case.schema)
    engines: dict[str, Any] = {}
    for name in (decoder.name for decoder in decoders):
        if name in refused:
            engines[name] = {"refused": refused[name]}
            continue
        tally = tallies[name]
        text = _text(loaded, tally.tokens)
        engines[name] = _counts(tally) | {
            "is_finished": judge.matches(text),
            "agreement": agreement(free["value"], completed(judge, text)),
            "text": text.decode("utf-8", "replace"),
        }
    return {"name": case.name, "free": free, "engines": engines}


def _counts(tally: _Tally) -> dict[str, Any]:
    tokens, runs = len(tally.tokens), len(tally.sizes)
    return {
        "tokens": tokens,
        "runs": runs,
        "runs_per_token": runs / tokens,
        "forced": tokens - runs,
        "forced_share": (tokens - runs) / tokens,
        "fed": tally.sizes,
        "run_ms": summary(tally.run_ns, _MS),
        "total_ms": median(tally.total_ns) / _MS,
        "control_us": median(tally.control_ns) / _US,
        "sampling_us": median(tally.sampling_ns) / _US,
    }


def _overall(rows: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """Sums and means of one engine over the schemas that it took."""
    taken = [row["engines"][name] for row in rows]
    taken = [each for each in taken if "refused" not in each]
    if not taken:
        return {"schemas": 0}
    tokens = sum(each["tokens"] for each in taken)
    runs = sum(each["runs"] for each in taken)
    agreed = [each["agreement"] for each in taken if each["agreement"] is not None]
    return {
        "schemas": len(taken),
        "tokens": tokens,
        "runs": runs,
        "runs_per_token": runs / tokens,
        "forced": tokens - runs,
        "forced_share": (tokens - runs) / tokens,
        "run_ms": {"p50": median(each["run_ms"]["p50"] for each in taken)},
        "total_ms": sum(each["total_ms"] for each in taken),
        **{key: _per_run(taken, key) for key in ("control_us", "sampling_us")},
        "agreement": fmean(agreed) if agreed else None,
    }


def _per_run(taken: Sequence[dict[str, Any]], key: str) -> float:
    """The mean over all runs of what is kept per run of each schema."""
    runs = [each["runs"] for each in taken]
    values = [each[key] for each in taken]
    return float(np.average(values, weights=runs))


def _text(loaded: Loaded, tokens: Sequence[int]) -> bytes:
    """The bytes of an answer, without its end."""
    vocabulary = loaded.tokens.vocabulary
    return vocabulary.decode([t for t in tokens if t not in vocabulary.eos_ids])


def report(result: dict[str, Any]) -> str:
    """The result as a table; the last rows hold all schemas."""
    head = ["schema", "engine", "tokens", "runs", "runs/token", "forced"]
    head += ["ms/run", "s", "control", "sampling", "agrees"]
    rows: list[list[Cell]] = []
    notes = []
    for schema in [*result["schemas"], {"name": "all", "engines": result["overall"]}]:
        free = {"no constraint": schema["free"]} if "free" in schema else {}
        for name, have in (free | schema["engines"]).items():
            if "refused" in have:
                notes.append(f"{schema['name']}, {name}: refused: {have['refused']}")
            elif have.get("tokens"):
                rows.append([schema["name"], name, *_cells(have)])
    return "\n".join([table(head, rows, left=2), *notes, *_LEGEND])


def _cells(have: dict[str, Any]) -> list[Cell]:
    return [
        have["tokens"],
        have["runs"],
        f"{have['runs_per_token']:.2f}",
        f"{have['forced_share']:.2f}",
        have["run_ms"]["p50"],
        have["total_ms"] / 1e3,
        have["control_us"],
        have["sampling_us"],
        have.get("agreement"),
    ]
