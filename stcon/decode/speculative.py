"""Speculative decoding under a constraint.

The draft model writes a trial: tokens it samples under the mask, and after each the
text that the format forces, which costs it no guess.  The model is run once over the
trial and samples at the same places under the same masks; the trial stands as far as
both chose alike.  So forced spans are drafts that are always accepted, and the output
is that of the model alone.
Source: Leviathan et al., Fast Inference from Transformers via Speculative Decoding;
few-paths paper, mechanism 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from stcon.decode.budgets import limited
from stcon.decode.choice import Chooser, log_softmax
from stcon.decode.feed import Feed
from stcon.decode.forced import Forced, Plan
from stcon.decode.generate_step import sort_processors, stream_of
from stcon.decode.head import Fed, head_of

Drafted = tuple[int, Any, bool]
"""A token, the log-probabilities at its place, and whether it was drafted."""


def constrained_speculative_step(options: Mapping[str, Any]) -> Iterator[Drafted]:
    """Yields as mlx-lm's ``speculative_generate_step`` does.  ``options``: its
    arguments by name, defaults included.

    Raises ValueError for two constraints and for caches that cannot be trimmed;
    LimitError when no valid output has as few tokens as ``max_tokens``.
    """
    import mlx.core as mx

    speculation = _Speculation(options)
    with mx.stream(stream_of(options)):
        yield from speculation.steps()


class _Place(NamedTuple):
    """Where a token is sampled: behind ``at`` tokens, in the state of ``plan``.
    ``drafted``: what the draft model chose there; None where a trial ends."""

    at: int
    plan: Plan
    drafted: int | None = None


class _Model:
    """One of the two models.  ``fed``: how many of the tokens its cache holds, the
    prompt's last one being the first."""

    def __init__(self, feed: Feed, cache: list[Any]) -> None:
        self.feed = feed
        self.fed = 0
        self._cache = cache

    def feed_to(self, tokens: list[int]) -> Fed:
        """What the model makes of those of ``tokens`` that it has not been fed."""
        import mlx.core as mx

        fed = self.feed.run(mx.array(tokens[self.fed :], mx.uint32))
        self.fed = len(tokens)
        return fed

    def has_room(self, tokens: list[int]) -> bool:
        """Whether the cache could take back those of ``tokens`` that it has not been
        fed; a sliding window that is full cannot."""
        return self.feed.checkpoint(len(tokens) - self.fed) is not None

    def keep(self, count: int) -> None:
        """Nothing; the cache holds no more than the first ``count`` tokens."""
        from mlx_lm.models.cache import trim_prompt_cache

        if self.fed > count:
            trim_prompt_cache(self._cache, self.fed - count)
            self.fed = count


