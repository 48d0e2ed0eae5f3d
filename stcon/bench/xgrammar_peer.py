"""xgrammar: a pushdown automaton whose masks are mostly made at compile time.

One thread and no cache, so that a compile is a compile.  ``strict_mode`` stays as
it is, on: it closes objects that the schema leaves open, but without it a compile
takes a second in the median of MaskBench and 14 % of the schemas more than 10 s,
and fewer schemas come out right.  It fills a numpy array here: torch tensors would
need the same copy to reach mlx.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.bench.bitmasks import BitmaskEngine
from stcon.bench.cases import Schema
from stcon.bench.engines import Refused
from stcon.bench.timing import Clock
from stcon.bench.tokenizer import Tokens


class XgrammarEngine(BitmaskEngine):
    """``GrammarCompiler`` and ``GrammarMatcher``, no free whitespace."""

    name = "xgrammar"

    def __init__(self, tokens: Tokens, clock: Clock) -> None:
        vocabulary = tokens.vocabulary
        super().__init__(vocabulary.size, clock)
        self._module = import_module("xgrammar")
        info = self._module.TokenizerInfo(
            [vocabulary.token_bytes(token) for token in range(vocabulary.size)],
            vocab_size=vocabulary.size,
            stop_token_ids=list(vocabulary.eos_ids),
        )
        self._compiler = self._module.GrammarCompiler(
            info, max_threads=1, cache_enabled=False
        )

    def compile(self, schema: Schema) -> Any:
        """The compiled grammar of ``schema``; raises Refused."""
        try:
            return self._compiler.compile_json_schema(
                schema, any_whitespace=False, separators=(",", ":")
            )
        except (RuntimeError, ValueError) as error:
            raise Refused(str(error)) from error

    def compile_text(self, text: str) -> Any:
        """The compiled grammar of GBNF; raises Refused."""
        try:
            return self._compiler.compile_grammar(text)
        except (RuntimeError, ValueError) as error:
            raise Refused(str(error)) from error

    def matcher(self, grammar: Any) -> _Run:
        """A new matcher of the compiled grammar."""
        return _Run(self._module.GrammarMatcher(grammar), self.width)

    def grammar_bytes(self, grammar: Any) -> int:
        """``memory_size_bytes`` of the compiled grammar."""
        return int(grammar.memory_size_bytes)


class _Run:
    def __init__(self, matcher: Any, width: int) -> None:
        self._matcher = matcher
        self._mask: NDArray[np.int32] = np.full((1, (width + 31) // 32), -1, np.int32)

    def advance(self, token: int) -> bool:
        return bool(self._matcher.accept_token(token))

    def fill(self) -> NDArray[np.int32]:
        self._matcher.fill_next_token_bitmask(self._mask)
        return self._mask
