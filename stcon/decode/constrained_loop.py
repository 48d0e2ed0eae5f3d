"""The loop that feeds forced text in the run of a sampled token.

The prompt's run carries the forced beginning; every later run carries a sampled
token and all that the format forces after it.  Forced tokens are yielded like
sampled ones, with the model's own log-probabilities.  mlx is lazy, and so is the
loop: a run that nothing is sampled from is never computed unless somebody reads
its log-probabilities or goes on with its cache; so the last tokens of a finished
text cost none.

Where that is worth it a run is enqueued before its token is known, as mlx-lm does, so
that the host works out masks while the model runs; if forced text follows, it is undone
(``rollback.py``) and done again with that text.
Source: few-paths paper, mechanism 2, Theorem 19, D.7.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, NamedTuple

from stcon.constraints.constraint import Constraint
from stcon.decode.ahead import Forecast
from stcon.decode.budgets import limited
from stcon.decode.choice import Chooser, Processor, log_softmax
from stcon.decode.feed import Runner
from stcon.decode.forced import Forced, Plan
from stcon.decode.head import Fed
from stcon.decode.rollback import Undo

Step = tuple[int, Any]
"""A token, ``Forced`` if the format decided it, and the log-probabilities at its
place, mlx float [width]."""


class _Ahead(NamedTuple):
    """A run enqueued before its token was known; what takes it back; and the history
    before it."""

    fed: Fed
    undo: Undo
    history: Any


class _Span(NamedTuple):
    """A run with forced tokens: what takes it back, and what was fed before them."""

    undo: Undo
    tokens: Any
    forced: Sequence[int]


class ConstrainedLoop:
    """One generation.

    ``runner``: feeds the model.  ``sampler(logprobs) -> ids``: mlx float [1, width]
    to [1].  ``others``: the logits processors beside the constraint, applied before
    it to sampled places.  ``pipelined``: whether runs may be enqueued ahead.
    """

    def __init__(
        self,
        constraint: Constraint,
        runner: Runner,
        sampler: Callable[[Any], Any],
        others: Sequence[Processor] = (),
        pipelined: bool = False,
    ) -> None:
        self._constraint = constraint
        self._runner = runner
        self._sampler = sampler
        self._others = others
        self._forecast = Forecast() if pipelined else None
        self._history: Any = None
        self._left = 0
        self._span: _Span | None = None
        self._given = 0

    def begin(self, prompt: Any, max_tokens: int) -> None:
        """Nothing; what comes after ``prompt``, mlx ids [n], is planned, in at most
        ``max_tokens`` tokens (-1: no bound).

        Raises LimitError when no valid output has so few.
        """
        constraint = limited(self._constraint, max_tokens)
        self._chooser = Chooser(constraint, self._others, self._runner.width)
        self._left = max_tokens if max_tokens >= 0 else 1 << 62
        self._prompt = prompt
        shown = prompt.tolist() if constraint.reads_prompt else ()
        self._plan = self._chooser.start(shown)

    def steps(self, last: Any) -> Generator[Step, None, None]:
        """Yields tokens until the text ends or there are as many as may be.

        ``last``: the end of the prompt, at least one token, that the model has not
        been fed.  The text is whole when it ends, whatever is sampled.  When it is left
        earlier, a cache that is kept holds what was yielded, as far as it can take back
        forced tokens that were not.
        """
        try:
            yield from self._steps(last)
        finally:
            self._take_back()
            self._runner.settle()

    def _steps(self, last: Any) -> Iterator[Step]:
        self._history = self._prompt[: len(self._prompt) - len(last)]
        plan = self._plan
        forced = plan.tokens[: self._left]
        fed = self._feed(last, forced)
        yield from self._forced(forced, fed)
        while self._left > 0:
            if self._chooser.is_over(plan.state):
                yield self._end(fed, plan)
                return
            token, logprobs, ahead = self._sampled(fed, plan)
            before, plan = plan, self._chooser.after(token, plan.state)
            self._learn(before, plan)
            if plan.heals:
                token, forced = plan.tokens[0], plan.tokens[1 : self._left]
            else:
                forced = plan.tokens[: self._left - 1]
            self._left -= 1
            fed = self._go_on(ahead, token, forced, plan)
            yield token, logprobs
            if self._chooser.is_end(token):
                return
            yield from self._forced(forced, fed)

    def _feed(self, tokens: Any, forced: Sequence[int]) -> Fed:
        """What the model makes of the tokens and the forced ones; lazy."""
        import mlx.core as mx

        whole = mx.concatenate([tokens, _ids(forced)]) if forced else tokens
        if self._others:
            self._history = mx.concatenate([self._history, whole])
        self._span, self._given = None, 0
        if forced and self._runner.is_kept:
            undo = self._runner.checkpoint(len(whole))
            self._span = None if undo is None else _Span(undo, tokens, forced)
        return self._runner.run(whole)

    def _take_back(self) -> None:
        """Nothing; forced tokens that were fed and not yielded leave the cache."""
        if self._span is None or self._given == len(self._span.forced):
            return
        undo, tokens, forced = self._span
        undo()
        self._feed(tokens, forced[: self._given])
        self._span = None

    def _logprobs(self, fed: Fed, plan: Plan) -> Any:
        """What a sampler is given after a run, [1, width]."""
        return self._chooser.logprobs(fed, len(fed) - 1, plan, self._history)

    def _sampled(self, fed: Fed, plan: Plan) -> tuple[int, Any, _Ahead | None]:
        """A token, its log-probabilities and the run after it, if it is enqueued."""
        import mlx.core as mx

        logprobs = self._logprobs(fed, plan)
        chosen = self._sampler(logprobs)
        mx.async_eval(chosen, logprobs)  # type: ignore[no-untyped-call]
        ahead = self._enqueued(chosen, plan)
        return int(chosen.item()), logprobs[0], ahead

    def _enqueued(self, chosen: Any, plan: Plan) -> _Ahead | None:
        """The run after a token that is not known yet, where that is worth it."""
        if self._forecast is None or self._left <= 1:
            return None
        if not self._forecast.is_worth(self._chooser.masks.key(plan.state)):
            return None
        undo = self._runner.checkpoint(1)
        if undo is None:
            return None
        history = self._history
        fed = self._feed(chosen.reshape(-1), ())
        self._runner.start(fed)
        return _Ahead(fed, undo, history)

    def _learn(self, before: Plan, after: Plan) -> None:
        """Nothing; whether a run ahead would have been wasted is noted."""
        if self._forecast is not None:
            key = self._chooser.masks.key(before.state)
            self._forecast.note(key, bool(after.tokens))

    def _go_on(
        self, ahead: _Ahead | None, token: int, forced: Sequence[int], plan: Plan
    ) -> Fed:
        """The run of a token and what is forced after it."""
        if ahead is not None:
            if not plan.tokens:
                return ahead.fed
            ahead.undo()
            self._history = ahead.history
        fed = self._feed(_ids([token]), forced)
        is_last = self._chooser.is_end(token)
        is_last |= self._left <= len(forced) or self._chooser.is_over(plan.state)
        if not is_last:
            self._runner.start(fed)
        return fed

    def _forced(self, tokens: Sequence[int], fed: Fed) -> Iterator[Step]:
        """The forced tokens, with what the model thought of them."""
        self._left -= len(tokens)
        first = len(fed) - len(tokens) - 1
        for place, token in enumerate(tokens, first):
            logits = fed.logits(place, place + 1)
            self._given += 1
            yield Forced(token), log_softmax(logits)[0]

    def _end(self, fed: Fed, plan: Plan) -> Step:
        """The end of the text, when that is all there is."""
        logprobs = self._logprobs(fed, plan)
        end = self._chooser.end
        self._feed(_ids([end]), ())  # so that the cache holds all that was yielded
        return Forced(end), logprobs[0]


def _ids(tokens: Sequence[int]) -> Any:
    import mlx.core as mx

    return mx.array(list(tokens), mx.uint32)
