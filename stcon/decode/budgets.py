"""The limit of a call on its tokens, kept by what the loop forces as well.

Forced text is fed in the tokenizer's own split, which may take more tokens than
need be.  As long as enough are left that changes nothing; else the plan is followed
as far as the output can still be finished, and what comes then is sampled among the
tokens that leave enough.
"""

from __future__ import annotations

from dataclasses import replace

from stcon.constraints.budget import BudgetConstraint, Place
from stcon.constraints.constraint import Constraint, State
from stcon.decode.forced import Plan, planner_of
from stcon.machines.dfa import DEAD


def limited(constraint: Constraint, max_tokens: int) -> Constraint:
    """``constraint`` with a limit of ``max_tokens``, or with its own if that is
    lower; below 0 there is none.

    Raises LimitError when no valid output is known to be so short.
    """
    if max_tokens < 0:
        return constraint
    if isinstance(constraint, BudgetConstraint):
        if constraint.max_tokens <= max_tokens:
            return constraint
        constraint = constraint.inner
    return constraint.within(max_tokens)


def plan_start(constraint: Constraint, start: State) -> Plan:
    """What is forced before the first token, in the state ``start``."""
    planner = planner_of(constraint)
    if planner is None:
        return Plan((), start)
    return fitted(constraint, planner.start(_unlimited(start)), start, start)


def plan_after(constraint: Constraint, token: int, before: State, after: State) -> Plan:
    """What is forced after ``token``, sampled in ``before``, which leads to
    ``after``."""
    planner = planner_of(constraint)
    if planner is None:
        return Plan((), after)
    return fitted(constraint, planner.after(token, _unlimited(after)), before, after)


def _unlimited(state: State) -> State:
    return state.inner if isinstance(state, Place) else state


def fitted(constraint: Constraint, plan: Plan, before: State, after: State) -> Plan:
    """``plan`` as far as the tokens left allow, with a state of ``constraint``.

    ``before``, ``after``: the states around the sampled token; the state of ``plan``
    is one without a limit.
    """
    if not isinstance(constraint, BudgetConstraint):
        return plan
    place = before if plan.heals else after
    whole = Place(plan.state, place.left - len(plan.tokens))
    if constraint.fits(whole):
        return replace(plan, state=whole, cover=_cover(constraint, plan, whole))
    fed = 0
    for token in plan.tokens:
        following = constraint.advance(place, token)
        if following == DEAD:
            break
        place = following
        fed += 1
    if fed == len(plan.tokens):
        return replace(plan, state=place, cover=_cover(constraint, plan, place))
    return Plan((), after) if plan.heals else Plan(plan.tokens[:fed], place)


def _cover(constraint: BudgetConstraint, plan: Plan, place: Place) -> int:
    """The cover of a plan, if tokens of such a length are surely allowed."""
    return plan.cover if plan.cover and constraint.is_roomy(place) else 0
