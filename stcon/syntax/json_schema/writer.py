"""Shapes to rules: the bytes of the values of every goal.

Goals are written children first, so a goal finds the expressions of its parts
ready.  A goal that is met while it is being written recurses: it becomes a rule
and its uses become calls.  So does a large one that is used in several places,
for machines that keep calls.  Every other goal is one expression, shared by
all its uses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial

from stcon.errors import SchemaError
from stcon.syntax.encode import json_string
from stcon.syntax.json_schema.alternatives import Shape
from stcon.syntax.json_schema.array_texts import array_expr
from stcon.syntax.json_schema.arrays import ArrayShape
from stcon.syntax.json_schema.constant_texts import constants_expr, key_expr
from stcon.syntax.json_schema.constants import Constants
from stcon.syntax.json_schema.document import Document
from stcon.syntax.json_schema.goals import ANYTHING, Goal
from stcon.syntax.json_schema.layout import Layout
from stcon.syntax.json_schema.number_texts import INTEGER, NUMBER, number_expr
from stcon.syntax.json_schema.numbers import NumberShape
from stcon.syntax.json_schema.object_texts import object_expr
from stcon.syntax.json_schema.other_keys import Known, can_be_plain, other_keys
from stcon.syntax.json_schema.plan import Key, Plan
from stcon.syntax.json_schema.standard import (
    CHARACTERS,
    INTEGER_CALL,
    NUMBER_CALL,
    STRING,
    VALUE,
    without,
)
from stcon.syntax.json_schema.strings import ANY_TEXT, StringShape, text_expr
from stcon.syntax.json_schema.texts import Texts
from stcon.syntax.renamed import with_literals
from stcon.syntax.rules import (
    EMPTY,
    TICK,
    Call,
    Expr,
    Rules,
    complement,
    concat,
    counted,
    literal,
    union,
)
from stcon.syntax.sizes import Sizes

_QUOTE = literal('"')

_NUMBERS: dict[Expr, Expr] = {INTEGER: INTEGER_CALL, NUMBER: NUMBER_CALL}

# A call costs a machine about as much as an expression of this size.
_MAX_INLINED = 60

Node = tuple[Key, int]


@dataclass(slots=True)
class _Open:
    """A goal being written: itself, its depth, the parts still to be written."""

    goal: Goal
    depth: int
    parts: Iterator[Goal]


class Writer:
    """Writes the goals of one plan in one layout."""

    def __init__(
        self,
        plan: Plan,
        document: Document,
        layout: Layout,
        escapes: str,
        recursion: bool,
        standard: Rules,
        marks: tuple[str, ...] = (),
    ) -> None:
        self.plan = plan
        self.judge = plan.expander.judge
        self.layout = layout
        self._document = document
        self._recursion = recursion
        self._done: dict[Node, Expr] = {}
        self._names: dict[Node, str] = {}
        self._rules: dict[str, Expr] = {}
        self._other_keys: dict[frozenset[str], Call] = {}
        self._key_parts: Known = {}
        self._sizes = Sizes()
        self._uses = plan.uses()
        self._escapes = escapes
        encoder = partial(json_string, escapes=escapes)
        self._texts = Texts(encoder)
        self._ticked = Texts(lambda charset: concat(TICK, encoder(charset)))
        self.standard = standard
        self._marks = marks

    def rules(self, root: Goal) -> Rules:
        """The rules of all values that reach ``root``."""
        standard = self.standard
        if root == ANYTHING and self._has_values:
            return Rules(standard.rules, VALUE.name, standard)
        self.write(root)
        expr = self._done[frozenset(root), 0]
        rules = {**self._rules, **standard.rules}
        keys = self.ambiguous
        if isinstance(expr, Call):
            return Rules(rules, expr.name, standard, (), keys)
        return Rules({"start": expr, **rules}, "start", standard, (), keys)

    @property
    def ambiguous(self) -> frozenset[str]:
        """See Rules."""
        return frozenset(call.name for call in self._other_keys.values())

    @property
    def own_rules(self) -> dict[str, Expr]:
        """The rules that what was written calls, but for the standard ones."""
        return self._rules

    @property
    def _has_values(self) -> bool:
        """Whether there are standard rules for values of any kind."""
        return VALUE.name in self.standard.rules

    def value(self, wanted: Goal, depth: int) -> Expr:
        """The expression of a part, at the depth of its container."""
        if not self.plan.is_reachable(wanted):
            return EMPTY
        if wanted == ANYTHING and self._has_values:
            return VALUE
        node = self._node(wanted, depth + 1)
        if node in self._names:
            return Call(self._names[node])
        return self._done[node]

    def named_pair(self, name: str, value: Expr) -> Expr:
        """A key, the colon and a value."""
        return concat(self._spelt(key_expr(name)), self.layout.colon, value)

    def _spelt(self, text: Expr) -> Expr:
        """Literals of JSON, with the marks in them as JSON may also spell them."""

        def escaped(data: bytes) -> bytes:
            for mark in self._marks:
                spelt = f"\\u{ord(mark[0]):04x}{mark[1:]}"
                data = data.replace(mark.encode(), spelt.encode())
            return data

        return with_literals(text, escaped) if self._marks else text

    def _node(self, wanted: Goal, depth: int) -> Node:
        return frozenset(wanted), depth if self.layout.has_depth else 0

    def write(self, root: Goal) -> None:
        """Nothing; the parts of ``root`` have their expressions."""
        path = {self._node(root, 0): self._opened(root, 0)}
        while path:
            node = next(reversed(path))
            at = path[node]
            part = next(at.parts, None)
            if part is None:
                self._close(node, at)
                del path[node]
                continue
            if part == ANYTHING and self._has_values:
                continue
            below = self._node(part, at.depth + 1)
            if below in path:
                self._recurs(below, part, list(path.values()))
            elif below not in self._done and self.plan.is_reachable(part):
                if self.layout.has_depth and any(key == below[0] for key, _ in path):
                    raise self._too_deep(part, list(path.values()))
                path[below] = self._opened(part, at.depth + 1)

    def _opened(self, wanted: Goal, depth: int) -> _Open:
        shapes = self.plan.shapes[frozenset(wanted)]
        parts = (part for shape in shapes for part in self.plan.parts(shape))
        return _Open(wanted, depth, parts)

    def _close(self, node: Node, at: _Open) -> None:
        shapes = self.plan.shapes[node[0]]
        depth = at.depth if self.layout.has_depth else 0
        expr = union(*(self.shape(shape, depth) for shape in shapes))
        if self._is_worth_a_rule(node, expr):
            self._names.setdefault(node, self._new_name(at.goal))
        if node in self._names:
            self._rules[self._names[node]] = expr
            expr = Call(self._names[node])
        self._done[node] = expr

    def _is_worth_a_rule(self, node: Node, expr: Expr) -> bool:
        if not self._recursion or self.layout.has_depth or self._uses[node[0]] < 2:
            return False
        return self._sizes.of(expr) > _MAX_INLINED

    def shape(self, shape: Shape, depth: int) -> Expr:
        """The texts of the values of ``shape``, whose parts have been written."""
        if isinstance(shape, Constants):
            return self._spelt(constants_expr(shape.values, self.layout, depth))
        if isinstance(shape, StringShape):
            return self.quoted(shape.language, shape.least, shape.most)
        if isinstance(shape, NumberShape):
            return _NUMBERS.get(expr := number_expr(shape), expr)
        if isinstance(shape, ArrayShape):
            return array_expr(shape, self, depth)
        return object_expr(shape, self, depth)

    def all_keys_but(self, names: Collection[str]) -> Expr:
        """Every JSON string, in quotes, that is none of ``names``; a rule of its
        own, since it may follow each key of its object."""
        if not names:
            return STRING
        wanted = frozenset(names)
        known = self._other_keys.get(wanted)
        if known is None:
            name = f"other keys ({len(self._other_keys) + 1})"
            self._rules[name] = self._keys_but(names)
            known = self._other_keys[wanted] = Call(name)
        return known

    def _keys_but(self, names: Collection[str]) -> Expr:
        meets_mark = any(mark[0] in name for mark in self._marks for name in names)
        if can_be_plain(names, self._escapes) and not meets_mark:
            return other_keys(names, self._key_parts)
        return self.quoted(complement(union(*map(text_expr, names))))

    def quoted(
        self, language: Expr | None, least: int = 0, most: int | None = None
    ) -> Expr:
        """The JSON strings whose decoded text is in ``language`` (None: any) and
        has ``least`` to ``most`` characters."""
        if least == 0 and most is None:
            if language is None or language is ANY_TEXT:
                return STRING
            text = without(self._texts.of(language), self._marks)
            return concat(_QUOTE, text, _QUOTE)
        if language is None or language is ANY_TEXT:
            return concat(_QUOTE, counted(CHARACTERS, least, most))
        inside = without(self._ticked.of(language), self._marks, TICK)
        return concat(_QUOTE, counted(inside, least, most, _QUOTE))

    def _recurs(self, node: Node, wanted: Goal, path: list[_Open]) -> None:
        """Names the rule of a goal that contains itself, or refuses it."""
        if not self._recursion:
            raise self._too_deep(wanted, path)
        if node not in self._names:
            self._names[node] = self._new_name(wanted)

    def _new_name(self, wanted: Goal) -> str:
        """A name no rule has yet, after the schema it is from."""
        name = "value" if wanted == ANYTHING else self.pointer_of(wanted)
        taken = {*self._names.values(), *self.standard.rules, "start"}
        number, unique = 1, name
        while unique in taken:
            number += 1
            unique = f"{name} ({number})"
        return unique

    def pointer_of(self, wanted: Goal) -> str:
        """Where the first schema of a goal stands."""
        return self._document.schemas[abs(wanted[0])].pointer if wanted else "#"

    def _too_deep(self, wanted: Goal, path: list[_Open]) -> SchemaError:
        above = [at.goal for at in path if at.goal != ANYTHING]
        if wanted == ANYTHING:
            message, keyword = "a value that may be anything", "additionalProperties"
            hint = "say what it is (additionalProperties: false closes an object)"
            wanted = above[-1] if above else wanted
        else:
            message, keyword = "a schema that contains itself", "$ref"
            hint = "write its levels out"
        if self.layout.has_depth:
            reason = "which the pretty layout cannot indent"
            hint += ", or choose another whitespace"
        else:
            reason = "and recursion is not wanted"
        return SchemaError(
            f"{message} nests without bound, {reason}",
            pointer=self.pointer_of(wanted),
            keyword=keyword,
            hint=hint,
        )
