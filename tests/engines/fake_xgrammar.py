"""What of XGrammar's interface stcon calls, with stcon's own machines inside: so that
what stands around an engine is tested where XGrammar is not installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcon import Vocabulary
from stcon.constraints.grammar import GrammarConstraint
from stcon.decode.processor import bind
from stcon.machines.compile import calls_itself
from stcon.machines.dfa import DEAD
from stcon.machines.grammar import compile_grammar
from stcon.syntax.gbnf import parse_gbnf


class TokenizerInfo:
    """The bytes of tokens, and those that end a text."""

    def __init__(
        self, texts: list[bytes], vocab_size: int, stop_token_ids: list[int]
    ) -> None:
        assert len(texts) == vocab_size
        self.vocabulary = Vocabulary.from_bytes(texts, stop_token_ids)


class GrammarCompiler:
    """Compiles, but for grammars without rules that call themselves."""

    def __init__(self, info: TokenizerInfo) -> None:
        self._vocabulary = info.vocabulary

    def compile_grammar(self, text: str) -> GrammarConstraint:
        rules = parse_gbnf(text).rules
        if not calls_itself(rules):
            raise RuntimeError("too easy")
        return GrammarConstraint(compile_grammar(rules), self._vocabulary, bind("host"))


class GrammarMatcher:
    """States of one output, the last one at the end."""

    made = 0

    def __init__(self, compiled: GrammarConstraint) -> None:
        GrammarMatcher.made += 1
        self._constraint = compiled
        self._states = [compiled.start]

    def accept_token(self, token: int) -> bool:
        after = self._constraint.advance(self._states[-1], token)
        if after != DEAD:
            self._states.append(after)
        return bool(after != DEAD)

    def rollback(self, tokens: int) -> None:
        assert 0 < tokens < len(self._states)
        del self._states[-tokens:]

    def fork(self) -> GrammarMatcher:
        twin = GrammarMatcher(self._constraint)
        twin._states = [*self._states]
        return twin

    def fill_next_token_bitmask(self, mask: Any) -> None:
        allowed = self._constraint.allowed(self._states[-1])
        bits = np.zeros(mask.size * 32, np.bool_)
        bits[: len(allowed)] = allowed
        mask[:] = np.packbits(bits, bitorder="little").view(np.int32)
