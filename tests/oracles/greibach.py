"""Displacements as the paper on token-space compression computes them, slowly.

A grammar is put into Greibach normal form, every production a letter and then names, so
that a stack of names is all there is; a token's displacement is every pair of names it
takes off and names it leaves (Algorithm 1), where what may lie below a name is known
(stack adjacency, appendix D).  Nothing is shared with the machines.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tests.oracles.earley import Earley, Productions, Symbol, _nullable, _productive

Names = tuple[str, ...]
Normal = dict[str, set[tuple[bytes, Names]]]
Displacement = frozenset[tuple[Names, Names]]


def normal_form(productions: Productions) -> Normal:
    """Productions (letter, names) of the same texts, but for the empty one: each name
    is read from its left corner (Rosenkrantz 1967)."""
    plain = _without_units(_without_empty(_productive(productions)))
    rules = {name: [_as_names(body) for body in plain[name]] for name in plain}
    letters = {_letter(s): s for s in _letters(plain)}
    found: Normal = {name: {(s, ())} for name, s in letters.items()}
    corners = {goal: _corners(goal, plain) for goal in plain}
    for goal, corner in corners.items():
        found[goal] = {
            (body[0], rest + tail)
            for name in corner
            for body, rest in rules[name]
            if isinstance(body[0], bytes)
            for tail in _tails(goal, name)
        }
    return _productive_normal(_with_rests(found, corners, rules))


def _as_names(body: tuple[Symbol, ...]) -> tuple[tuple[Symbol, ...], Names]:
    """The first symbol alone, and the others as names."""
    return body[:1], tuple(s if isinstance(s, str) else _letter(s) for s in body[1:])


def _letter(symbol: bytes) -> str:
    return f"<{symbol.decode()}>"


def _letters(productions: Productions) -> set[bytes]:
    bodies = itertools.chain.from_iterable(productions.values())
    return {s for body in bodies for s in body if isinstance(s, bytes)}


def _tails(goal: str, name: str) -> list[Names]:
    """What comes after ``name`` has been read from the left corner of ``goal``."""
    rest = (f"{goal}/{name}",)
    return [rest, ()] if goal == name else [rest]


def _corners(goal: str, productions: Productions) -> set[str]:
    found, todo = {goal}, [goal]
    while todo:
        firsts = {body[0] for body in productions[todo.pop()] if body}
        new = {s for s in firsts if isinstance(s, str)} - found
        found |= new
        todo += new
    return found


def _with_rests(
    found: Normal,
    corners: dict[str, set[str]],
    rules: dict[str, list[tuple[tuple[Symbol, ...], Names]]],
) -> Normal:
    """Adds the names of rests, whose own first names are read out."""
    whole = {name: set(made) for name, made in found.items()}
    for goal, corner in corners.items():
        for done in corner:
            whole[f"{goal}/{done}"] = {
                (letter, names + rest[1:] + tail)
                for name in corner
                for first, rest in rules[name]
                if first[0] == done
                for letter, names in found[rest[0]]
                for tail in _tails(goal, name)
            }
    return whole


def _productive_normal(normal: Normal) -> Normal:
    as_bodies: Productions = {
        name: [(letter, *names) for letter, names in sorted(made)]
        for name, made in normal.items()
    }
    kept = _productive(as_bodies)
    return {
        name: {(b[0], tuple(map(str, b[1:]))) for b in bodies}  # type: ignore[misc]
        for name, bodies in kept.items()
        if bodies
    }


def _without_empty(productions: Productions) -> Productions:
    nullable = _nullable(productions)

    def ways(body: tuple[Symbol, ...]) -> Iterator[tuple[Symbol, ...]]:
        options = [[(s,), ()] if s in nullable else [(s,)] for s in body]
        for chosen in itertools.product(*options):
            yield tuple(itertools.chain.from_iterable(chosen))

    return {
        name: sorted({way for body in bodies for way in ways(body) if way}, key=repr)
        for name, bodies in productions.items()
    }


def _without_units(productions: Productions) -> Productions:
    found: Productions = {}
    for name in productions:
        reached, todo = {name}, [name]
        while todo:
            for body in productions[todo.pop()]:
                if len(body) == 1 and isinstance(body[0], str):
                    todo += {body[0]} - reached
                    reached.add(body[0])
        bodies = {
            body
            for other in reached
            for body in productions[other]
            if len(body) != 1 or isinstance(body[0], bytes)
        }
        found[name] = sorted(bodies, key=repr)
    return found


def adjacency(normal: Normal) -> set[tuple[str, str]]:
    """Pairs (a name, one that may be popped right after it)."""
    last: dict[str, set[str]] = {name: set() for name in normal}
    for name, made in normal.items():
        last[name] |= {names[-1] for _, names in made if names}
    ends = {
        name for name, made in normal.items() if any(not names for _, names in made)
    }
    found = set()
    for made in normal.values():
        for _, names in made:
            for before, after in itertools.pairwise(names):
                reached, todo = {before}, [before]
                while todo:
                    new = last[todo.pop()] - reached
                    reached |= new
                    todo += new
                found |= {(name, after) for name in reached & ends}
    return found


def displacement(
    normal: Normal, adjacent: set[tuple[str, str]], token: bytes
) -> Displacement:
    """All pairs (names taken off, names left on top)."""
    todo: set[tuple[Names, Names, str]] = {((), (), "")}
    for at in range(len(token)):
        letter, after = token[at : at + 1], set()
        for popped, stack, before in todo:
            if stack:
                tops = [(popped, stack[0], stack[1:])]
            else:
                tops = [
                    ((*popped, name), name, ())
                    for name in normal
                    if not popped or (before, name) in adjacent
                ]
            for taken, top, below in tops:
                for first, names in normal.get(top, ()):
                    if first == letter:
                        after.add((taken, names + below, top))
        todo = after
    return frozenset((popped, stack) for popped, stack, _ in todo)


def texts_agree(productions: Productions, normal: Normal, texts: list[bytes]) -> bool:
    """Whether the normal form has the same texts of ``texts``, the empty one apart."""
    bodies: Productions = {
        name: [(letter, *names) for letter, names in sorted(made)]
        for name, made in normal.items()
    }
    one = Earley(productions, "root")
    two = Earley({"root": [], **bodies}, "root")
    return all(one.accepts(text) == two.accepts(text) for text in texts if text)
