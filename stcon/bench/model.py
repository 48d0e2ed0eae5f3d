"""The model that ``bench decode`` runs, timed run by run.

mlx is lazy: a run is computed once something is sampled from it.  So that is where
it is timed and counted, and a run that nobody samples from costs nothing here
either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from stcon.bench.timing import timed
from stcon.bench.tokenizer import Tokens, load_tokens
from stcon.errors import StconError

HOW_TO = (
    "give --model a folder that mlx-lm reads; in a checkout: python -m stcon bench "
    'decode --model "$(python examples/smollm2.py)"'
)
_PREFILL = 512


class ModelMissing(StconError):
    """No folder with a model was given, or mlx-lm cannot read it."""


@dataclass(frozen=True)
class Loaded:
    """A model of mlx-lm, its tokens, and ``encode``: the ids of a chat, user and
    model in turn, user first and last, in the model's own template."""

    model: Any
    tokens: Tokens
    encode: Callable[[Sequence[str]], list[int]]


def load_model(folder: str | None) -> Loaded:
    """The model in ``folder``; raises ModelMissing."""
    if not folder:
        raise ModelMissing("no model to measure with", hint=HOW_TO)
    path = Path(folder).expanduser()
    if not (path / "config.json").is_file():
        raise ModelMissing(f"there is no model in {path}", hint=HOW_TO)
    tokens = load_tokens(str(path), None)
    try:
        from mlx_lm import load

        loaded: tuple[Any, ...] = load(str(path))
    except Exception as error:
        raise ModelMissing(
            f"mlx-lm cannot load {path}: {error}", hint=HOW_TO
        ) from error

    model, tokenizer = loaded[:2]

    def encode(turns: Sequence[str]) -> list[int]:
        if not getattr(tokenizer, "chat_template", None):
            return tokens.encode("\n".join([*turns, ""]))
        chat = [
            {"role": ("user", "assistant")[at % 2], "content": text}
            for at, text in enumerate(turns)
        ]
        ids = tokenizer.apply_chat_template(chat, add_generation_prompt=True)
        return [int(token) for token in ids]

    return Loaded(model, tokens, encode)


class Prompt:
    """A prompt of at least one token that a model has read, but for its last.

    ``ids``: mlx [n]; ``last``: mlx [1], the token that is still to be fed.
    """

    def __init__(self, model: Any, ids: Sequence[int]) -> None:
        import mlx.core as mx
        from mlx_lm.models.cache import make_prompt_cache

        self.model = model
        self.ids = mx.array(list(ids), mx.uint32)
        self.last = self.ids[-1:]
        self._cache = make_prompt_cache(model)
        for at in range(0, len(ids) - 1, _PREFILL):
            part = self.ids[:-1][at : at + _PREFILL]
            model(part[None], cache=self._cache)
            mx.eval([layer.state for layer in self._cache])

    def cache(self) -> Any:
        """A copy of the model's cache after this prompt."""
        return deepcopy(self._cache)


class Meter:
    """One generation of a model: feeds it, times its runs and samples greedily.

    ``runs``: nanoseconds of each run that was sampled from; ``sizes``: how many
    tokens each of them was fed; ``model_ns`` and ``sampling_ns``: all time spent in
    the model, and from its logits to a token.
    """

    def __init__(self, prompt: Prompt) -> None:
        self.prompt = prompt
        self._model = prompt.model
        self._cache = prompt.cache()
        self.runs: list[int] = []
        self.sizes: list[int] = []
        self.model_ns = self.sampling_ns = 0
        self._pending: tuple[Any, int, int] | None = None

    def run(self, tokens: Any) -> Any:
        """Logits after each of ``tokens`` (mlx [n]), [n, width]; lazy."""
        call = partial(self._model, tokens[None], cache=self._cache)
        took, logits = timed(lambda: call()[0])
        self.model_ns += took
        self._pending = logits, len(tokens), took
        return logits

    def sample(self, logprobs: Any) -> Any:
        """The likeliest ids, mlx [1]; the run they come from is computed first, then
        they and ``logprobs``."""
        import mlx.core as mx

        assert self._pending is not None, "nothing was run"
        logits, size, building = self._pending
        computing, _ = timed(lambda: mx.eval(logits))
        self.model_ns += computing
        self.runs.append(building + computing)
        self.sizes.append(size)
        chosen = mx.argmax(logprobs, axis=-1)
        sampling, _ = timed(lambda: mx.eval(chosen, logprobs))
        self.sampling_ns += sampling
        return chosen