class _Speculation:
    """One generation of two models."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        import mlx.core as mx

        constraint, self._others = sort_processors(options["logits_processors"])
        limit = options["max_tokens"]
        constraint = limited(constraint, limit)
        head = head_of(options["model"])
        width = head.width(options["model"]) if head else None
        self._chooser = Chooser(constraint, self._others, width)
        self._prompt = options["prompt"].astype(mx.uint32)
        self._left = limit if limit >= 0 else 1 << 62
        self._most = options["num_draft_tokens"]
        self._sampler = options["sampler"] or partial(mx.argmax, axis=-1)
        shown = self._prompt.tolist() if constraint.reads_prompt else ()
        self._plan = self._chooser.start(shown)
        options = {**options, "prompt": self._prompt}
        self._main, self._draft = (
            _Model(Feed(model, cache, options), cache)
            for model, cache in _both(options)
        )

    def steps(self) -> Iterator[Drafted]:
        """The tokens.  The caches hold what was yielded and no more when it ends."""
        if self._left == 0:
            return
        last = self._draft.feed.prefill().tolist()
        self._main.feed.prefill()
        tokens = [*last, *self._plan.tokens]
        yielded = len(last)
        try:
            while True:
                trial, places = self._drafted(tokens)
                for token, logprobs, is_drafted in self._judged(trial, places, yielded):
                    yielded += 1
                    self._left -= 1
                    yield token, logprobs, is_drafted
                    if self._left == 0 or self._chooser.is_end(token):
                        return
                tokens = self._tokens
        finally:
            self._main.keep(yielded)
            self._draft.keep(yielded)

    def _drafted(self, tokens: list[int]) -> tuple[list[int], list[_Place]]:
        """A trial that goes on from ``tokens``, and where tokens are sampled in it."""
        trial, plan = list(tokens), self._plan
        places: list[_Place] = []
        most = min(self._most, self._left)
        while len(places) < most and not self._chooser.is_over(plan.state):
            if not self._draft.has_room(trial):
                break
            fed = self._draft.feed_to(trial)
            logprobs = self._logprobs(fed, len(fed) - 1, plan, trial)
            token = _id(self._sampler(logprobs))
            after = self._chooser.after(token, plan.state)
            written = after.tokens if after.heals else (token, *after.tokens)
            if not self._main.has_room([*trial, *written]):
                break
            places.append(_Place(len(trial), plan, token))
            if self._chooser.is_end(token):
                return [*trial, token], places
            plan = after
            trial += written
        return trial, [*places, _Place(len(trial), plan)]

    def _judged(
        self, trial: list[int], places: list[_Place], yielded: int
    ) -> Iterator[Drafted]:
        """The tokens of a trial as far as the model chooses alike, and one more.

        ``yielded``: of the trial; what comes next of it was forced before.
        """
        import mlx.core as mx

        first = self._main.fed
        fed = self._main.feed_to(trial)
        rows = [self._asked(fed, place, trial, first) for place in places]
        chosen: list[Any] = [
            None if row is None else self._sampler(row) for row in rows
        ]
        mx.eval([each for each in (*chosen, *rows) if each is not None])
        for place, row, choice in zip(places, rows, chosen, strict=True):
            for at in range(yielded, place.at):
                yield Forced(trial[at]), _at(fed, at - 1 - first), True
            if row is None:
                yield Forced(self._chooser.end), _at(fed, place.at - 1 - first), False
                return
            token = _id(choice)
            if token != place.drafted:
                yield self._corrected(trial, place, token), row[0], False
                return
            yield trial[place.at], row[0], True
            yielded = place.at + 1

    def _asked(self, fed: Fed, place: _Place, trial: list[int], first: int) -> Any:
        """What the sampler is given at a place; None where the text is over."""
        if self._chooser.is_over(place.plan.state):
            return None
        at, plan = place.at, place.plan
        return self._logprobs(fed, at - 1 - first, plan, trial[:at])

    def _corrected(self, trial: list[int], place: _Place, token: int) -> int:
        """The token that is written where the draft ends; what follows it is the next
        trial's beginning."""
        kept = trial[: place.at]
        self._plan = self._chooser.after(token, place.plan.state)
        if self._chooser.is_end(token):
            self._tokens = [*kept, token]
            return token
        written = self._plan.tokens if self._plan.heals else (token, *self._plan.tokens)
        self._tokens = [*kept, *written]
        self._main.keep(place.at)
        self._draft.keep(place.at)
        return written[0]

    def _logprobs(self, fed: Fed, place: int, plan: Plan, tokens: list[int]) -> Any:
        import mlx.core as mx

        history = None
        if self._others:
            written = mx.array(tokens, mx.uint32)
            history = mx.concatenate([self._prompt[:-1], written])
        return self._chooser.logprobs(fed, place, plan, history)


def _both(options: Mapping[str, Any]) -> list[tuple[Any, list[Any]]]:
    """The model and the draft model, with their caches."""
    from mlx_lm.models.cache import can_trim_prompt_cache, make_prompt_cache

    models = options["model"], options["draft_model"]
    given = options["prompt_cache"]
    if given is None:
        caches = [make_prompt_cache(model) for model in models]
    else:
        split = len(models[0].layers)
        caches = [given[:split], given[split:]]
    for cache in caches:
        if not can_trim_prompt_cache(cache):
            kinds = {type(c).__name__ for c in cache if not c.is_trimmable()}
            raise ValueError(
                f"Speculative decoding requires a trimmable prompt cache (got {kinds})."
            )
    return list(zip(models, caches, strict=True))


def _id(chosen: Any) -> int:
    """What a sampler chose."""
    return int(chosen.item())


def _at(fed: Fed, place: int) -> Any:
    """The model's own log-probabilities, [width], after one token of a run."""
    return log_softmax(fed.logits(place, place + 1))[0]
