"""Arrays with ``uniqueItems``: a state is the set of values used so far, which
only finitely many possible values allow."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from stcon.errors import LimitError
from stcon.syntax.json_schema.arrays import ArrayShape
from stcon.syntax.json_schema.constant_texts import constant_expr
from stcon.syntax.json_schema.constants import Constants
from stcon.syntax.json_schema.goals import Goal
from stcon.syntax.json_schema.plan import array_parts
from stcon.syntax.json_schema.values import identity
from stcon.syntax.rules import EMPTY, EPSILON, Expr, concat, union

if TYPE_CHECKING:
    from stcon.syntax.json_schema.writer import Writer

Used = frozenset[Hashable]


def distinct_items(shape: ArrayShape, writer: Writer, depth: int) -> tuple[bool, Expr]:
    """Whether there may be no item, and the texts of one item or more."""
    machine = _Machine(shape, writer, depth)
    tails = machine.tails()
    first = union(
        *(
            concat(machine.text(key), tails[frozenset({key})])
            for key in machine.values(0)
            if shape.most != 0
        )
    )
    return machine.is_complete(frozenset()), first


def is_finite(shape: ArrayShape, writer: Writer) -> bool:
    """Whether the items are from finitely many values."""
    shapes = writer.plan.shapes
    return all(
        isinstance(part, Constants)
        for wanted in array_parts(shape)
        for part in shapes[frozenset(wanted)]
    )


class _Machine:
    def __init__(self, shape: ArrayShape, writer: Writer, depth: int) -> None:
        self._shape = shape
        self._writer = writer
        self._depth = depth
        self._options = writer.plan.expander.options
        self._values: dict[Goal, dict[Hashable, Any]] = {}
        self._texts: dict[Hashable, Expr] = {}

    def values(self, index: int) -> dict[Hashable, Any]:
        """The values item ``index`` may have, by identity."""
        wanted = self._shape.at(index)
        if wanted not in self._values:
            self._values[wanted] = self._finite(wanted)
        return self._values[wanted]

    def _finite(self, wanted: Goal) -> dict[Hashable, Any]:
        found: dict[Hashable, Any] = {}
        for part in self._writer.plan.shapes[frozenset(wanted)]:
            assert isinstance(part, Constants)
            for value in part.values:
                found.setdefault(identity(value), value)
        for key, value in found.items():
            layout = self._writer.layout
            self._texts[key] = constant_expr(value, layout, self._depth + 1)
        return found

    def text(self, key: Hashable) -> Expr:
        """The text of a value."""
        return self._texts[key]

    def is_complete(self, used: Used) -> bool:
        """Whether the array may end."""
        if len(used) < self._shape.least:
            return False
        items = [self._value(key) for key in used]
        judge = self._writer.judge
        return all(fact.holds(items, judge) for fact in self._shape.contains)

    def _value(self, key: Hashable) -> Any:
        return next(v[key] for v in self._values.values() if key in v)

    def _moves(self, used: Used) -> list[Hashable]:
        if self._shape.most is not None and len(used) >= self._shape.most:
            return []
        return [key for key in self.values(len(used)) if key not in used]

    def tails(self) -> dict[Used, Expr]:
        """What may follow each set of used values, from a comma on."""
        moves = self._explore()
        comma = self._writer.layout.comma(self._depth)
        tails: dict[Used, Expr] = {}
        for used in sorted(moves, key=len, reverse=True):
            end = EPSILON if self.is_complete(used) else EMPTY
            more = [
                concat(comma, self.text(key), tails[used | {key}])
                for key in moves[used]
            ]
            tails[used] = union(end, *more)
        return tails

    def _explore(self) -> dict[Used, list[Hashable]]:
        found: dict[Used, list[Hashable]] = {frozenset(): self._moves(frozenset())}
        todo: list[Used] = [frozenset()]
        while todo:
            used = todo.pop()
            for key in found[used]:
                after = used | {key}
                if after in found:
                    continue
                self._options.work(1)
                if len(found) >= self._options.max_sets:
                    raise self._too_many()
                found[after] = self._moves(after)
                todo.append(after)
        return found

    def _too_many(self) -> LimitError:
        return self._options.too_many_sets(
            self._shape.unique[0].place,
            f"remembering which of {len(self.values(0))} values were written",
            "lower maxItems, or leave uniqueItems out",
        )
