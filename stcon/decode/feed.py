"""A model and its cache, fed as mlx-lm feeds them: in chunks, quantised as it goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from stcon.decode.head import Fed, Head, head_of
from stcon.decode.rollback import Undo, checkpoint


class Runner(Protocol):
    """What a loop needs of a model.  ``is_kept``: whether somebody goes on with its
    cache when the generation is over.  ``width``: how many logits it has, None before
    that is known."""

    is_kept: bool

    @property
    def width(self) -> int | None:
        """See above."""

    def run(self, tokens: Any) -> Fed:
        """What the model makes of ids, mlx [n]; lazy."""

    def start(self, fed: Fed) -> None:
        """Nothing; a run begins to be computed."""

    def checkpoint(self, count: int) -> Undo | None:
        """What takes back the ``count`` tokens that are fed next, or None."""

    def settle(self) -> None:
        """Nothing; a cache that is kept is computed, so that it holds neither the
        model nor the thread's stream."""


class Feed:
    """One model and its cache.

    ``options``: the arguments of mlx-lm's ``generate_step`` by name, defaults
    included.  ``cache``: a list that is changed in place.
    """

    def __init__(self, model: Any, cache: list[Any], options: Mapping[str, Any]):
        self._model = model
        self._cache = cache
        self._options = options
        self._prompt = options["prompt"]
        self._embeddings = options.get("input_embeddings")
        embeddings = self._embeddings
        self.is_kept = options["prompt_cache"] is not None
        self._check()
        self.total = len(self._prompt if embeddings is None else embeddings)
        self.report = options.get("prompt_progress_callback") or (lambda *_: None)

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

    def run(self, tokens: Any) -> Fed:
        """What the model makes of ``tokens``, ids [n]; lazy."""
        import mlx.core as mx

        embeddings, self._embeddings = self._embeddings, None
        if embeddings is None:
            return self._in_chunks(tokens)
        size = len(tokens) if len(self._prompt) == 0 else len(tokens) - len(embeddings)
        own, forced = tokens[: len(tokens) - size], tokens[len(tokens) - size :]
        logits = self._call(own, embeddings)
        if len(forced) == 0:
            return Fed(logits)
        return Fed(mx.concatenate([logits, self._call(forced, None)]))

    def start(self, fed: Fed) -> None:
        """Nothing; a run begins to be computed, while the host goes on."""
        import mlx.core as mx

        mx.async_eval(fed.values)  # type: ignore[no-untyped-call]

    def checkpoint(self, count: int) -> Undo | None:
        """What takes back the ``count`` tokens that are fed next, or None."""
        return checkpoint(self._cache, count)

    def settle(self) -> None:
        """Nothing; a cache that is kept is computed: its user may save it, or go on in
        another thread."""
        import mlx.core as mx

        if self.is_kept:
            mx.eval([layer.state for layer in self._cache])

    def _in_chunks(self, tokens: Any) -> Fed:
        """Long forced text is fed as long prompts are."""
        import mlx.core as mx

        size = self._options["prefill_step_size"]
        parts = []
        for at in range(0, len(tokens), size):
            parts.append(self._after_head(tokens[at : at + size]))
            if at + size < len(tokens):
                mx.eval([layer.state for layer in self._cache], parts[-1].values)
        return parts[0] if len(parts) == 1 else parts[-1].behind(parts[:-1])

    def _after_head(self, tokens: Any) -> Fed:
        head = self._head
        if head is None:
            return Fed(self._call(tokens, None))
        hidden = head.hidden(self._model, tokens[None], self._cache)
        self._quantise()
        return Fed(hidden[0], self._model, head)

    @property
    def width(self) -> int | None:
        """How many logits the model has, if its head is found."""
        head = self._head
        return None if head is None else head.width(self._model)

    @property
    def _head(self) -> Head | None:
        return head_of(self._model)

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
