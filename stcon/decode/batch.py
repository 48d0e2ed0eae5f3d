"""Batches: every row feeds its next forced or sampled token, all in one run.

Rows with and without constraints share a batch, and join and leave at any step.  The
tokens of a step are read once for all rows; masks are worked out while the model runs,
and applied to all rows at once.  On a GPU the run is enqueued before its tokens are
read, as mlx-lm does it, and undone in the rare case that forced text changes one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from stcon.constraints.constraint import Constraint
from stcon.decode.ahead import Forecast
from stcon.decode.choice import Processor
from stcon.decode.generate_step import sort_processors, suits
from stcon.decode.rollback import checkpoint
from stcon.decode.row import Row
from stcon.errors import HistoryError

_ANY = "any row"


@cache
def _forecasts() -> weakref.WeakKeyDictionary[Any, Forecast]:
    """The forecasts of living batches."""
    return weakref.WeakKeyDictionary()


def insert_rows(
    generator: Any, stock: Callable[..., Any], options: dict[str, Any]
) -> Any:
    """``BatchGenerator.insert_segments`` with a Row for each constraint; ``options``:
    its arguments by name.

    Raises LimitError and ValueError before any row is taken.
    """
    count = len(options["segments"])
    given = options.get("logits_processors")
    processors = list(given or [generator.logits_processors] * count)
    limits = options.get("max_tokens") or [generator.max_tokens] * count
    before = options.get("all_tokens") or [[]] * count
    rows = zip(processors, options["segments"], limits, before, strict=False)
    if all(len(each) == count for each in (processors, limits, before)):
        options["logits_processors"] = [_with_row(*row) for row in rows]
    return stock(generator, **options)


def _with_row(
    processors: Sequence[Processor] | None,
    segments: Sequence[Sequence[int]],
    max_tokens: int,
    before: Sequence[int],
) -> list[Processor]:
    """The processors of one row, a Row last in the place of its constraint."""
    processors = list(processors or ())
    if not any(isinstance(item, Constraint) for item in processors):
        return processors
    constraint, others = sort_processors(processors)
    prompt = [*before, *(token for segment in segments for token in segment)]
    return [*others, Row(constraint, prompt, max_tokens)]


def rows_of(batch: Any) -> list[Row | None]:
    """The Row of each row of a ``GenerationBatch``, None where it has none."""
    found: list[Row | None] = []
    for processors in batch.logits_processors or ():
        rows = [item for item in processors or () if isinstance(item, Row)]
        found.append(rows[0] if rows else None)
    return found


def constrained_batch_step(
    batch: Any, rows: Sequence[Row | None], pipelined: bool | None
) -> tuple[list[int], list[Any]]:
    """``GenerationBatch._step`` for a batch with Rows: the tokens of this step, which
    are fed, and their log-probabilities."""
    import mlx.core as mx

    tokens, logits = _fed(batch, rows, suits(pipelined))
    batch._current_tokens = mx.array(tokens, mx.uint32)
    batch._current_logprobs = batch._next_logprobs
    context, logits = _processed(batch, logits)
    logits = _masked(rows, logits)
    logprobs = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
    batch._next_tokens = _known(rows, logits.shape[-1], _sampled(batch, logprobs))
    batch._next_logprobs = list(logprobs)
    mx.async_eval(  # type: ignore[no-untyped-call]
        batch._next_tokens, batch._next_logprobs, context
    )
    mx.eval(batch._current_logprobs)
    for written, token in zip(batch.tokens, tokens, strict=True):
        written.append(token)
    return tokens, batch._current_logprobs


def _fed(
    batch: Any, rows: Sequence[Row | None], pipelined: bool
) -> tuple[list[int], Any]:
    """The tokens of this step and the logits after them, float [rows, width]."""
    import mlx.core as mx

    forecast = _forecasts().setdefault(batch, Forecast())
    undo = logits = None
    if pipelined and forecast.is_worth(_ANY):
        undo = checkpoint(batch.prompt_cache)
    if undo is not None:
        logits = _run(batch, batch._next_tokens)
    sampled = batch._next_tokens.tolist()
    try:
        tokens = _accepted(rows, sampled)
    except HistoryError:
        if undo is not None:
            undo()
        raise
    is_other = tokens != sampled
    forecast.note(_ANY, is_other)
    if logits is None or is_other:
        if undo is not None:
            undo()
        logits = _run(batch, mx.array(tokens, mx.uint32))
    return tokens, logits


def _accepted(rows: Sequence[Row | None], sampled: Sequence[int]) -> list[int]:
    """The tokens to feed for the sampled ones.  No row has moved when one of them was
    given a token that its format does not allow, which raises HistoryError."""
    fed = [
        (token, None) if row is None else row.feed(token)
        for row, token in zip(rows, sampled, strict=True)
    ]
    for row, (_, place) in zip(rows, fed, strict=True):
        if row is not None and place is not None:
            row.go_on(place)
    return [token for token, _ in fed]


def _run(batch: Any, tokens: Any) -> Any:
    """Logits after one token of each row; they begin to be computed."""
    import mlx.core as mx

    logits = batch.model(tokens[:, None], cache=batch.prompt_cache)[:, -1, :]
    mx.async_eval(logits)  # type: ignore[no-untyped-call]
    return logits


def _processed(batch: Any, logits: Any) -> tuple[list[Any], Any]:
    """The histories of rows with processors, and the logits after those of them that
    are no Rows."""
    import mlx.core as mx

    context, found = [], []
    for place in range(len(batch.uids)):
        own = logits[place : place + 1]
        processors = batch.logits_processors[place] or ()
        if processors:
            token = batch._current_tokens[place : place + 1]
            history = batch._token_context[place].update_and_fetch(token)
            context.append(history)
            for processor in processors:
                if not isinstance(processor, Row):
                    own = processor(history, own)
        found.append(own)
    return context, mx.concatenate(found)


def _masked(rows: Sequence[Row | None], logits: Any) -> Any:
    """Logits without what the rows do not allow; those of a token that is known
    anyway are left as they are."""
    import mlx.core as mx

    width = logits.shape[-1]
    free = mx.ones((1, width), mx.bool_)
    asked = [None if r is None or r.known(width) is not None else r for r in rows]
    if not any(asked):
        return logits
    masks = mx.concatenate([free if row is None else row.row(width) for row in asked])
    return mx.where(masks, logits, mx.array(-float("inf"), logits.dtype))


def _sampled(batch: Any, logprobs: Any) -> Any:
    """A token for each row; one call where all rows share a sampler."""
    import mlx.core as mx

    samplers = [each or batch.fallback_sampler for each in batch.samplers or ()]
    if not samplers or all(each is samplers[0] for each in samplers):
        return (samplers or [batch.fallback_sampler])[0](logprobs)
    return mx.concatenate(
        [sampler(logprobs[place : place + 1]) for place, sampler in enumerate(samplers)]
    )


def _known(rows: Sequence[Row | None], width: int, sampled: Any) -> Any:
    """The sampled tokens, or those that are known without."""
    import mlx.core as mx

    known = [None if row is None else row.known(width) for row in rows]
    if all(token is None for token in known):
        return sampled
    ids = mx.array([token or 0 for token in known], sampled.dtype)
    return mx.where(mx.array([token is not None for token in known]), ids, sampled)
