"""Slow, obvious twins of the machines: sets of strings and table filling."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from stcon.machines.dfa import DEAD, Dfa
from stcon.syntax import rules as r


def strings(alphabet: bytes, longest: int) -> Iterator[bytes]:
    """Every string over ``alphabet`` up to length ``longest``."""
    for length in range(longest + 1):
        for letters in itertools.product(alphabet, repeat=length):
            yield bytes(letters)


def language(expr: r.Expr, alphabet: bytes, longest: int) -> frozenset[bytes]:
    """The strings of ``expr`` over ``alphabet`` up to length ``longest``."""
    world = frozenset(strings(alphabet, longest))

    def join(left: frozenset[bytes], right: frozenset[bytes]) -> frozenset[bytes]:
        return frozenset(a + b for a in left for b in right if len(a + b) <= longest)

    def of(node: r.Expr) -> frozenset[bytes]:
        match node:
            case r.Empty():
                return frozenset()
            case r.Literal(data):
                return frozenset([data])
            case r.ByteSet(mask):
                return frozenset(bytes([b]) for b in alphabet if mask >> b & 1)
            case r.Concat(items):
                out = frozenset([b""])
                for item in items:
                    out = join(out, of(item))
                return out
            case r.Union(items):
                return frozenset().union(*map(of, items))
            case r.Repeat(item, least, most):
                return repeated(of(item), least, most)
            case r.And(items):
                return frozenset.intersection(*map(of, items))
            case r.Not(item):
                return world - of(item)
        raise TypeError(node)

    def repeated(
        once: frozenset[bytes], least: int, most: int | None
    ) -> frozenset[bytes]:
        out = frozenset([b""])
        for _ in range(least):
            out = join(out, once)
        # more rounds than ``longest`` add nothing new
        rounds = longest + 1 if most is None else min(most - least, longest + 1)
        total = out
        for _ in range(rounds):
            out = join(out, once)
            total |= out
        return total

    return of(expr) & world


def count_residuals(dfa: Dfa) -> int:
    """How many states a minimal automaton has (dead one included), by filling
    the table of distinguishable pairs of reachable states."""
    reachable = {dfa.start, DEAD}
    todo = list(reachable)
    while todo:
        for to in set(dfa.next[todo.pop()].tolist()) - reachable:
            reachable.add(to)
            todo.append(to)
    states = sorted(reachable)
    apart = {(p, q) for p in states for q in states if dfa.accepts[p] != dfa.accepts[q]}
    while True:
        more = {
            (p, q)
            for p in states
            for q in states
            if (p, q) not in apart
            and any(
                (a, b) in apart
                for a, b in zip(dfa.next[p].tolist(), dfa.next[q].tolist(), strict=True)
            )
        }
        if not more:
            break
        apart |= more
    heads = [p for p in states if all((p, q) in apart for q in states if q < p)]
    return len(heads)
