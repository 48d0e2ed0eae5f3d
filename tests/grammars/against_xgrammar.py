"""Masks of the shipped grammars against XGrammar's, at every step of whole programs.

``python -m tests.grammars.against_xgrammar [NAME ...]``: the texts of the benchmark and
20 more of each grammar, split as Llama-3.1's tokenizer splits them.  XGrammar takes
0.3 s a step for a programming language.  Every token that is text is compared.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from time import perf_counter_ns

import numpy as np

from stcon import constrain, grammars
from stcon.bench.grammar_engines import GrammarEngine
from stcon.bench.grammar_peers import Bitmasks
from stcon.bench.grammars import NAMES, texts_of
from stcon.bench.tokenizer import Tokens, load_tokens
from stcon.bench.xgrammar_peer import XgrammarEngine
from stcon.constraints.constraint import Constraint
from stcon.machines.dfa import DEAD
from tests import assets
from tests.grammars.test_bython import programs
from tests.grammars.test_grammars import CPP_LINE, GOOD, texts

MORE = 20


def samples(name: str) -> list[str]:
    """The texts of the benchmark, then ``MORE`` others."""
    if name == "bython":
        short = sorted(programs(), key=len)[: 3 * MORE]
        more = random.Random(name).sample(short, MORE)
    elif name == "cpp":
        more = texts("programs.cpp", CPP_LINE)
    elif name == "smiles":
        more = texts("molecules.txt", "\n")[:-1]
    else:
        more = GOOD[name.upper()]()
    return [*texts_of(name), *more[:MORE]]


def differing(
    constraint: Constraint, peer: GrammarEngine, history: Sequence[int]
) -> list[int]:
    """The steps of ``history``, and its end, at which masks differ."""
    vocabulary = constraint.vocabulary
    is_text = np.array([vocabulary.is_text(t) for t in range(vocabulary.size)])
    state, found = constraint.start, []
    peer.reset()
    for step, token in enumerate([*history, None]):
        peer.fill()
        ours = constraint.allowed(state)
        if not np.array_equal(peer.row() & is_text, ours & is_text):
            found.append(step)
        if token is not None:
            assert peer.advance(token)
            state = constraint.advance(state, token)
            assert state != DEAD
    return found


def compare(tokens: Tokens, name: str, most: int | None = None) -> tuple[int, int]:
    """How many steps there are, and how many differ; ``most``: of a text's tokens."""
    text = getattr(grammars, name.upper())
    peer = Bitmasks(XgrammarEngine(tokens, perf_counter_ns))
    peer.compile(text)
    constraint = constrain(tokens.vocabulary, grammar=text)
    steps = wrong = 0
    for sample in samples(name):
        history = tokens.encode(sample)[:most]
        found = differing(constraint, peer, history)
        if found:
            sys.stdout.write(f"{name}: {sample!r}: at {found}\n")
        steps += len(history) + 1
        wrong += len(found)
    return steps, wrong


def main(names: list[str]) -> None:
    """Nothing; prints the counts."""
    tokens = load_tokens(str(assets.tokenizer_file("llama-3.1")), None)
    for name in names or NAMES:
        steps, wrong = compare(tokens, name)
        sys.stdout.write(f"{name}: {wrong} of {steps} masks differ\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
