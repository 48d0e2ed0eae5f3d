"""What one pattern may cost to parse: bounds on all that can grow.

Together they keep the worst patterns known to about 2 s and 200 MB.  Ordinary
patterns spend a thousandth.  The size of the automaton is bounded elsewhere, in
``machines``: ``(a{1000}){1000}`` costs nothing here.
"""

from __future__ import annotations

from typing import NamedTuple

from stcon.errors import LimitError


class Bound(NamedTuple):
    """A limit, in which unit ``LimitError.what`` counts it, and what to say."""

    limit: int
    what: str
    name: str
    hint: str


_AROUND = "put alternatives in a group, with the anchors around it"
CHARACTERS = Bound(
    100_000, "bytes", "characters in a pattern", "give a list of texts as choices"
)
# 0.1 kB and 2 µs each; a class with \p{L} has 680
RANGES = Bound(500_000, "bytes", "ranges in character classes", "use fewer classes")
# a group inside a group is copied, 0.1 to 1 µs an item
COPIES = Bound(2_000_000, "seconds", "items in groups in groups", "drop some groups")
ANCHORS = Bound(2_000, "states", "anchors", _AROUND)
BOUNDARIES = Bound(500, "states", "word boundaries", "use fewer of them")
LOOKS = Bound(200, "states", "look-aheads", "use fewer of them")
ROUNDS = Bound(10**9 - 1, "states", "rounds of one repetition", "repeat less often")


class Budget:
    """Counts what one pattern spends; made new for each."""

    def __init__(self) -> None:
        self._spent: dict[Bound, int] = {}

    def spend(self, bound: Bound, amount: int = 1) -> None:
        """Nothing; raises LimitError when that is too much in all."""
        spent = self._spent[bound] = self._spent.get(bound, 0) + amount
        if spent > bound.limit:
            raise LimitError(
                f"more than {bound.limit:,} {bound.name}",
                what=bound.what,
                limit=bound.limit,
                hint=bound.hint,
            )
