"""JSON Schema to rules: the bytes of the JSON texts that a schema accepts.

    load, document, references   the schema, checked; its places, numbers, $ref
    keywords/, formula           one function a keyword; what a schema demands
    contents                     equal subschemas are one
    goals, alternatives, branches   what one value must satisfy, and its shapes
    signatures, tags, presence   choices that constants, or keys there, decide
    strings, numbers, arrays, objects   facts and shapes, a file a kind
    plan, writer, *_texts        reachable goals; shapes to expressions
    *_keys, *_items              objects and arrays that remember what was written

A goal is a set of subschemas on one value; finitely many goals make recursion
safe, and a conjunction of any keywords exact.  docs/json-schema.md has the table
of keywords.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from stcon.errors import LimitError, SchemaError
from stcon.syntax.json_schema.alternatives import Expander
from stcon.syntax.json_schema.document import Document
from stcon.syntax.json_schema.goals import Goal, goal
from stcon.syntax.json_schema.keywords import build, check_names, is_known
from stcon.syntax.json_schema.keywords.ways import WAYS
from stcon.syntax.json_schema.layout import layout
from stcon.syntax.json_schema.load import load
from stcon.syntax.json_schema.near_misses import warn_caller
from stcon.syntax.json_schema.options import MAX_SETS, Options, unmetered
from stcon.syntax.json_schema.plan import Plan
from stcon.syntax.json_schema.standard import standard_rules
from stcon.syntax.json_schema.unsatisfiable import no_value
from stcon.syntax.json_schema.writer import Writer
from stcon.syntax.rules import EMPTY, Rules

__all__ = ["CompiledSchema", "OpenSchema", "compile_schema", "open_schema"]


@dataclass(frozen=True, slots=True)
class CompiledSchema:
    """``rules``: the bytes of the valid texts.  ``report``: lists of what was
    ``enforced`` (keywords, and ``how``), ``ignored`` (pointers of annotations and
    unknown names) and left ``unenforced`` (pointers, as allowed)."""

    rules: Rules
    report: dict[str, Any]


def compile_schema(schema: object, **options: Any) -> CompiledSchema:
    """The rules of the JSON texts that ``schema`` accepts, and a report.

    ``options``, errors and cost as of ``open_schema``.
    """
    opened = open_schema(schema, **options)
    rules = opened.writer.rules(opened.root)
    if rules.rules[rules.start] is EMPTY:
        raise opened.no_value()
    return CompiledSchema(rules, opened.document.report.as_dict(WAYS))


@dataclass(frozen=True, slots=True)
class OpenSchema:
    """A schema that is about to be written: its ``writer``, and the goal of the whole,
    which some value reaches as far as is known."""

    writer: Writer
    document: Document
    root: Goal

    def no_value(self) -> SchemaError:
        """That no value satisfies it."""
        return no_value(self.writer.plan, self.document, self.root)


def open_schema(
    schema: object,
    *,
    whitespace: str = "compact",
    escapes: str = "usual",
    key_order: str = "declared",
    allow_unenforced: Collection[str] = frozenset(),
    max_sets: int = MAX_SETS,
    max_blanks: int = 16,
    indent: int = 2,
    recursion: bool = True,
    marks: tuple[str, ...] = (),
    work: Callable[[int], None] = unmetered,
) -> OpenSchema:
    """``schema`` with all that is found out before it is written.

    ``schema``: a dict, JSON text, a bool, or what ``annotations.schema_of`` takes
    (pydantic models, dataclasses, TypedDicts, Literals, Enums, annotations).
    ``whitespace``: ``"compact"``, ``"spaced"``, ``"bounded"`` (``max_blanks`` in a
    run), ``"free"`` or ``"pretty"`` (``indent``).  ``escapes``: spellings of characters
    in strings, see ``encode.json_string``.  ``key_order``: ``"declared"``
    or ``"any"``.  ``max_sets``: states of one object or array that remembers sets
    of keys or items.
    ``allow_unenforced``: keywords, or ``"format:name"``, that may be left out.
    ``recursion``: whether rules may call themselves; if not, values that nest
    without bound are refused.  ``marks``: texts that strings hold only with escapes.
    ``work`` is told of steps of about 10 µs before they
    are taken, and may raise.

    Raises SchemaError for schemas that are broken, empty or not enforceable,
    LimitError for those that combine in too many ways.  Cost: about 0.1 ms a
    field.
    """
    check_names(allow_unenforced)
    options = Options.of(key_order, max_sets, work)
    spaces = layout(whitespace, max_blanks, indent)
    document = Document.of(load(_plain(schema)), build, frozenset(allow_unenforced))
    _warn_of_anything(document.root)
    root = goal([document.literal((), document.root)])
    try:
        plan = Plan(root, Expander(document, options))
    except RecursionError as error:
        raise _too_deep() from error
    if not plan.is_reachable(root):
        raise no_value(plan, document, root)
    standard = standard_rules(
        whitespace, escapes, max_blanks, recursion and not spaces.has_depth, *marks
    )
    writer = Writer(plan, document, spaces, escapes, recursion, standard, marks)
    return OpenSchema(writer, document, root)


def _too_deep() -> LimitError:
    limit = sys.getrecursionlimit()
    return LimitError(
        "#: subschemas that apply to the same value (by $ref, anyOf, not, ...) are "
        f"deeper in one another than a stack of {limit:,} calls can follow",
        what="depth",
        limit=limit,
        hint="write them less deep",
    )


def _warn_of_anything(root: dict[str, Any] | bool) -> None:
    """Warns of a schema in which nothing is a keyword, so that anything is valid:
    ``{"name": "string"}``, or a schema inside another envelope."""
    if isinstance(root, dict) and root and not any(map(is_known, root)):
        names = ", ".join(map(repr, list(root)[:4]))
        warn_caller(
            f"no keyword of JSON Schema is in this schema ({names}), so any value is "
            "valid; is the schema inside it?"
        )


def _plain(schema: object) -> object:
    """``schema``, or the JSON Schema of a Python type."""
    if isinstance(schema, (dict, str, bytes, bytearray, int)):
        return schema
    from stcon.syntax.annotations import schema_of

    return schema_of(schema)
