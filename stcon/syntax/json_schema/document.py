"""The schema document: numbered subschemas, their places, and references.

A subschema gets its number when some keyword first speaks of it; +n and -n are
the literals of ``formula.py``.  Number 1 is the schema ``true``, so -1 is
``false``.  A subschema that only refers to another is that other, and equal
subschemas (``{"type": "string"}`` ninety times) share one number.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from stcon.errors import SchemaError
from stcon.syntax.json_schema.contents import Contents, annotation_places
from stcon.syntax.json_schema.drafts import NONE, UNKNOWN, draft_of
from stcon.syntax.json_schema.formula import TRUE, All, AnyOf, Fact, Formula, OneOf
from stcon.syntax.json_schema.names import ANNOTATIONS, CONTAINERS
from stcon.syntax.json_schema.pointers import Path, inner_step, to_fragment
from stcon.syntax.json_schema.references import NO_SCOPE, Index, Scope
from stcon.syntax.json_schema.report import Report
from stcon.syntax.json_schema.values import KINDS
from stcon.syntax.rules import Expr

TRUE_LITERAL, FALSE_LITERAL = 1, -1

Parts = dict[str, tuple[Formula, ...]]


@dataclass(slots=True, eq=False)
class Schema:
    """One subschema, as it is met in one ``scope`` (of dynamic anchors); ``parts``
    (per kind, what it demands) is filled on demand."""

    number: int
    path: Path
    value: dict[str, Any]
    scope: Scope = NO_SCOPE
    parts: Parts | None = None
    has_no_loop: bool = False

    @property
    def pointer(self) -> str:
        """``#/...``"""
        return to_fragment(self.path)


