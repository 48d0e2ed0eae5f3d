"""From what a model made of a token to the log-probabilities a sampler is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stcon.constraints.constraint import Constraint, State
from stcon.decode.arguments import check_width
from stcon.decode.budgets import plan_after, plan_start
from stcon.decode.forced import Plan
from stcon.decode.head import Fed
from stcon.decode.masks import Masks
from stcon.decode.refused import refuse
from stcon.machines.dfa import DEAD

Processor = Callable[[Any, Any], Any]


class Chooser:
    """Masks of one constraint, applied after other logits processors.

    ``width``: how many logits the model has, None before that is known.
    """

    def __init__(
        self,
        constraint: Constraint,
        others: Sequence[Processor],
        width: int | None = None,
    ) -> None:
        self.constraint = constraint
        self._width = width
        self.masks = Masks(constraint)
        self._others = others

    def logprobs(self, fed: Fed, place: int, plan: Plan, history: Any) -> Any:
        """Log-probabilities, [1, width], behind the token ``place`` of a run, in the
        state of ``plan``.  ``history``: mlx ids [n] for other processors."""
        return log_softmax(self._masked(fed, place, plan, history))

    def _masked(self, fed: Fed, place: int, plan: Plan, history: Any) -> Any:
        import mlx.core as mx

        self._width = width = fed.width
        check_width(width, self.constraint.vocabulary)
        if fed.is_sparse and not self._others:
            few = self.masks.few(plan.state, width, plan.cover)
            if few is not None:
                return fed.logits_of(place, few)
        logits = fed.logits(place, place + 1)
        for processor in self._others:
            logits = processor(history, logits)
        row = self.masks.row(plan.state, width, plan.cover)
        return mx.where(row, logits, mx.array(-float("inf"), logits.dtype))

    def start(self, prompt: Sequence[int]) -> Plan:
        """The plan before the first token of an output after ``prompt``."""
        state = self.constraint.start_after(prompt)
        return plan_start(self.constraint, state).within(self._width, state)

    def after(self, token: int, before: State) -> Plan:
        """The plan after ``token`` is sampled in the state ``before``.

        Raises HistoryError when the format does not allow it there.
        """
        after = self.constraint.advance(before, token)
        if after == DEAD:
            refuse(self.constraint, before, token, None)
        plan = plan_after(self.constraint, token, before, after)
        return plan.within(self._width, after)

    def is_over(self, state: State) -> bool:
        """Whether only the end of the text may come."""
        constraint = self.constraint
        return constraint.is_complete(state) and not constraint.live(state)

    def is_end(self, token: int) -> bool:
        """Whether a token ends the text."""
        return token in self.constraint.vocabulary.eos_ids

    @property
    def end(self) -> int:
        """The token that ends the text."""
        return self.constraint.vocabulary.eos_ids[0]


def log_softmax(logits: Any) -> Any:
    """Logits, normalised."""
    import mlx.core as mx

    return logits - mx.logsumexp(logits, axis=-1, keepdims=True)
