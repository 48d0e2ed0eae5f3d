"""``generate_step`` for calls with a constraint, after mlx-lm 0.31 to 0.32.

Everything the original takes works: other processors (the constraint comes last,
wherever it stands), samplers, caches of any kind, quantised ones too, prefill in
chunks with progress, input embeddings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from stcon.constraints.constraint import Constraint
from stcon.decode.budgets import limited
from stcon.decode.constrained_loop import ConstrainedLoop, Step

_CLEAR_EVERY = 256

Processor = Callable[[Any, Any], Any]


def constrained_generate_step(options: Mapping[str, Any]) -> Iterator[Step]:
    """Yields tokens and log-probabilities as mlx-lm's ``generate_step`` does; forced
    tokens too.  ``options``: its arguments by name, defaults included.

    Raises ValueError for two constraints, and for what mlx-lm refuses; LimitError
    when no valid output has as few tokens as ``max_tokens``, before any run.
    """
    import mlx.core as mx

    constraint, others = sort_processors(options["logits_processors"])
    constraint = limited(constraint, options["max_tokens"])
    feed = _Feed(options)
    last = feed.prefill()
    sampler = options["sampler"] or partial(mx.argmax, axis=-1)
    loop = ConstrainedLoop(constraint, feed.run, sampler, others)
    with mx.stream(options["stream"]):
        steps = loop.steps(options["prompt"], last, options["max_tokens"])
        for n, step in enumerate(steps):
            if n == 0:
                feed.report(feed.total, feed.total)
            yield step
            if n % _CLEAR_EVERY == 0:
                mx.clear_cache()


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


class _Feed:
    """Feeds a model and its cache."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        from mlx_lm.models.cache import make_prompt_cache

        self._options = options
        self._model = options["model"]
        self._prompt = options["prompt"]
        self._embeddings = options.get("input_embeddings")
        self._check()
        cache = options["prompt_cache"]
        if cache is None:
            size = options["max_kv_size"]
            cache = make_prompt_cache(self._model, max_kv_size=size)
        self._cache = cache
        embeddings = self._embeddings
        self.total = len(self._prompt if embeddings is None else embeddings)
        self.report = options["prompt_progress_callback"] or (lambda *_: None)

    def _check(self) -> None:
        prompt, embeddings = self._prompt, self._embeddings
        if embeddings is None:
            if len(prompt) == 0:
                raise ValueError(
                    "Either input_embeddings or prompt (or both) must be provided."
                )
            return
        from mlx_lm.utils import does_model_support_input_embeddings

        if not does_model_support_input_embeddings(self._model):
            raise ValueError("Model does not support input embeddings.")
        if len(prompt) > 0 and len(prompt) != len(embeddings):
            raise ValueError(
                f"input_embeddings has {len(embeddings)} rows and the prompt "
                f"{len(prompt)} tokens; they must be as many, or the prompt empty"
            )

    def prefill(self) -> Any:
        """The last token of the prompt, everything before it having been fed."""
        import mlx.core as mx

        prompt, embeddings = self._prompt, self._embeddings
        self.report(0, self.total)
        done = 0
        with mx.stream(self._options["stream"]):
            while self.total - done > 1:
                size = min(self._options["prefill_step_size"], self.total - done - 1)
                rows = None if embeddings is None else embeddings[:size]
                self._call(prompt[:size], rows)
                mx.eval([layer.state for layer in self._cache])
                prompt = prompt[size:]
                embeddings = None if embeddings is None else embeddings[size:]
                done += size
                self.report(done, self.total)
                mx.clear_cache()
        self._embeddings = embeddings
        return prompt

    def run(self, tokens: Any) -> Any:
        """Logits after each of ``tokens``, [n, width]."""
        import mlx.core as mx

        embeddings, self._embeddings = self._embeddings, None
        if embeddings is None:
            return self._call(tokens, None)
        size = len(tokens) if len(self._prompt) == 0 else len(tokens) - len(embeddings)
        own, forced = tokens[: len(tokens) - size], tokens[len(tokens) - size :]
        logits = self._call(own, embeddings)
        if len(forced) == 0:
            return logits
        return mx.concatenate([logits, self._call(forced, None)])

    def _call(self, tokens: Any, embeddings: Any) -> Any:
        more = {}
        if embeddings is not None:
            more["input_embeddings"] = embeddings[None]
        logits = self._model(tokens[None], cache=self._cache, **more)
        self._quantise()
        return logits[0]

    def _quantise(self) -> None:
        """As mlx-lm does it: each layer once it is long enough."""
        options = self._options
        if options["kv_bits"] is None:
            return
        for place, layer in enumerate(self._cache):
            long_enough = (
                hasattr(layer, "to_quantized")
                and layer.offset >= options["quantized_kv_start"]
            )
            if long_enough:
                self._cache[place] = layer.to_quantized(
                    group_size=options["kv_group_size"], bits=options["kv_bits"]
                )
