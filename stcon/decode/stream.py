"""An answer as it is written: events with exact text, and JSON values that grow."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from typing import Any

from stcon.constraints.constraint import Constraint
from stcon.decode.forced import Forced
from stcon.decode.generate_step import constrained_generate_step
from stcon.errors import StconError


@dataclass(frozen=True, slots=True)
class Event:
    """One token of an answer.

    ``text``: what it adds; empty while a character is not finished.  ``token``: its
    id.  ``forced``: whether the format decided it, so that it took no run of the model.
    ``logprobs``: mlx float [width], the model's at its place, computed if read.
    ``finish_reason``: of the last event, ``"stop"`` when the text ended by itself or
    ``"length"`` at the limit; else None.
    """

    text: str
    token: int
    forced: bool
    logprobs: Any
    finish_reason: str | None = None


def stream(
    model: Any,
    tokenizer: Any,
    prompt: str | Sequence[int],
    constraint: Constraint,
    **options: Any,
) -> Iterator[Event]:
    """The answer of ``model`` in the format of ``constraint``, token by token.

    ``tokenizer``: the model's, as ``mlx_lm.load`` gives it.  ``options``: those of
    mlx-lm's ``generate_step``: max_tokens (256), sampler, prompt_cache, ..., and
    logits_processors for others than the constraint.  Works with and without
    ``stcon.patch()``; the texts of all events are the whole answer, exactly.

    Raises TypeError for what is no constraint and for options that are not known;
    LimitError when no valid output has as few tokens, before any run.
    """
    import mlx.core as mx

    if not isinstance(constraint, Constraint):
        raise TypeError(
            "stream takes a constraint, as stcon.constrain makes it, after the prompt, "
            f"not {constraint!r:.60}"
        )
    others = list(options.pop("logits_processors", None) or ())
    stock = import_module("mlx_lm.generate").generate_step
    bound = signature(stock).bind(
        mx.array(_ids(tokenizer, prompt), mx.uint32),
        model,
        **options,
        logits_processors=[*others, constraint],
    )
    bound.apply_defaults()
    arguments = bound.arguments
    steps = constrained_generate_step(arguments)
    return _events(steps, constraint, arguments["max_tokens"])


def _ids(tokenizer: Any, prompt: str | Sequence[int]) -> list[int]:
    """The prompt as mlx-lm encodes it."""
    if not isinstance(prompt, str):
        return [int(token) for token in prompt]
    bos = tokenizer.bos_token
    special = bos is None or not prompt.startswith(bos)
    return list(tokenizer.encode(prompt, add_special_tokens=special))


def _events(
    steps: Iterator[tuple[int, Any]], constraint: Constraint, limit: int
) -> Iterator[Event]:
    vocabulary = constraint.vocabulary
    decoder = getincrementaldecoder("utf-8")("replace")
    for count, (token, logprobs) in enumerate(steps, 1):
        is_end = token in vocabulary.eos_ids
        reason = "stop" if is_end else "length" if count == limit else None
        data = b"" if is_end else vocabulary.token_bytes(token)
        text = decoder.decode(data, final=reason is not None)
        yield Event(text, int(token), isinstance(token, Forced), logprobs, reason)
        if reason is not None:
            return


def partial_json(pieces: Iterable[Any], after: str | None = None) -> Iterator[Any]:
    """The JSON value that ``pieces`` have come to, each time it has grown.

    ``pieces``: texts, or what has a ``text``: Events, or mlx-lm's own responses.
    Open strings, arrays and objects count as far as they are written; a key without
    its value, and a number that may go on, do not yet.  The last value is the whole
    one.  ``after``: the value begins behind the first such text, ``"</think>"`` say.

    Costs one parse of the whole text a piece, 1 µs for each 500 bytes.  Raises
    StconError for text that is not the beginning of JSON, and for more than 200 levels.
    """
    text, before = "", ""
    for piece in pieces:
        text += piece if isinstance(piece, str) else piece.text
        value = _value(text, after, is_over=False)
        if value is not _NOTHING and repr(value) != before:
            before = repr(value)
            yield value
    value = _value(text, after, is_over=True)
    if value is not _NOTHING and repr(value) != before:
        yield value


_NOTHING = object()
_NUMBER = "+-.0123456789Ee"


def _value(text: str, after: str | None, is_over: bool) -> Any:
    """What ``text`` has come to; ``_NOTHING`` while that is no value."""
    import jiter

    if after is not None:
        _, mark, text = text.partition(after)
        if not mark:
            return _NOTHING
    if not is_over and not _is_in_string(text):
        text = text.rstrip(_NUMBER)
    try:
        return jiter.from_json(text.encode(), partial_mode="trailing-strings")
    except ValueError as error:
        if "EOF while parsing" in str(error):
            return _NOTHING
        raise StconError(
            f"this is not the beginning of JSON that can be read: {error}",
            hint="give partial_json the pieces of one answer, from the first on",
        ) from error


def _is_in_string(text: str) -> bool:
    """Whether ``text`` ends within a string."""
    quotes = re.sub(r"\\.", "", text, flags=re.DOTALL).count('"')
    return quotes % 2 == 1
