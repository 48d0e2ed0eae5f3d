"""``generate_step`` for calls with a constraint, after mlx-lm 0.31 to 0.32.

Everything the original takes works: other processors (the constraint comes last,
wherever it stands), samplers, caches of any kind, quantised ones too, prefill in
chunks with progress, input embeddings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from importlib import import_module
from typing import Any

from stcon.constraints.constraint import Constraint
from stcon.decode.choice import Processor
from stcon.decode.constrained_loop import ConstrainedLoop, Step
from stcon.decode.feed import Feed

_CLEAR_EVERY = 256


def constrained_generate_step(
    options: Mapping[str, Any], pipelined: bool | None = None
) -> Iterator[Step]:
    """Yields tokens and log-probabilities as mlx-lm's ``generate_step`` does; forced
    tokens too.  ``options``: its arguments by name, defaults included.
    ``pipelined``: see ``stcon.patch``.

    Raises ValueError for two constraints, and for what mlx-lm refuses; LimitError
    when no valid output has as few tokens as ``max_tokens``, before any run.
    """
    import mlx.core as mx

    constraint, others = sort_processors(options["logits_processors"])
    feed = Feed(options["model"], prompt_cache(options), options)
    sampler = options["sampler"] or partial(mx.argmax, axis=-1)
    loop = ConstrainedLoop(constraint, feed, sampler, others, suits(pipelined))
    loop.begin(options["prompt"], options["max_tokens"])
    with mx.stream(stream_of(options)), closing(loop.steps(feed.prefill())) as steps:
        for n, step in enumerate(steps):
            if n == 0:
                feed.report(feed.total, feed.total)
            yield step
            if n % _CLEAR_EVERY == 0:
                mx.clear_cache()


def stream_of(options: Mapping[str, Any]) -> Any:
    """The stream of a call; mlx-lm's own for releases whose calls take none."""
    stream = options.get("stream")
    return stream or import_module("mlx_lm.generate").generation_stream


def prompt_cache(options: Mapping[str, Any]) -> Any:
    """The cache of a call, or a new one."""
    from mlx_lm.models.cache import make_prompt_cache

    cache = options["prompt_cache"]
    if cache is not None:
        return cache
    size = options.get("max_kv_size")
    return make_prompt_cache(options["model"], max_kv_size=size)


def suits(pipelined: bool | None) -> bool:
    """Whether runs are enqueued ahead: as asked for, else where mlx computes on a GPU.

    On the CPU backend the host's part is 1 to 3 per cent of a run, so a wasted run
    costs more than ahead of time ever saves.
    """
    import mlx.core as mx

    if pipelined is not None:
        return pipelined
    return bool(mx.default_device() == mx.gpu)


def sort_processors(
    processors: Sequence[Processor],
) -> tuple[Constraint, list[Processor]]:
    """The one constraint of a list, and the other processors in their order.

    Raises ValueError for more than one.
    """
    found = [item for item in processors if isinstance(item, Constraint)]
    if len(found) != 1:
        raise ValueError(
            f"{len(found)} constraints in one call of mlx-lm: an output has one format"
        )
    return found[0], [item for item in processors if item is not found[0]]
