"""Goals: what must hold of one value, as a set of schema literals.

Property k of an object that must satisfy A and B has the goal {A's schema for
k, B's schema for k}.  There are finitely many literals, hence finitely many
goals, so recursion needs no care here: it shows as a goal met again.
"""

from __future__ import annotations

from collections.abc import Iterable

from stcon.syntax.json_schema.document import FALSE_LITERAL, TRUE_LITERAL

Goal = tuple[int, ...]

ANYTHING: Goal = ()
NOTHING: Goal = (FALSE_LITERAL,)


def goal(literals: Iterable[int]) -> Goal:
    """The goal of ``literals``, in the order they are first named."""
    kept = dict.fromkeys(literals)
    if FALSE_LITERAL in kept:
        return NOTHING
    kept.pop(TRUE_LITERAL, None)
    if any(-literal in kept for literal in kept):
        return NOTHING
    return tuple(kept)
