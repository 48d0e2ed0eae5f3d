"""The loop that feeds forced text in the run of a sampled token.

The prompt's run carries the forced beginning; every later run carries a sampled
token and all that the format forces after it.  Forced tokens are yielded like
sampled ones, with the model's own log-probabilities.  mlx is lazy, and so is the
loop: a run that nothing is sampled from is never computed unless somebody reads
its log-probabilities or goes on with its cache; so the last tokens of a finished
text cost none.
Source: few-paths paper, mechanism 2, Theorem 19, D.7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from stcon.constraints.budget import BudgetConstraint, Place
from stcon.constraints.constraint import Constraint, State
from stcon.decode.arguments import check_width
from stcon.decode.budgets import fitted, limited
from stcon.decode.forced import Plan, Planner
from stcon.decode.masks import Masks

Step = tuple[int, Any]
"""A token, and the log-probabilities at its place, mlx float [width]."""


class ConstrainedLoop:
    """One generation.

    ``run(tokens) -> logits``: feeds ids, an mlx array [n], to the model; logits
    are mlx float [n, width].  ``others``: the logits processors beside the
    constraint, applied before it to sampled places.
    """

    def __init__(
        self,
        constraint: Constraint,
        run: Callable[[Any], Any],
        sampler: Callable[[Any], Any],
        others: Sequence[Callable[[Any, Any], Any]] = (),
    ) -> None:
        self._constraint = constraint
        self._run = run
        self._sampler = sampler
        self._others = others
        self._masks = Masks(constraint)
        split = constraint.vocabulary.split
        unlimited = constraint
        if isinstance(constraint, BudgetConstraint):
            unlimited = constraint.inner
        self._planner = Planner(unlimited, split) if split is not None else None
        self._history: Any = None
        self.runs = 0
        """Model runs that something was sampled from."""

    def steps(self, prompt: Any, last: Any, max_tokens: int) -> Iterator[Step]:
        """Yields tokens until the text ends or there are ``max_tokens`` (-1: no
        bound).  ``prompt``: mlx [n], all of it that other processors shall see;
        ``last``: its end, at least one token, that the model has not been fed.

        The text is whole when it ends, whatever is sampled.  Raises LimitError when
        no valid output has so few tokens.
        """
        self._keep_within(max_tokens)
        self._history = prompt[: len(prompt) - len(last)]
        left = max_tokens if max_tokens >= 0 else 1 << 62
        plan = self._start(prompt)
        logits = self._fed(last, plan.tokens[:left])
        yield from self._forced(plan.tokens[:left], logits)
        left -= len(plan.tokens)
        state = plan.state
        while left > 0:
            token, logprobs = self._next(logits[-1:], state, plan.cover)
            plan = self._after(token, state)
            state, rest = plan.state, plan.tokens
            if plan.heals:
                token, rest = rest[0], rest[1:]
            yield token, logprobs
            left -= 1
            rest = rest[: max(left, 0)]
            logits = self._fed(_ids([token]), rest)
            if token in self._constraint.vocabulary.eos_ids:
                return
            yield from self._forced(rest, logits)
            left -= len(rest)

    def _keep_within(self, max_tokens: int) -> None:
        constraint = limited(self._constraint, max_tokens)
        if constraint is not self._constraint:
            self._constraint, self._masks = constraint, Masks(constraint)

    def _start(self, prompt: Any) -> Plan:
        constraint = self._constraint
        shown = prompt.tolist() if constraint.reads_prompt else ()
        start = constraint.start_after(shown)
        if self._planner is None:
            return Plan((), start)
        unlimited = start.inner if isinstance(start, Place) else start
        return fitted(constraint, self._planner.start(unlimited), start, start)

    def _after(self, token: int, before: State) -> Plan:
        """The plan after ``token`` is sampled in the state ``before``."""
        after = self._constraint.advance(before, token)
        if self._planner is None:
            return Plan((), after)
        unlimited = after.inner if isinstance(after, Place) else after
        plan = self._planner.after(token, unlimited)
        return fitted(self._constraint, plan, before, after)

    def _fed(self, tokens: Any, forced: Sequence[int]) -> Any:
        """Logits after the tokens and the forced ones, [n, width]; lazy."""
        import mlx.core as mx

        whole = mx.concatenate([tokens, _ids(forced)]) if forced else tokens
        if self._others:
            self._history = mx.concatenate([self._history, whole])
        return self._run(whole)

    def _forced(self, tokens: Sequence[int], logits: Any) -> Iterator[Step]:
        """The forced tokens, with what the model thought of them."""
        first = logits.shape[0] - len(tokens) - 1
        for place, token in enumerate(tokens, first):
            yield token, _log_softmax(logits[place])

    def _next(self, logits: Any, state: State, cover: int) -> Step:
        """The end, if that is all there is; else a sampled token."""
        import mlx.core as mx

        check_width(logits.shape[-1], self._constraint.vocabulary)
        for processor in self._others:
            logits = processor(self._history, logits)
        row = self._masks.row(state, logits.shape[-1], cover)
        logits = mx.where(row, logits, mx.array(-float("inf"), logits.dtype))
        logprobs = _log_softmax(logits)
        if self._is_over(state):
            return self._constraint.vocabulary.eos_ids[0], logprobs[0]
        self.runs += 1
        token = self._sampler(logprobs)
        mx.eval(token, logprobs)
        return int(token.item()), logprobs[0]

    def _is_over(self, state: State) -> bool:
        constraint = self._constraint
        return constraint.is_complete(state) and not constraint.live(state)


def _ids(tokens: Sequence[int]) -> Any:
    import mlx.core as mx

    return mx.array(list(tokens), mx.uint32)


def _log_softmax(logits: Any) -> Any:
    import mlx.core as mx

    return logits - mx.logsumexp(logits, axis=-1, keepdims=True)
