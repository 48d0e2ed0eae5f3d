"""Terms: what a part of a pattern becomes, look-aheads included.

A part without assertions is an expression, one with anchors or boundaries a
``Guarded`` language.  A look-ahead asks something of all that follows, up to the
end of the text, so it waits in a ``Tree`` until ``follow`` comes from the right
with the rest: ``x(?=y)z`` is x followed by (z and y-then-anything), and
``x(?!y)z`` x followed by (z and not y-then-anything).

Cost: each look-ahead is one product of automata, of its own and of the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from stcon.syntax import rules as r
from stcon.syntax.charset import CharSet
from stcon.syntax.regex.assertions import (
    ALL,
    ANYTHING,
    EDGE,
    IS_WORD,
    NO_WORD,
    Case,
    Guarded,
    Key,
    at_end,
    either,
    join,
    lift,
)
from stcon.syntax.rules import Chars, Concat, Expr, Union


@dataclass(frozen=True, slots=True)
class Look:
    """A look-ahead: ``ahead`` must begin what follows, or must not."""

    ahead: Term
    wanted: bool


@dataclass(frozen=True, slots=True)
class Tree:
    """A sequence, or a choice, of terms of which some hold look-aheads."""

    parts: tuple[Term, ...]
    is_choice: bool


Term: TypeAlias = "Expr | Guarded | Look | Tree"


def sequence(parts: Sequence[Term]) -> Term:
    """The parts one after the other."""
    runs: list[Term] = []
    plain: list[Expr] = []
    for part in parts:
        if isinstance(part, Expr):
            plain.append(part)
            continue
        runs += [r.concat(*plain), part] if plain else [part]
        plain = []
    if plain or not runs:
        runs.append(r.concat(*plain))
    # from the right: the sequence made so far stays one node and is not copied
    have = runs[-1]
    for run in reversed(runs[:-1]):
        if isinstance(run, (Look, Tree)) or isinstance(have, (Look, Tree)):
            return Tree(tuple(runs), is_choice=False)
        have = join(lift(run), lift(have))
    return have


def choice(branches: Sequence[Term]) -> Term:
    """What any branch matches."""
    if len(branches) == 1:
        return branches[0]
    plain: list[Expr] = []
    guarded: list[Guarded] = []
    for branch in branches:
        if isinstance(branch, (Look, Tree)):
            return Tree(tuple(branches), is_choice=True)
        if isinstance(branch, Expr):
            plain.append(branch)
        else:
            guarded.append(branch)
    if not guarded:
        return _union(plain)
    return either([*guarded, *([lift(_union(plain))] if plain else [])])


def size(term: Term) -> int:
    """How many items a longer sequence or choice copies from ``term``."""
    if isinstance(term, (Concat, Union)):
        return len(term.items)
    if isinstance(term, Guarded):
        return sum(size(case.text) for case in term.cases.values())
    return 1


def depth(term: Term) -> int:
    """How many terms with look-aheads lie inside one another in ``term``."""
    deepest, level = 0, [term]
    while level:
        inner: list[Term] = []
        for part in level:
            if isinstance(part, Look):
                inner.append(part.ahead)
            elif isinstance(part, Tree):
                inner += part.parts
        deepest, level = deepest + 1, inner
    return deepest


def whole(term: Term, rest: Expr) -> Expr:
    """The texts ``rest`` + ``term`` + ``rest``, all assertions decided."""
    if isinstance(term, Expr):
        return r.concat(rest, term, rest)
    around = lift(rest)
    have = follow(rest, follow(term, around))
    return r.union(*(c.text for (before, _), c in have.cases.items() if before & EDGE))


def follow(term: Term, rest: Guarded) -> Guarded:
    """``term`` and then ``rest``, which reaches to the end of the text."""
    if isinstance(term, Tree) and term.is_choice:
        return either([follow(part, rest) for part in term.parts])
    if isinstance(term, Tree):
        for part in reversed(term.parts):
            rest = follow(part, rest)
        return rest
    if isinstance(term, Look):
        return _look(follow(term.ahead, lift(ANYTHING)), term.wanted, rest)
    return at_end(join(lift(term), rest))


def _look(ahead: Guarded, wanted: bool, rest: Guarded) -> Guarded:
    """The texts of ``rest`` that are, or are not, in ``ahead``.

    Each thing that may stand before the texts is a case of its own, unless no
    condition tells it from another.
    """
    alike: dict[tuple[Key, ...], int] = {}
    keys = [*ahead.cases, *rest.cases]
    for mask in (EDGE, IS_WORD, NO_WORD):
        met = tuple(key for key in keys if key[0] & mask)
        alike[met] = alike.get(met, 0) | mask
    cases: dict[Key, Case] = {}
    for mask in alike.values():
        these, those = _after(rest, mask), _after(ahead, mask)
        if wanted:
            text = r.intersect(these.text, those.text)
        elif those.text is r.EMPTY:
            text = these.text
        else:
            text = r.intersect(these.text, r.complement(those.text))
        empty = these.nullable and those.nullable == wanted
        cases[mask, ALL] = Case(text, empty)
    return Guarded(
        {key: case for key, case in cases.items() if case.text is not r.EMPTY}
    )


def _after(item: Guarded, mask: int) -> Case:
    """What ``item`` matches where what stands before is in ``mask``."""
    cases = [case for (before, _), case in item.cases.items() if before & mask]
    text = r.union(*(case.text for case in cases))
    return Case(text, any(case.nullable for case in cases))


def _union(branches: Sequence[Expr]) -> Expr:
    """The union; all character sets, also of inner unions, are merged at once
    (one by one, 30,000 of them take minutes)."""
    items: list[Expr] = []
    for branch in branches:
        items += branch.items if isinstance(branch, Union) else (branch,)
    ranges = [pair for i in items if isinstance(i, Chars) for pair in i.charset.ranges]
    others = [item for item in items if not isinstance(item, Chars)]
    return r.union(*others, r.chars(CharSet.of(*ranges)))
