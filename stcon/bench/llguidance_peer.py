"""llguidance: a lexer of derivatives and an Earley parser, masks computed lazily.

Its tokenizer gets the slices made for JSON, which are its fastest here.
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

_COMPACT = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}


class LlguidanceEngine(BitmaskEngine):
    """``LLMatcher`` on the grammar of a JSON schema, compact whitespace."""

    name = "llguidance"

    def __init__(self, tokens: Tokens, clock: Clock) -> None:
        super().__init__(tokens.vocabulary.size, clock)
        self._module = import_module("llguidance")
        self._masks = import_module("llguidance.numpy")
        maker = self._module.LLTokenizer
        self._tokenizer = maker(
            tokens.tokenizer.to_str(),
            n_vocab=tokens.vocabulary.size,
            eos_token=list(tokens.vocabulary.eos_ids),
            slices=maker.json_slices(),
        )

    def compile(self, schema: Schema) -> Any:
        """The matcher of ``schema``; raises Refused."""
        maker = self._module.LLMatcher
        try:
            grammar = maker.grammar_from_json_schema(schema, overrides=_COMPACT)
        except ValueError as error:
            raise Refused(str(error)) from error
        return self._made(grammar)

    def compile_text(self, text: str) -> Any:
        """The matcher of GBNF; raises Refused.  Its lexer commits to one reading of a
        text, so its masks may be stricter."""
        to_lark = import_module("llguidance.gbnf_to_lark").gbnf_to_lark
        try:
            grammar = self._module.LLMatcher.grammar_from_lark(to_lark(text))
        except Exception as error:  # its converter raises anything
            raise Refused(str(error)) from error
        return self._made(grammar)

    def _made(self, grammar: Any) -> Any:
        matcher = self._module.LLMatcher(self._tokenizer, grammar)
        if matcher.is_error():
            raise Refused(matcher.get_error())
        return matcher

    def matcher(self, grammar: Any) -> Run:
        """The one matcher, set back: its lexer keeps what it has learnt."""
        grammar.reset()
        return Run(grammar, self._masks, self.width)


class Run:
    """A matcher from its start on."""

    def __init__(self, matcher: Any, masks: Any, width: int) -> None:
        self._matcher = matcher
        self._fill = masks.fill_next_token_bitmask
        self._mask: NDArray[np.int32] = masks.allocate_token_bitmask(1, width)

    def advance(self, token: int) -> bool:
        """Whether ``token`` was allowed; it has been read."""
        return bool(self._matcher.consume_token(token))

    def fill(self) -> NDArray[np.int32]:
        """int32 [1, words]: the packed mask of what may come next."""
        self._fill(self._matcher, self._mask)
        return self._mask

    def forced(self) -> list[int]:
        """The ids that llguidance says come next whatever is chosen later; they
        have been read."""
        tokens: list[int] = self._matcher.compute_ff_tokens()
        if tokens:
            self._matcher.consume_tokens(tokens)
        return tokens

    def is_over(self) -> bool:
        """Whether nothing but the end may follow."""
        return bool(self._matcher.is_stopped())
