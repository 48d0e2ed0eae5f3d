"""XGrammar on one token of each class: the token-space compression of CFGzip.

XGrammar tries the tokens of a vocabulary on the grammar, thousands a step; of classes
there are a few hundred.  Its masks stay the same, since tokens of a class do the same
to every stack.  Masks are kept by content, expanded to all tokens, as stcon's own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from stcon.constraints.constraint import State
from stcon.constraints.grammar import BUILD_LIMITS, GrammarConstraint
from stcon.cpu.rows import shared_rows
from stcon.decode.arguments import check_logits, read_history
from stcon.decode.processor import bind
from stcon.decode.runs import Runs
from stcon.engines.matchers import Matchers, Place
from stcon.engines.representatives import Representatives
from stcon.errors import EngineError, GrammarError
from stcon.machines.dfa import DEAD
from stcon.machines.grammar import compile_grammar
from stcon.machines.limits import Limits
from stcon.syntax.gbnf import parse_gbnf
from stcon.tokens.vocabulary import Vocabulary


def compressed_xgrammar(
    tokenizer: Any,
    grammar: str,
    *,
    eos_token_ids: Sequence[int] | None = None,
    progress: Callable[[int, int], None] | None = None,
    limits: Limits = BUILD_LIMITS,
) -> CompressedXgrammar:
    """XGrammar with ``grammar`` (GBNF) as a logits processor, masks the same as without
    compression.

    ``tokenizer`` and ``eos_token_ids`` as for ``constrain``; ``progress`` and
    ``limits`` as for ``GrammarConstraint.displacement_classes``, whose cost is paid
    once for a grammar and a tokenizer.
    Raises EngineError where XGrammar is not installed or refuses the grammar,
    GrammarError where stcon does, LimitError over ``limits``.
    """
    module = _installed()
    vocabulary = Vocabulary.of(tokenizer, eos_token_ids)
    whole = _constraint(grammar, vocabulary)
    built = _constraint(grammar, vocabulary)  # its tables are let go
    classes = built.displacement_classes(progress, limits)
    speaks = Representatives(classes, vocabulary)
    return CompressedXgrammar(whole, speaks, module, _compiled(module, grammar, speaks))


def _installed() -> Any:
    try:
        return import_module("xgrammar")
    except ImportError as error:
        raise EngineError(
            f"XGrammar cannot be used: {error}", hint="pip install xgrammar"
        ) from error


def _constraint(text: str, vocabulary: Vocabulary) -> GrammarConstraint:
    if not isinstance(text, str):
        raise TypeError(f"grammar is the text of a grammar, not {text!r:.60}")
    machine = compile_grammar(parse_gbnf(text).rules)
    if not machine.start.cells and not machine.start.has_empty:
        message = "no text matches this grammar"
        raise GrammarError(message, text=text, offset=0, rule="root")
    return GrammarConstraint(machine, vocabulary, bind("host"))


def _compiled(module: Any, text: str, speaks: Representatives) -> Any:
    tokens = module.TokenizerInfo(
        speaks.texts, vocab_size=len(speaks.texts), stop_token_ids=[speaks.end]
    )
    try:
        return module.GrammarCompiler(tokens).compile_grammar(text)
    except (RuntimeError, ValueError) as error:
        raise EngineError(f"XGrammar refuses the grammar: {error}") from error


class CompressedXgrammar:
    """A logits processor; make it with ``compressed_xgrammar``.

    A function of the history, as stcon's own: one object serves any number of runs,
    rows and threads.  ``representatives``: what XGrammar has for a vocabulary;
    ``steps``: its masks, of places.
    """

    def __init__(
        self,
        constraint: GrammarConstraint,
        representatives: Representatives,
        module: Any,
        compiled: Any,
    ) -> None:
        self.vocabulary = constraint.vocabulary
        self.representatives = representatives
        self._family = object()
        self._made_of = (constraint, representatives, module, compiled)
        self.steps = Steps(constraint, representatives, module, compiled)
        self._runs = Runs(self.steps)
        self._lock = threading.Lock()

    def __call__(self, tokens: Any, logits: Any) -> Any:
        """``logits`` with -inf where XGrammar does not let a token through.

        As ``Constraint``: the mlx-lm logits processor protocol.  Raises HistoryError
        when the history contradicts the grammar.
        """
        import mlx.core as mx

        row = self.row(tokens, check_logits(logits, self.vocabulary))
        if logits.ndim == 1:
            row = row[0]
        return mx.where(row, logits, mx.array(-np.inf, logits.dtype))

    def row(self, tokens: Any, width: int) -> Any:
        """bool mlx array [1, width]: what may follow the history ``tokens``."""
        history = read_history(tokens)
        with self._lock:
            mask = self.steps.mask(self._runs.state(history))
        return shared_rows().get(
            (self._family, mask, width),
            lambda: self.representatives.expanded(mask, width),
        )

    def fresh(self) -> CompressedXgrammar:
        """The same without memory of earlier runs; see ``Constraint.fresh``."""
        return CompressedXgrammar(*self._made_of)

    def report(self) -> dict[str, Any]:
        """How many tokens there are, how many classes, and bytes of their map."""
        return {
            "kind": "xgrammar",
            "tokens": self.vocabulary.size,
            "classes": self.representatives.end,
            "bytes": self.representatives.nbytes,
        }


class Steps:
    """What histories are read with; see ``Runs``.  Its states are Places: what XGrammar
    lets through there, and where a token leads."""

    reads_prompt = False

    def __init__(
        self,
        constraint: GrammarConstraint,
        representatives: Representatives,
        module: Any,
        compiled: Any,
    ) -> None:
        self.vocabulary = constraint.vocabulary
        self.start: State = Place()
        self._constraint = constraint
        self._speaks = representatives
        self._matchers = Matchers(lambda: module.GrammarMatcher(compiled))
        end = representatives.end
        self._mask = np.zeros((1, (end >> 5) + 1), np.int32)
        self._over = (1 << end).to_bytes(self._mask.nbytes, "little")

    def start_after(self, prompt: Sequence[int]) -> State:
        """See Constraint."""
        return self.start

    def advance(self, place: State, token: int) -> State:
        """The place after ``token``, whose representative XGrammar will read;
        ``DEAD`` when its mask does not let it through."""
        if not 0 <= token < self.vocabulary.size:
            return DEAD
        kind = int(self._speaks.kind_of[token])
        return Place(place, kind) if self._is_open(place, kind) else DEAD

    def mask(self, place: Place) -> bytes:
        """The packed mask of what may come."""
        if place.kind == self._speaks.end:
            return self._over
        if place.mask is None:
            self._mask.fill(-1)
            self._matchers.at(place).fill_next_token_bitmask(self._mask)
            place.mask = self._mask.tobytes()
        return place.mask

    def _is_open(self, place: Place, kind: int) -> bool:
        if kind > self._speaks.end:
            return False
        return bool(self.mask(place)[kind >> 3] >> (kind & 7) & 1)

    def is_complete(self, place: Place) -> bool:
        """Whether the output may end at ``place``."""
        return self._is_open(place, self._speaks.end)

    def live(self, place: Place) -> tuple[int, ...]:
        """The bytes that may come next, as stcon knows."""
        return self._constraint.live(self._state(place))

    def shortest(self, place: Place) -> bytes:
        """A shortest text that completes the output, as stcon knows."""
        return self._constraint.shortest(self._state(place))

    def _state(self, place: Place) -> State:
        """stcon's state: representatives lead to the one that tokens lead to."""
        if place.kind == self._speaks.end:
            return DEAD
        texts = map(self._speaks.texts.__getitem__, place.kinds())
        return self._constraint.read(self._constraint.start, b"".join(texts))
