"""Costs for a grammar: what one certain text to the end takes, in tokens.

A state costs what its shortest text takes, cut alone; a stack costs what its states do,
and a set of stacks as much as the cheapest of them.  Every way to cut a valid text is
allowed, so that is sound, and some tokens more than the least where one could write the
ends of several rules.  What a token makes of a stack symbol costs the same whatever is
below, so a mask under a limit is one number a token and hop.
Source: few-paths paper, Proposition 2, which counts bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stcon.constraints.costs import Costs
from stcon.machines.grammar_shortest import LONGEST, CheapestStack, GrammarShortest
from stcon.machines.stacks import Stacks
from stcon.tokens.fewest import NEVER, Text

if TYPE_CHECKING:
    from stcon.constraints.constraint import State
    from stcon.machines.grammar import GrammarMachine
    from stcon.tokens.grammar_hops import GrammarTransducer
    from stcon.tokens.vocabulary import Vocabulary

Read = tuple[int, int, Stacks]
"""(P, stack symbol, what is below it)."""

_MOST_KEPT = 64 << 20
"""Bytes of what is known of tokens; a place of free text takes a megabyte."""


class GrammarCosts(Costs):
    """See Costs; states are sets of stacks, DEAD and END."""

    is_exact = False

    def __init__(
        self,
        machine: GrammarMachine,
        vocabulary: Vocabulary,
        transducer: GrammarTransducer,
        shortest: GrammarShortest,
        reads: Callable[[State], list[Read]],
    ) -> None:
        """``shortest``: texts that one-byte tokens can write; ``reads``: what the
        transducer meets while it reads the stacks from the top."""
        self._machine = machine
        self._vocabulary = vocabulary
        self._transducer = transducer
        self._fewest = vocabulary.fewest
        self._shortest = shortest
        self._reads = reads
        self._states: dict[int, int] = {}
        self._cheapest = CheapestStack(self._of_state, shortest)
        self._finishes: dict[
            tuple[int, int], tuple[NDArray[np.int32], NDArray[np.int64]]
        ] = {}
        self._kept = 0
        self._dearest: dict[tuple[int, int], int] = {}

    def _of_state(self, state: int) -> int:
        """The tokens of the text of a state, cut alone."""
        known = self._states.get(state)
        if known is None:
            length = self._shortest.of_state(state)
            known = NEVER
            if length <= LONGEST:
                known = self._fewest.counts(self._shortest.text(state))[0]
            self._states[state] = known
        return known

    def least(self, state: State) -> int:
        """See Costs."""
        return self._cheapest.of(state) if isinstance(state, Stacks) else 0

    def text(self, state: State) -> bytes:
        """See Costs."""
        plan = self.plan(state)
        return self._fewest.spelled(plan, self._fewest.counts(plan))

    def plan(self, state: State) -> Text:
        """See Costs."""
        return self._cheapest.text(state) if isinstance(state, Stacks) else ()

    def is_roomy(self, state: State, left: int) -> bool:
        """See Costs."""
        return all(
            self._dearest_of(pending, symbol) + self._cheapest.of(below) < left
            for pending, symbol, below in self._reads(state)
        )

    def allowed(self, state: State, left: int) -> NDArray[np.bool_]:
        """See Costs."""
        row = np.zeros(self._vocabulary.size, np.bool_)
        for pending, symbol, below in self._reads(state):
            tokens, costs = self._after(pending, symbol)
            row[tokens[costs + self._cheapest.of(below) < left]] = True
        is_complete = not isinstance(state, Stacks) or self._machine.is_complete(state)
        row[list(self._vocabulary.eos_ids)] = is_complete
        return row

    def _dearest_of(self, pending: int, symbol: int) -> int:
        """The most that anything a token makes of ``symbol`` costs, what is below it
        left out; -1 if no token is read there."""
        key = (pending, symbol)
        known = self._dearest.get(key)
        if known is None:
            costs = self._after(pending, symbol)[1]
            known = self._dearest[key] = int(costs.max(initial=-1))
        return known

    def _after(
        self, pending: int, symbol: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The tokens that are read above ``symbol``, and what is left to finish after
        each until ``symbol`` has been popped."""
        known = self._finishes.get((pending, symbol))
        if known is None:
            nodes, config, _ = self._transducer.walk(pending, symbol).reached()
            tokens, places = self._transducer.tokens.few(nodes)
            numbers, inverse = np.unique(config[places], return_inverse=True)
            stacks = map(self._transducer.stacks, numbers.tolist())
            costs = np.array([self._cheapest.of(s) for s in stacks], np.int64)
            known = tokens, costs[inverse] if len(costs) else costs
            self._kept += known[0].nbytes + known[1].nbytes
            if self._kept > _MOST_KEPT:
                self._finishes.clear()
                self._kept = known[0].nbytes + known[1].nbytes
            self._finishes[pending, symbol] = known
        return known
