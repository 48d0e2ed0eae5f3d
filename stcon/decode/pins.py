"""Forced text where a loop feeds one token a run: each forced token is pinned.

In a batch, and wherever mlx-lm is not patched, forced text cannot ride in the run of
another token.  But it can be kept in the tokenizer's own split: what the plan of a
sampled token says comes next is the only token allowed, one run after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stcon.constraints.constraint import Constraint, State
from stcon.decode.budgets import plan_after, plan_start
from stcon.decode.forced import Plan
from stcon.machines.dfa import DEAD


@dataclass(frozen=True, slots=True)
class Pin:
    """A place in an output.  ``base``: the state before the plan's tokens, of which
    ``written`` are written."""

    base: State
    plan: Plan
    written: int = 0

    @property
    def token(self) -> int | None:
        """The token that must come next; None where the model decides."""
        tokens = self.plan.tokens
        return tokens[self.written] if self.written < len(tokens) else None


class Pins:
    """A constraint whose states are Pins; see Constraint for what they mean.

    ``width``: how many logits the model has, None before that is known.
    """

    def __init__(self, constraint: Constraint) -> None:
        self.inner = constraint
        self.vocabulary = constraint.vocabulary
        self.reads_prompt = constraint.reads_prompt
        self.width: int | None = None

    @property
    def start(self) -> Pin:
        """The place before the first token."""
        return self._begun(self.inner.start)

    def start_after(self, prompt: Sequence[int]) -> Pin:
        """The place before the first token of an output after ``prompt``."""
        return self._begun(self.inner.start_after(prompt))

    def _begun(self, state: State) -> Pin:
        return Pin(state, plan_start(self.inner, state).within(self.width, state))

    def within(self, pin: Pin, width: int) -> Pin:
        """``pin``, before anything is written, for a model of ``width`` logits."""
        self.width = width
        return Pin(pin.base, pin.plan.within(width, pin.base))

    def state(self, pin: Pin) -> State:
        """The constraint's state at a place."""
        if pin.token is None:
            return pin.plan.state
        return _read(self.inner, pin.base, pin.plan.tokens[: pin.written])

    def advance(self, pin: Pin, token: int) -> Pin | int:
        """The place after ``token``; ``DEAD`` when the format does not allow it.

        A history that was split in another way is followed as well.
        """
        if token == pin.token:
            return Pin(pin.base, pin.plan, pin.written + 1)
        before = self.state(pin)
        state = DEAD if before == DEAD else self.inner.advance(before, token)
        if state == DEAD:
            return DEAD
        plan = plan_after(self.inner, token, before, state).within(self.width, state)
        return Pin(state, Plan((), state) if plan.heals else plan)

    def settled(self, pin: Pin, token: int) -> tuple[int, Pin | int]:
        """The token that is fed for a sampled one, and the place after it: forced
        text may change the split of the token before it."""
        if pin.token is not None:
            return token, self.advance(pin, token)
        before = pin.plan.state
        state = self.inner.advance(before, token)
        if state == DEAD:
            return token, DEAD
        plan = plan_after(self.inner, token, before, state).within(self.width, state)
        if plan.heals:
            return plan.tokens[0], Pin(before, plan, 1)
        return token, Pin(state, plan)

    def is_complete(self, pin: Pin) -> bool:
        """Whether the output may end at a place."""
        return pin.token is None and self.inner.is_complete(pin.plan.state)

    def live(self, pin: Pin) -> tuple[int, ...]:
        """The bytes that may come next, ascending."""
        return self.inner.live(self.state(pin))

    def shortest(self, pin: Pin) -> bytes:
        """A shortest text that completes the output from a place."""
        return self.inner.shortest(self.state(pin))

    def is_over(self, pin: Pin) -> bool:
        """Whether only the end of the text may come."""
        return self.is_complete(pin) and not self.inner.live(pin.plan.state)


def _read(constraint: Constraint, state: State, tokens: Sequence[int]) -> State:
    """The state after tokens of a plan; ``DEAD`` where a limit that is not exact
    knows only the end of the plan to fit."""
    for token in tokens:
        state = constraint.advance(state, token)
        if state == DEAD:
            break
    return state
