"""Languages with conditions on what stands around a match.

An anchor or a word boundary matches nothing but asks something of its
neighbours.  A ``Guarded`` language is a union of cases (before, after): text,
which reads "the text matches if what stands before it is in ``before`` and what
stands after it in ``after``".  ``^`` is the empty text after EDGE, ``$`` the
empty text before EDGE, ``\\b`` two cases.  ``join`` meets a condition with the
neighbour it is about, or hands it on when that neighbour is empty; at the edges
of the whole text all conditions are decided.  So assertions are exact anywhere,
``(^a|b)*`` included.

Cost: cases stay few (4 with anchors, at most 49), and a part without assertions
is one case, never split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from stcon.syntax import rules as r
from stcon.syntax.charset import ANY, CharSet
from stcon.syntax.regex.sets import WORD
from stcon.syntax.rules import Chars, Concat, Expr, Literal, Repeat, Union

# What stands before or after: the edge of the whole text, or a character.
EDGE, IS_WORD, NO_WORD = 1, 2, 4
ALL = EDGE | IS_WORD | NO_WORD
ANYTHING = r.star(r.chars(ANY))

Key = tuple[int, int]


class Case(NamedTuple):
    """The texts of one case, and whether the empty one is among them."""

    text: Expr
    nullable: bool


@dataclass(frozen=True, slots=True)
class Guarded:
    """A language by condition: (before, after) to what they let match."""

    cases: dict[Key, Case]


NOTHING = Case(r.EPSILON, True)
START = Guarded({(EDGE, ALL): NOTHING})
END = Guarded({(ALL, EDGE): NOTHING})
BOUNDARY = Guarded(
    {(IS_WORD, EDGE | NO_WORD): NOTHING, (EDGE | NO_WORD, IS_WORD): NOTHING}
)
NO_BOUNDARY = Guarded(
    {(IS_WORD, IS_WORD): NOTHING, (EDGE | NO_WORD, EDGE | NO_WORD): NOTHING}
)


def lift(expr: Expr | Guarded) -> Guarded:
    """An expression as a language without conditions."""
    if isinstance(expr, Guarded):
        return expr
    return Guarded({(ALL, ALL): Case(expr, nullable(expr))})


def join(left: Guarded, right: Guarded) -> Guarded:
    """``left`` followed by ``right``."""
    found = []
    for (before, between), x in left.cases.items():
        for (needed, after), y in right.cases.items():
            for early, head in _met(x, before, needed, ends_in):
                for late, tail in _met(y, after, between, starts_in):
                    text = r.concat(head.text, tail.text)
                    both = head.nullable and tail.nullable
                    found.append(((early, late), Case(text, both)))
    return _merged(found)


def either(branches: Iterable[Guarded]) -> Guarded:
    """What any branch matches."""
    return _merged(pair for branch in branches for pair in branch.cases.items())


def repeated(item: Guarded, least: int, most: int | None) -> Guarded:
    """``item`` from ``least`` to ``most`` times, with anchors but no boundaries.

    Rounds that match nothing can be left out or added, so among those that match
    something only the first can stand at the start, and only the last at the end.
    An anchored round that may be empty makes all other rounds optional.
    """
    if most == 0:
        return lift(r.EPSILON)
    x, start, end, both = (
        item.cases.get(key, Case(r.EMPTY, False))
        for key in ((ALL, ALL), (EDGE, ALL), (ALL, EDGE), (EDGE, EDGE))
    )
    edge = start.nullable or end.nullable

    def others(taken: int, free: bool) -> Expr:
        fewest = 0 if free else max(0, least - taken)
        return r.repeat(x.text, fewest, None if most is None else most - taken)

    alone = both.text if least <= 1 or x.nullable or edge else r.EMPTY
    if both.nullable:
        alone = r.union(alone, r.EPSILON)
    first_and_last = r.concat(start.text, others(2, edge), end.text)
    one_is_both = start.nullable and end.nullable and first_and_last is not r.EMPTY
    texts = {
        (ALL, ALL): Case(others(0, False), least == 0 or x.nullable),
        (EDGE, ALL): Case(
            r.concat(start.text, others(1, start.nullable)), start.nullable
        ),
        (ALL, EDGE): Case(r.concat(others(1, end.nullable), end.text), end.nullable),
        (EDGE, EDGE): Case(
            r.union(first_and_last, alone), both.nullable or one_is_both
        ),
    }
    return _merged(texts.items())


def has_boundary(item: Guarded) -> bool:
    """Whether a condition is about characters, not only about the edges."""
    return any(mask not in (ALL, EDGE) for key in item.cases for mask in key)


def at_end(item: Guarded) -> Guarded:
    """``item`` where the whole text ends after it."""
    return _merged(
        ((before, ALL), case)
        for (before, after), case in item.cases.items()
        if after & EDGE
    )


def ends_in(expr: Expr, charset: CharSet) -> Expr:
    """The texts of ``expr`` whose last character is in ``charset``."""
    return _limited(expr, charset, r.concat(ANYTHING, r.chars(charset)))


def starts_in(expr: Expr, charset: CharSet) -> Expr:
    """The texts of ``expr`` whose first character is in ``charset``."""
    return _limited(expr, charset, r.concat(r.chars(charset), ANYTHING))


def nullable(expr: Expr) -> bool:
    """Whether ``expr`` (without calls) accepts the empty text; does not recurse."""
    known: dict[int, bool] = {}
    stack = [expr]
    while stack:
        node = stack[-1]
        parts = _parts(node)
        missing = [part for part in parts if id(part) not in known]
        if missing:
            stack += missing
            continue
        stack.pop()
        known[id(node)] = _is_nullable(node, [known[id(part)] for part in parts])
    return known[id(expr)]


def _is_nullable(node: Expr, parts: list[bool]) -> bool:
    if isinstance(node, (Concat, r.And)):
        return all(parts)
    if isinstance(node, Union):
        return any(parts)
    if isinstance(node, Repeat):
        return node.least == 0 or parts[0]
    if isinstance(node, r.Not):
        return not parts[0]
    return isinstance(node, Literal) and not node.data


def _parts(node: Expr) -> tuple[Expr, ...]:
    if isinstance(node, (Concat, Union, r.And)):
        return node.items
    return (node.item,) if isinstance(node, (Repeat, r.Not)) else ()


def _limited(expr: Expr, charset: CharSet, texts: Expr) -> Expr:
    """``expr`` and ``texts``, which is a character of ``charset`` and the rest."""
    if expr is ANYTHING:
        return texts
    if isinstance(expr, Chars):
        return r.chars(expr.charset & charset)
    return r.EMPTY if expr is r.EPSILON else r.intersect(expr, texts)


def _met(
    case: Case, outer: int, needed: int, limited: Callable[[Expr, CharSet], Expr]
) -> Iterator[tuple[int, Case]]:
    """The ways in which ``case``, with the condition ``outer`` on its far side,
    meets what its neighbour needs: by its own character next to the neighbour,
    or, being empty, by what stands beyond it."""
    if needed == ALL:
        yield outer, case
        return
    if needed & ~EDGE:
        yield outer, Case(limited(case.text, _charset(needed)), False)
    if case.nullable and outer & needed:
        yield outer & needed, NOTHING


def _charset(mask: int) -> CharSet:
    """The characters of a condition."""
    if mask & IS_WORD:
        return ANY if mask & NO_WORD else WORD
    return ~WORD


def _merged(found: Iterable[tuple[Key, Case]]) -> Guarded:
    """The cases of ``found`` that match something, one a condition."""
    texts: dict[Key, list[Case]] = {}
    for key, case in found:
        if case.text is not r.EMPTY:
            texts.setdefault(key, []).append(case)
    return Guarded(
        {
            key: Case(r.union(*(c.text for c in cases)), any(c.nullable for c in cases))
            for key, cases in texts.items()
        }
    )
