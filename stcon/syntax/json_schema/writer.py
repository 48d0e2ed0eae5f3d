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
from stcon.syntax.charset import CharSet
from stcon.syntax.encode import encode, json_string
from stcon.syntax.json_schema.alternatives import Shape
from stcon.syntax.json_schema.array_texts import array_expr
from stcon.syntax.json_schema.arrays import ArrayShape
from stcon.syntax.json_schema.constant_texts import constants_expr
from stcon.syntax.json_schema.constants import Constants
from stcon.syntax.json_schema.document import Document
from stcon.syntax.json_schema.goals import ANYTHING, Goal
from stcon.syntax.json_schema.layout import Layout
from stcon.syntax.json_schema.number_texts import number_expr
from stcon.syntax.json_schema.numbers import NumberShape
from stcon.syntax.json_schema.object_texts import object_expr
from stcon.syntax.json_schema.plan import Key, Plan
from stcon.syntax.json_schema.sizes import Sizes
from stcon.syntax.json_schema.strings import ANY_TEXT, StringShape
from stcon.syntax.rules import (
    EMPTY,
    And,
    Call,
    Expr,
    Not,
    Rules,
    complement,
    concat,
    intersect,
    literal,
    union,
)

_QUOTE = literal('"')

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
    ) -> None:
        self.plan = plan
        self.judge = plan.expander.judge
        self.layout = layout
        self._document = document
        self._recursion = recursion
        self._encoder = partial(json_string, escapes=escapes)
        self._charsets: dict[CharSet, Expr] = {}
        self._done: dict[Node, Expr] = {}
        self._names: dict[Node, str] = {}
        self._rules: dict[str, Expr] = {}
        self._languages: dict[Expr, Expr] = {}
        self._insides: dict[Expr, Expr] = {}
        self._negated: dict[Expr, Expr] = {}
        self._sizes = Sizes()
        self._uses = plan.uses()
        self._any_text = encode(ANY_TEXT, self._char)
        self._letters: dict[str, Expr] = {}
        self.any_string = self.quoted(ANY_TEXT)

    def rules(self, root: Goal) -> Rules:
        """The rules of all values that reach ``root``."""
        self._write(root)
        expr = self._done[frozenset(root), 0]
        if isinstance(expr, Call):
            return Rules(self._rules, expr.name)
        return Rules({"start": expr, **self._rules}, "start")

    def value(self, wanted: Goal, depth: int) -> Expr:
        """The expression of a part, at the depth of its container."""
        if not self.plan.is_reachable(wanted):
            return EMPTY
        node = self._node(wanted, depth + 1)
        if node in self._names:
            return Call(self._names[node])
        return self._done[node]

    def _node(self, wanted: Goal, depth: int) -> Node:
        return frozenset(wanted), depth if self.layout.has_depth else 0

    def _write(self, root: Goal) -> None:
        path = {self._node(root, 0): self._opened(root, 0)}
        while path:
            node = next(reversed(path))
            at = path[node]
            part = next(at.parts, None)
            if part is None:
                self._close(node, at)
                del path[node]
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
        expr = union(*(self._shape(shape, depth) for shape in shapes))
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

    def _shape(self, shape: Shape, depth: int) -> Expr:
        if isinstance(shape, Constants):
            return constants_expr(shape.values, self.layout, depth)
        if isinstance(shape, StringShape):
            language = shape.language
            return self.any_string if language is None else self.quoted(language)
        if isinstance(shape, NumberShape):
            return number_expr(shape)
        if isinstance(shape, ArrayShape):
            return array_expr(shape, self, depth)
        return object_expr(shape, self, depth)

    def all_keys_but(self, names: Collection[str]) -> Expr:
        """Every JSON string, in quotes, that is none of ``names``."""
        if not names:
            return self.any_string
        words = [concat(*map(self._letter, name)) for name in names]
        others = intersect(self._any_text, complement(union(*words)))
        return concat(_QUOTE, others, _QUOTE)

    def _letter(self, char: str) -> Expr:
        known = self._letters.get(char)
        if known is None:
            known = self._letters[char] = self._char(CharSet.of(char))
        return known

    def quoted(self, language: Expr) -> Expr:
        """The JSON strings whose decoded text is in ``language``."""
        known = self._languages.get(language)
        if known is None:
            inside = self._inside(language)
            known = self._languages[language] = concat(_QUOTE, inside, _QUOTE)
        return known

    def _inside(self, language: Expr) -> Expr:
        """``language`` encoded; a part of a conjunction, negated or not, once."""
        if isinstance(language, And):
            return intersect(*map(self._inside, language.items))
        if isinstance(language, Not):
            return self._all_but(language.item)
        known = self._insides.get(language)
        if known is None:
            known = self._insides[language] = encode(language, self._char)
        return known

    def _all_but(self, language: Expr) -> Expr:
        """The encoded texts outside ``language``: the node of a negation is new
        each time, what it negates is not."""
        known = self._negated.get(language)
        if known is None:
            text, denied = self._inside(ANY_TEXT), self._inside(language)
            known = self._negated[language] = intersect(text, complement(denied))
        return known

    def _char(self, charset: CharSet) -> Expr:
        known = self._charsets.get(charset)
        if known is None:
            known = self._charsets[charset] = self._encoder(charset)
        return known

    def _recurs(self, node: Node, wanted: Goal, path: list[_Open]) -> None:
        """Names the rule of a goal that contains itself, or refuses it."""
        if not self._recursion:
            raise self._too_deep(wanted, path)
        if node not in self._names:
            self._names[node] = self._new_name(wanted)

    def _new_name(self, wanted: Goal) -> str:
        """A name no rule has yet, after the schema it is from."""
        name = "value" if wanted == ANYTHING else self._pointer(wanted)
        taken = set(self._names.values())
        number, unique = 1, name
        while unique in taken:
            number += 1
            unique = f"{name} ({number})"
        return unique

    def _pointer(self, wanted: Goal) -> str:
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
            pointer=self._pointer(wanted),
            keyword=keyword,
            hint=hint,
        )
