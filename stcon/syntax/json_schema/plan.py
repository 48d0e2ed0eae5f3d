"""All goals a document leads to: which can be reached, and in what order.

A worklist finds the goals; a fixpoint finds those some value reaches (a required
property that requires itself without end has none); a depth-first order says
which goals come after which, and where recursion closes.  Nothing here recurses
in Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stcon.syntax.json_schema.alternatives import Expander, Shape
from stcon.syntax.json_schema.arrays import ArrayShape
from stcon.syntax.json_schema.counted_items import item_goals
from stcon.syntax.json_schema.demands import demanded_goals
from stcon.syntax.json_schema.goals import Goal
from stcon.syntax.json_schema.object_shape import ObjectShape
from stcon.syntax.json_schema.presence import assigned, can_be, names_of

Key = frozenset[int]


class Plan:
    """``shapes`` of every goal, and whether it ``is_reachable``."""

    def __init__(self, root: Goal, expander: Expander) -> None:
        self.expander = expander
        self.shapes: dict[Key, list[Shape]] = {}
        self._reached: set[Key] = set()
        self._find(root)
        self._reach()

    def _find(self, root: Goal) -> None:
        todo = [root]
        while todo:
            wanted = todo.pop()
            if frozenset(wanted) not in self.shapes:
                self.expander.options.work(1)
                found = self.expander.all_shapes(wanted)
                self.shapes[frozenset(wanted)] = found
                todo.extend(part for shape in found for part in self.parts(shape))

    def parts(self, shape: Shape) -> Iterator[Goal]:
        """The goals of the values inside a shape."""
        if isinstance(shape, ArrayShape):
            self._check_contains(shape)
            yield from array_parts(shape)
        elif isinstance(shape, ObjectShape):
            yield from shape.names.values()
            yield from (free.value for free in shape.free)
            if shape.some:
                yield from demanded_goals(shape, self.expander)

    def _check_contains(self, shape: ArrayShape) -> None:
        """Nothing; raises LimitError where an item has too many ways to be
        contained or not."""
        options = self.expander.options
        if 1 << len(shape.contains) > options.max_sets:
            raise options.too_many_sets(
                shape.contains[-1].place,
                f"telling which of {len(shape.contains)} schemas an item satisfies",
                "use contains less often for one array",
            )

    def _reach(self) -> None:
        """Adds goals with a shape that needs reached goals only, until none is
        new; a goal is looked at again when one that it needs is reached."""
        needed_by: dict[Key, list[Key]] = {}
        for key, shapes in self.shapes.items():
            for wanted in {frozenset(p) for shape in shapes for p in needs(shape)}:
                needed_by.setdefault(wanted, []).append(key)
        todo = list(self.shapes)
        while todo:
            key = todo.pop()
            if key in self._reached:
                continue
            self.expander.options.work(1)
            if any(self.can_be(shape) for shape in self.shapes[key]):
                self._reached.add(key)
                todo += needed_by.get(key, ())

    def uses(self) -> Counter[Key]:
        """How many places there are for each goal."""
        found = (
            p for shapes in self.shapes.values() for s in shapes for p in self.parts(s)
        )
        return Counter(map(frozenset, found))

    def is_reachable(self, wanted: Goal) -> bool:
        """Whether some value reaches a goal."""
        return frozenset(wanted) in self._reached

    def can_be(self, shape: Shape) -> bool:
        """Whether some value has a shape."""
        if isinstance(shape, ArrayShape):
            return self._array_can_be(shape)
        if isinstance(shape, ObjectShape):
            if not all(self.is_reachable(shape.names[n]) for n in shape.required):
                return False
            return shape.presence is True or self._can_be_present(shape)
        return True

    def _can_be_present(self, shape: ObjectShape) -> bool:
        """Whether the keys that can be there suffice."""
        keys = shape.presence
        for name in dict.fromkeys(names_of(keys)):
            if not self.is_reachable(shape.names[name]):
                keys = assigned(keys, name, False)
        return can_be(keys, self.expander.spend)

    def _array_can_be(self, shape: ArrayShape) -> bool:
        return shape.least <= self.longest(shape, shape.least)

    def longest(self, shape: ArrayShape, enough: int) -> int:
        """The greatest number of items, as far as it matters: at least
        ``enough``, or exact."""
        for index, wanted in enumerate(shape.prefix[:enough]):
            if not self.is_reachable(wanted):
                return index
        if enough > len(shape.prefix) and not self.is_reachable(shape.rest):
            return len(shape.prefix)
        return enough


def needs(shape: Shape) -> Iterator[Goal]:
    """The goals on which it depends whether any value has a shape."""
    if isinstance(shape, ObjectShape):
        yield from (shape.names[name] for name in shape.required)
        yield from (shape.names[name] for name in names_of(shape.presence))
    elif isinstance(shape, ArrayShape) and shape.least:
        yield from shape.prefix[: shape.least]
        yield shape.rest


def array_parts(shape: ArrayShape) -> Iterator[Goal]:
    """The goals of the items."""
    length = len(shape.prefix) if shape.most is None else shape.most
    yield from shape.prefix[:length]
    if shape.most is None or shape.most > len(shape.prefix):
        yield shape.rest
    if shape.contains:
        # positions beyond this one have the goals of this one
        last = max(len(shape.prefix), *(c.start for c in shape.contains))
        for index in range(last + 1):
            yield from (wanted for wanted, _ in item_goals(shape, index))
