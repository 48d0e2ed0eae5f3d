"""Whether a pattern asks about what stands around its match."""

from __future__ import annotations

from stcon.syntax import rules as r
from stcon.syntax.regex.assertions import ALL, Guarded, lift, nullable
from stcon.syntax.regex.lookahead import Look, Term, follow
from stcon.syntax.rules import Expr

BEFORE, AFTER = "before", "after"


def looks_around(term: Term) -> str | None:
    """BEFORE, AFTER, or None for a pattern that does not.

    A look-ahead is about the rest of the match; where that may be empty it is about
    what comes after.
    """
    if isinstance(term, Expr):
        return None
    if _asks_after(term, True)[0]:
        return AFTER
    cases = follow(term, lift(r.EPSILON)).cases
    return BEFORE if any(before != ALL for before, _ in cases) else None


def _asks_after(term: Term, is_last: bool) -> tuple[bool, bool]:
    """Whether ``term`` asks about what comes after the match, if what follows it in
    the pattern may be empty (``is_last``), and whether it may be empty with that."""
    if isinstance(term, Expr):
        return False, is_last and nullable(term)
    if isinstance(term, Guarded):
        asks = is_last and any(after != ALL for _, after in term.cases)
        return asks, is_last and any(case.nullable for case in term.cases.values())
    if isinstance(term, Look):
        return is_last, is_last
    found = []
    for part in reversed(term.parts):
        found.append(_asks_after(part, is_last))
        if not term.is_choice:
            is_last = found[-1][1]
    asks = any(asks for asks, _ in found)
    return asks, any(may for _, may in found) if term.is_choice else is_last
