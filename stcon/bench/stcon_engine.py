"""stcon as an engine of the benchmarks, and the stages of its compile."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

from stcon.api import constrain
from stcon.bench.cases import Schema
from stcon.bench.engines import Engine, Refused, Walk
from stcon.bench.timing import Clock, timed
from stcon.bench.tokenizer import Tokens
from stcon.constraints.constraint import Constraint
from stcon.cpu.rows import shared_rows
from stcon.decode.processor import HostProcessor
from stcon.errors import StconError
from stcon.machines.limits import Limits

_PATIENT = Limits(seconds=60)  # what is slow is reported, not refused


class StconEngine(Engine):
    """``constrain`` and the processor for the host."""

    name = "stcon"
    ways = ("bool",)

    def __init__(
        self,
        tokens: Tokens,
        clock: Clock = perf_counter_ns,
        escapes: str = "usual",
    ) -> None:
        super().__init__(clock)
        self._vocabulary = tokens.vocabulary
        self._escapes = escapes
        _ = tokens.vocabulary.trie  # built when first asked for

    def compile(self, schema: Schema) -> Constraint:
        """The constraint of ``schema``; raises Refused."""
        try:
            constraint = constrain(
                self._vocabulary,
                schema,
                escapes=self._escapes,
                limits=_PATIENT,
                path="host",
            )
        except StconError as error:
            raise Refused(str(error)) from error
        return constraint

    def dfa_states(self, schema: Schema) -> int:
        """States of the minimal finite automaton of a schema without recursion."""
        from stcon.machines.compile import compile_rules
        from stcon.syntax.json_schema import compile_schema

        return compile_rules(compile_schema(schema).rules, _PATIENT).states

    def first_mask(self, grammar: Constraint) -> None:
        """Nothing; the mask before the first token has been computed."""
        self._processor(grammar).row([0], self._vocabulary.size)

    def stages(self, schema: Schema) -> dict[str, int]:
        """Nanoseconds of each stage of one compile, in order."""
        from stcon.syntax.json_schema import compile_schema

        escapes = self._escapes
        rules, _ = timed(lambda: compile_schema(schema, escapes=escapes), self.clock)
        whole, constraint = timed(lambda: self.compile(schema), self.clock)
        mask, _ = timed(lambda: self.first_mask(constraint), self.clock)
        return {"rules": rules, "machine": max(whole - rules, 0), "first mask": mask}

    def walk(self, grammar: Constraint, prompt: list[int], tokens: list[int]) -> Walk:
        """Nanoseconds of each step: read the history, find the state, get the row.

        The histories are mlx arrays, computed beforehand, as mlx-lm hands them.
        """
        row, width = self._processor(grammar).row, self._vocabulary.size
        took, clock = [], self.clock
        for history in histories(prompt, tokens):
            started = clock()
            row(history, width)
            took.append(clock() - started)
        return {"bool": took}

    def forget(self) -> None:
        """Nothing; the next visit of each state is a first one."""
        shared_rows().clear()

    def first_wrong(self, grammar: Constraint, tokens: list[int]) -> int | None:
        """The place of the first token the grammar does not allow, or None."""
        state = grammar.start
        for place, token in enumerate(tokens):
            if not grammar.allowed(state)[token]:
                return place
            state = grammar.advance(state, token)
        return None

    def grammar_bytes(self, grammar: Constraint) -> int:
        """All tables of the constraint, those made while decoding included."""
        return grammar.nbytes

    def _processor(self, grammar: Constraint) -> HostProcessor:
        """One a constraint, as its own calls would make it."""
        if grammar._processor is None:
            grammar._processor = HostProcessor(grammar, pins=False)
        assert isinstance(grammar._processor, HostProcessor)
        return grammar._processor


def histories(prompt: list[int], tokens: list[int]) -> list[Any]:
    """The histories mlx-lm would hand over: the prompt, then a token more each;
    int64 as its concatenation of int32 and uint32 is, already computed."""
    import mlx.core as mx

    mx.set_default_device(mx.cpu)
    whole = mx.array([*prompt, *tokens], mx.int64)
    lengths = range(len(prompt), len(prompt) + len(tokens) + 1)
    grown = [mx.contiguous(whole[:length]) for length in lengths]
    mx.eval(grown)
    return grown