@dataclass(slots=True)
class Document:
    """A checked schema, and everything that is found out about it.

    ``build`` turns a subschema into its parts (``keywords``), so that this
    file need not know the keywords; ``allowed`` names what may stay unenforced.
    """

    root: dict[str, Any] | bool
    build: Callable[[Schema, Document], Parts]
    allowed: frozenset[str]
    report: Report
    index: Index
    schemas: list[Schema] = field(default_factory=list)
    languages: dict[str, Expr] = field(default_factory=dict)
    _numbers: dict[object, int] = field(default_factory=dict)
    _contents: Contents = field(default_factory=Contents)

    @staticmethod
    def of(
        root: dict[str, Any] | bool,
        build: Callable[[Schema, Document], Parts],
        allowed: frozenset[str],
    ) -> Document:
        """The document of a checked schema.  Raises SchemaError when it is written
        for a metaschema that is not known."""
        draft = draft_of(root.get("$schema")) if isinstance(root, dict) else NONE
        index = Index.of(root, max(draft, NONE))
        document = Document(root, build, allowed, Report(), index)
        no_parts: Parts = {kind: () for kind in KINDS}
        document.schemas += [Schema(n, (), {}, NO_SCOPE, no_parts) for n in (0, 1)]
        if isinstance(root, dict) and draft == UNKNOWN:
            place = Place(document, Schema(0, (), root), "$schema")
            place.need_leave(
                "it names none of the drafts 4 to 2020-12, so the keywords may mean "
                "something else"
            )
        return document

    def literal(self, path: Path, value: Any, scope: Scope = NO_SCOPE) -> int:
        """The literal of the subschema ``value`` at ``path``, which was come to
        with ``scope``."""
        if isinstance(value, bool):
            return TRUE_LITERAL if value else FALSE_LITERAL
        if not isinstance(value, dict):
            raise SchemaError(
                f"a schema is an object or a boolean, not {value!r:.60}",
                pointer=to_fragment(path),
            )
        scope = self.index.entered(path, scope)
        key = (path, scope)
        if key not in self._numbers:
            self._numbers[key] = self._resolved(path, value, scope)
        return self._numbers[key]

    def _resolved(self, path: Path, value: dict[str, Any], scope: Scope) -> int:
        """The literal of an object schema, through references that are all
        there is to it."""
        chain = [path]
        while self.index.is_alias(value):
            self.report.saw("$ref", (*path, "$ref"))
            for name in value.keys() - CONTAINERS - {"$ref"}:
                self.report.passed_over((*path, name))
            path, target = self.index.resolve("$ref", value["$ref"], path, scope)
            if isinstance(target, bool):
                return TRUE_LITERAL if target else FALSE_LITERAL
            value = target
            scope = self.index.entered(path, scope)
            if path in chain:
                raise _loop([to_fragment(p) for p in [*chain, path]])
            chain.append(path)
        key = self._content(value) or (path, scope)
        if key not in self._numbers:
            self._numbers[key] = self._new(path, value, scope)
        elif key != (path, scope):
            original = self.schemas[self._numbers[key]].path
            self.report.repeated(path, original)
            for place in annotation_places(path, value):
                self.report.passed_over(place)
        return self._numbers[key]

    def _content(self, value: dict[str, Any]) -> Hashable:
        """A key that equal subschemas share; where places matter, flat ones."""
        if len(self.index.bases) > 1 or self.index.dynamic:
            return _flat_content(value)
        return ("content", self._contents.of(value))

    def _new(self, path: Path, value: dict[str, Any], scope: Scope = NO_SCOPE) -> int:
        self.schemas.append(Schema(len(self.schemas), path, value, scope))
        return len(self.schemas) - 1

    def synthetic(self, path: Path, value: dict[str, Any], key: object) -> int:
        """The literal of a schema that stands for the value of the keyword at
        ``path``; the same ``key`` gives the same literal."""
        if key not in self._numbers:
            made = (*path, inner_step(len(self.schemas)))
            self._numbers[key] = self._new(made, value)
        return self._numbers[key]

    def any_of(self, literals: frozenset[int], at: Place) -> int:
        """The literal of a schema that holds where one of ``literals`` does."""
        if len(literals) == 1:
            return next(iter(literals))
        if literals not in self._numbers:
            number = self._new(at.schema.path, {})
            formula = AnyOf(tuple(sorted(literals)))
            self.schemas[number].parts = {kind: (formula,) for kind in KINDS}
            self._numbers[literals] = number
        return self._numbers[literals]

    def parts(self, number: int, kind: str) -> tuple[Formula, ...]:
        """What schema ``number`` demands of values of ``kind``."""
        schema = self.schemas[number]
        if schema.parts is None:
            schema.parts = self.build(schema, self)
        if not schema.has_no_loop:
            self._refuse_loop(schema)
        return schema.parts[kind]

    def _refuse_loop(self, start: Schema) -> None:
        """Nothing; raises SchemaError when ``start`` applies itself to the same
        value, which says nothing at all."""
        path = {start.number: self._same_value(start)}
        while path:
            number = next(reversed(path))
            after = next(path[number], None)
            if after is None:
                self.schemas[number].has_no_loop = True
                del path[number]
            elif after in path:
                looping = [*list(path)[list(path).index(after) :], after]
                raise _loop([self.schemas[n].pointer for n in looping])
            elif not self.schemas[after].has_no_loop:
                path[after] = self._same_value(self.schemas[after])

    def _same_value(self, schema: Schema) -> Iterator[int]:
        """The numbers of the schemas that ``schema`` applies to its own value."""
        if schema.parts is None:
            schema.parts = self.build(schema, self)
        seen: dict[int, None] = {}
        todo: list[Formula] = [f for part in schema.parts.values() for f in part]
        while todo:
            formula = todo.pop()
            if isinstance(formula, int):
                seen[abs(formula)] = None
            elif isinstance(formula, (All, AnyOf, OneOf)):
                todo.extend(formula.items)
        return iter(seen)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A keyword of a subschema: where its value stands and what is beside it."""

    document: Document
    schema: Schema
    keyword: str

    @property
    def path(self) -> Path:
        """The path of the keyword."""
        return (*self.schema.path, self.keyword)

    @property
    def pointer(self) -> str:
        """``#/.../keyword``"""
        return to_fragment(self.path)

    @property
    def draft(self) -> int:
        """The draft ``$schema`` names (4, 6, 7, 2019, 2020; 0 when it is absent)."""
        return self.document.index.draft

    def literal(self, value: Any, *steps: str | int) -> int:
        """The literal of the subschema ``value``, ``steps`` below the keyword."""
        path = (*self.schema.path, self.keyword, *steps)
        return self.document.literal(path, value, self.schema.scope)

    def referred(self, reference: Any) -> int:
        """The literal of the schema that ``reference``, the keyword's value, names."""
        self.check(isinstance(reference, str), "a reference", reference)
        path, scope = self.schema.path, self.schema.scope
        index = self.document.index
        path, target = index.resolve(self.keyword, reference, path, scope)
        return self.document.literal(path, target, scope)

    def beside(self, keyword: str) -> Place:
        """The place of another keyword of the same subschema."""
        return Place(self.document, self.schema, keyword)

    def error(self, message: str, hint: str = "") -> SchemaError:
        """A SchemaError at this place."""
        return SchemaError(
            message, pointer=self.pointer, keyword=self.keyword, hint=hint
        )

    def check(self, condition: bool, wanted: str, value: Any) -> None:
        """Nothing; raises SchemaError unless ``condition``."""
        if not condition:
            raise self.error(f"{self.keyword} must be {wanted}, not {value!r:.60}")

    def refused(self, reason: str, name: str = "") -> Formula:
        """The formula of something that cannot be enforced: an error where it
        matters, nothing when ``allow_unenforced`` names it."""
        if {self.keyword, name} & self.document.allowed:
            self.document.report.left_out(self.path)
            return TRUE
        return Unenforceable(self, reason, name or self.keyword)

    def need_leave(self, reason: str) -> None:
        """Nothing, when ``allow_unenforced`` names the keyword; else raises what
        ``refused`` would lead to."""
        formula = self.refused(reason)
        if isinstance(formula, Unenforceable):
            raise formula.error()


@dataclass(frozen=True, slots=True, eq=False)
class Unenforceable(Fact):
    """Something that a machine cannot hold; an error as soon as it matters."""

    reason: str
    name: str

    def negated(self) -> Formula:
        return self

    def holds(self, value: Any, judge: object) -> bool:
        raise self.error()

    def error(self) -> SchemaError:
        """The refusal."""
        return self.place.error(
            f"{self.name} is not enforced: {self.reason}",
            hint=f"change it, or pass allow_unenforced={{{self.name!r}}} and check "
            "the output yourself",
        )


def _flat_content(value: dict[str, Any]) -> Hashable:
    """A key that equal flat subschemas share, whatever their annotations; None
    for those with subschemas or references."""
    key: list[object] = []
    for name, item in value.items():
        if name in ANNOTATIONS:
            continue
        if isinstance(item, list) and all(isinstance(part, str) for part in item):
            item = tuple(item)
        if isinstance(item, (dict, list)) or name.startswith("$"):
            return None
        key.append((name, type(item), item))
    return ("flat", *key)


def _loop(pointers: list[str]) -> SchemaError:
    return SchemaError(
        f"the schema applies itself to the same value: {' -> '.join(pointers)}",
        pointer=pointers[0],
        keyword="$ref",
        hint="let the reference pass through a property or an item",
    )
