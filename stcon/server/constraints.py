"""Constraints for requests: compiled once for a format and a tokenizer."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from stcon.api import constrain, constrain_tools
from stcon.constraints.constraint import Constraint
from stcon.decode.budgets import limited
from stcon.errors import StconError
from stcon.server.formats import TOOLS, Format
from stcon.syntax.tools import FORMS
from stcon.tokens.huggingface import find_tool_form
from stcon.tokens.vocabulary import Vocabulary

_KEPT = 64
_MOST_BIAS = 1000  # ten times what clients may send; -1e5 is -inf in 16 bits
_NO_FORM = (
    "tool_choice: the model's chat template tells no form of tool calls that is known "
    f"({', '.join(FORMS)}); the server can be started with --chat-template, or "
    "tool_parser_type be set in the model's tokenizer_config.json"
)
_BYTES = [None, *(bytes([byte]) for byte in range(256))]


class Constraints:
    """The last 64 formats of each tokenizer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: weakref.WeakKeyDictionary[Any, OrderedDict[Format, Constraint]] = (
            weakref.WeakKeyDictionary()
        )

    def get(self, tokenizer: Any, format: Format) -> Constraint | None:
        """The constraint of ``format``; a thinking model may think first.  None where
        a model may call tools and is not known to have a form for that.

        ``tokenizer``: mlx-lm's TokenizerWrapper.  Raises ValueError.
        """
        knows_form = format.kind != TOOLS or find_tool_form(tokenizer) in FORMS
        if not knows_form:
            if format.must_call:
                raise ValueError(_NO_FORM)
            alone = format.without_tools()
            return None if alone is None else self.get(tokenizer, alone)
        with self._lock:
            kept = self._of.setdefault(tokenizer, OrderedDict())
            if format in kept:
                kept.move_to_end(format)
                return kept[format]
        thinks = bool(getattr(tokenizer, "has_thinking", False))
        made = _made(tokenizer, format, after=thinks)
        with self._lock:
            kept[format] = made
            while len(kept) > _KEPT:
                kept.popitem(last=False)
        return made


@lru_cache(maxsize=256)
def check(format: Format) -> None:
    """Nothing; raises ValueError for a format that cannot be enforced, whatever the
    tokenizer.  Formats that passed are remembered."""
    form = {"form": FORMS[0]} if format.kind == TOOLS else {}
    _made(Vocabulary.from_bytes(_BYTES, [0]), format, **form)


def check_bias(bias: Mapping[int, float] | None) -> None:
    """Nothing; raises ValueError for a bias that could close all tokens a format leaves
    open: nothing could be sampled then, in a batch that others share."""
    if any(not -_MOST_BIAS <= value <= _MOST_BIAS for value in (bias or {}).values()):
        raise ValueError(
            f"logit_bias beside a format is from -{_MOST_BIAS} to {_MOST_BIAS}"
        )


def check_limit(constraint: Constraint, prompt: Sequence[int], max_tokens: int) -> None:
    """Nothing; raises ValueError when no answer behind ``prompt`` has so few tokens."""
    try:
        limited(constraint, max_tokens).start_after(prompt)
    except StconError as error:
        raise ValueError(str(error)) from error


def _made(tokenizer: Any, format: Format, **options: Any) -> Constraint:
    make = constrain_tools if format.kind == TOOLS else constrain
    try:
        return make(tokenizer, **format.options, **options)
    except (StconError, TypeError) as error:
        raise ValueError(f"{format.field}: {error}") from error
