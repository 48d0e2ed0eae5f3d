"""Other engines that read whole grammars."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.bench.engines import Refused
from stcon.bench.tokenizer import Tokens
from stcon.engines import CompressedXgrammar, compressed_xgrammar
from stcon.errors import StconError
from stcon.machines.dfa import DEAD

COMPRESSED = "xgrammar-classes"
PEERS = ("xgrammar", COMPRESSED, "llguidance")


class GrammarPeer(ABC):
    """One engine with one grammar at a time; ``limit_seconds`` of steps are taken.

    ``classes``: how many classes of tokens it looks at, None for all tokens.
    """

    name: str
    classes: int | None = None

    def __init__(self, limit_seconds: float) -> None:
        self.limit_seconds = limit_seconds

    @abstractmethod
    def compile(self, text: str) -> None:
        """Nothing; raises Refused."""

    @abstractmethod
    def reset(self) -> None:
        """Nothing; the next text begins."""

    @abstractmethod
    def fill(self) -> NDArray[np.int32]:
        """The packed mask of what may come next."""

    @abstractmethod
    def advance(self, token: int) -> bool:
        """Whether ``token`` was allowed; it has been read."""


def open_grammar_peers(
    names: list[str], tokens: Tokens, limit_seconds: float
) -> list[GrammarPeer]:
    """The peers of these names.  Raises StconError when one is not installed."""
    kinds: dict[str, Callable[[Tokens, float], GrammarPeer]] = {
        "xgrammar": _Xgrammar,
        COMPRESSED: _Compressed,
        "llguidance": _Llguidance,
    }
    try:
        return [kinds[name](tokens, limit_seconds) for name in dict.fromkeys(names)]
    except ImportError as error:
        raise StconError(f"{error.name} is not installed") from None


class _Xgrammar(GrammarPeer):
    name = "xgrammar"

    def __init__(self, tokens: Tokens, limit_seconds: float) -> None:
        super().__init__(limit_seconds)
        vocabulary = tokens.vocabulary
        self._module = import_module("xgrammar")
        info = self._module.TokenizerInfo(
            [vocabulary.token_bytes(token) for token in range(vocabulary.size)],
            vocab_size=vocabulary.size,
            stop_token_ids=list(vocabulary.eos_ids),
        )
        self._compiler = self._module.GrammarCompiler(
            info, max_threads=1, cache_enabled=False
        )
        self._mask = np.full((1, (vocabulary.size + 31) // 32), -1, np.int32)

    def compile(self, text: str) -> None:
        try:
            self._grammar = self._compiler.compile_grammar(text)
        except (RuntimeError, ValueError) as error:
            raise Refused(str(error)) from error

    def reset(self) -> None:
        self._matcher = self._module.GrammarMatcher(self._grammar)

    def fill(self) -> NDArray[np.int32]:
        self._mask.fill(-1)
        self._matcher.fill_next_token_bitmask(self._mask)
        mask: NDArray[np.int32] = self._mask[0]
        return mask

    def advance(self, token: int) -> bool:
        return bool(self._matcher.accept_token(token))


class _Compressed(GrammarPeer):
    """XGrammar on one token of each class, by ``stcon.engines``; ``compile`` works the
    classes out, and rows are kept packed as a logits processor keeps them."""

    name = COMPRESSED

    def __init__(self, tokens: Tokens, limit_seconds: float) -> None:
        super().__init__(limit_seconds)
        import_module("xgrammar")
        self._vocabulary = tokens.vocabulary

    def compile(self, text: str) -> None:
        try:
            self._engine: CompressedXgrammar = compressed_xgrammar(
                self._vocabulary, text
            )
        except StconError as error:
            raise Refused(error.message) from error
        self.classes = self._engine.representatives.end
        self._rows: dict[bytes, NDArray[np.int32]] = {}
        self._place: Any = None

    def reset(self) -> None:
        self._place = self._engine.steps.start

    def fill(self) -> NDArray[np.int32]:
        mask = self._engine.steps.mask(self._place)
        row = self._rows.get(mask)
        if row is None:
            words = -(-self._vocabulary.size // 32)
            whole = self._engine.representatives.expanded(mask, 32 * words)
            row = np.packbits(whole, bitorder="little").view(np.int32)
            self._rows[mask] = row
        return row

    def advance(self, token: int) -> bool:
        after = self._engine.steps.advance(self._place, token)
        if after == DEAD:
            return False
        self._place = after
        return True


class _Llguidance(GrammarPeer):
    """Its lexer commits to one reading of a text, so its masks may be stricter."""

    name = "llguidance"

    def __init__(self, tokens: Tokens, limit_seconds: float) -> None:
        super().__init__(limit_seconds)
        self._module = import_module("llguidance")
        self._masks = import_module("llguidance.numpy")
        self._to_lark = import_module("llguidance.gbnf_to_lark").gbnf_to_lark
        self._tokenizer = self._module.LLTokenizer(
            tokens.tokenizer.to_str(),
            n_vocab=tokens.vocabulary.size,
            eos_token=list(tokens.vocabulary.eos_ids),
        )
        self._mask: NDArray[np.int32] = self._masks.allocate_token_bitmask(
            1, tokens.vocabulary.size
        )

    def compile(self, text: str) -> None:
        try:
            lark: Any = self._to_lark(text)
            self._matcher = self._module.LLMatcher(
                self._tokenizer, self._module.LLMatcher.grammar_from_lark(lark)
            )
        except Exception as error:  # its converter raises anything
            raise Refused(str(error)) from error
        if self._matcher.is_error():
            raise Refused(self._matcher.get_error())

    def reset(self) -> None:
        self._matcher.reset()

    def fill(self) -> NDArray[np.int32]:
        self._masks.fill_next_token_bitmask(self._matcher, self._mask)
        mask: NDArray[np.int32] = self._mask[0]
        return mask

    def advance(self, token: int) -> bool:
        return bool(self._matcher.consume_token(token))
