"""Rules to the minimal automaton of their language.

Intersections and complements become products of automata of their parts, each
compiled once; everything else goes through one NFA.  Calls are inlined, so the
rules must not recurse except as the last thing they do.
"""

from __future__ import annotations

from collections.abc import Mapping

from stcon.errors import LimitError
from stcon.machines.determinise import determinise, product
from stcon.machines.dfa import Dfa
from stcon.machines.limits import Limits, Meter
from stcon.machines.minimise import minimise
from stcon.machines.nfa import Builder
from stcon.syntax.named_rules import calls_in
from stcon.syntax.rules import (
    And,
    Expr,
    Not,
    Rules,
)

_MAX_NESTED_PRODUCTS = 200


def compile_rules(rules: Rules, limits: Limits | Meter | None = None) -> Dfa:
    """The minimal automaton of ``rules``, canonically numbered.

    Raises LimitError over ``limits`` and ValueError for rules that recurse.
    """
    if calls_itself(rules):
        raise ValueError("a rule calls itself: a finite automaton cannot follow")
    return Products(rules.rules, Meter.of(limits)).dfa(rules.rules[rules.start])


def compile_expr(expr: Expr, limits: Limits | Meter | None = None) -> Dfa:
    """The minimal automaton of one call-free expression."""
    return compile_rules(Rules.single(expr), limits)


class Products:
    """What one compile shares: the meter, and the automata of And and Not."""

    def __init__(self, rules: Mapping[str, Expr], meter: Meter) -> None:
        self._rules = rules
        self._meter = meter
        self._known: dict[int, Dfa] = {}
        self._depth = 0

    def dfa(self, expr: Expr) -> Dfa:
        """The minimal automaton of ``expr``."""
        nfa = Builder(self._rules, self.part, self._meter).build(expr)
        return minimise(determinise(nfa, self._meter), self._meter)

    def part(self, node: Expr) -> Dfa:
        """The minimal automaton of a node that is compiled on its own, once."""
        known = self._known.get(id(node))
        if known is None and not isinstance(node, (And, Not)):
            known = self._known[id(node)] = self.dfa(node)
        if known is None:
            items = node.items if isinstance(node, And) else (node,)
            self._depth += 1
            self._check_depth()
            parts = [self._signed(item) for item in items]
            self._depth -= 1
            known = minimise(product(parts, self._meter), self._meter)
            self._known[id(node)] = known
        return known

    def _signed(self, item: Expr) -> tuple[Dfa, bool]:
        if isinstance(item, Not):
            return self.dfa(item.item), False
        return self.dfa(item), True

    def _check_depth(self) -> None:
        if self._depth > _MAX_NESTED_PRODUCTS:
            raise LimitError(
                f"more than {_MAX_NESTED_PRODUCTS} intersections or complements "
                "inside one another",
                what="depth",
                limit=_MAX_NESTED_PRODUCTS,
            )


def calls_itself(rules: Rules, but: frozenset[str] = frozenset()) -> bool:
    """Whether a rule that the start reaches, without going through rules of
    ``but``, can reach itself."""
    if rules.start not in rules.rules:
        return False
    done = set(but)
    path = {rules.start: calls_in(rules.rules[rules.start])}
    while path:
        at = next(reversed(path))
        after = next(path[at], None)
        if after is None:
            done.add(at)
            del path[at]
        elif after in path:
            return True
        elif after not in done:
            path[after] = calls_in(rules.rules[after])
    return False
