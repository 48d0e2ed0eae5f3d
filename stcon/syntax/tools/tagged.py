"""Arguments between tags, as Qwen3-Coder and Qwen3.5 write them.

    <parameter=city>
    Oslo
    </parameter>

Strings stand there as they are, other values as JSON.  What could be read as either is
the other: where a schema allows strings and numbers, ``5`` is a number, and no string.
``null`` in any case is never a string: the readers of these models take it for null.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from stcon.errors import SchemaError
from stcon.syntax.encode import utf8
from stcon.syntax.json_schema import OpenSchema
from stcon.syntax.json_schema.alternatives import Shape
from stcon.syntax.json_schema.constants import Constants
from stcon.syntax.json_schema.goals import ANYTHING, Goal
from stcon.syntax.json_schema.layout import Layout
from stcon.syntax.json_schema.numbers import NumberShape
from stcon.syntax.json_schema.object_shape import ObjectShape
from stcon.syntax.json_schema.object_texts import inside_expr
from stcon.syntax.json_schema.standard import ARRAY, NUMBER_CALL, OBJECT
from stcon.syntax.json_schema.strings import ANY_TEXT, StringShape
from stcon.syntax.json_schema.texts import Texts
from stcon.syntax.json_schema.values import BOOLEAN, NUMBER, kind_of
from stcon.syntax.json_schema.writer import Writer
from stcon.syntax.regex import parse_regex
from stcon.syntax.rules import (
    EMPTY,
    EPSILON,
    TICK,
    Expr,
    complement,
    concat,
    counted,
    intersect,
    literal,
    optional,
    union,
)

MARKS = ("</parameter>", "</tool_call>")
"""What no string may hold: readers look for it."""

_TAGS = Layout(
    lambda depth: EPSILON,
    lambda depth: EPSILON,
    lambda depth: EPSILON,
    EPSILON,
    EPSILON,
)
_BOOLEANS = {
    True: union(literal("true"), literal("True")),  # templates write Python's
    False: union(literal("false"), literal("False")),
}


def tagged_arguments(opened: OpenSchema) -> Expr:
    """The texts of the arguments of a schema.

    Raises SchemaError for names that are not known beforehand.
    """
    opened.writer.write(opened.root)
    shapes = opened.writer.plan.shapes[frozenset(opened.root)]
    found = union(*(_arguments(shape, opened) for shape in shapes))
    if found is EMPTY:
        raise opened.no_value()
    return found


def _arguments(shape: Shape, opened: OpenSchema) -> Expr:
    plan = opened.writer.plan
    if not isinstance(shape, ObjectShape):
        raise SchemaError(
            "arguments that are constants as a whole cannot be written between tags",
            pointer="#",
            hint="say which value each of them has",
        )
    if any(plan.is_reachable(free.value) for free in shape.free):
        raise SchemaError(
            "arguments with other names cannot be written between tags",
            pointer="#",
            keyword="additionalProperties",
            hint="declare them, and leave additionalProperties out",
        )
    for name, wanted in shape.names.items():
        if not plan.is_reachable(wanted):
            continue
        if not name or any(char.isspace() or char in "<>" for char in name):
            raise SchemaError(
                f"{name!r} cannot be a name between tags",
                pointer="#/properties",
                hint="use a name without blanks, < and >",
            )
    writer = _Tagged(opened.writer)
    has_none, inside = inside_expr(replace(shape, free=()), writer, 0)
    return optional(inside) if has_none else inside


class _Tagged(Writer):
    """Writes pairs of the outermost object between tags; what is inside values is
    ``json``'s."""

    def __init__(self, json: Writer) -> None:
        self.__dict__.update(json.__dict__)
        self.layout = _TAGS
        self._json = json
        self._plain = Texts(utf8)
        self._counted = Texts(lambda charset: concat(TICK, utf8(charset)))

    def named_pair(self, name: str, value: Expr) -> Expr:
        """A value between its tags."""
        opens, closes = f"<parameter={name}>\n", "\n</parameter>\n"
        return concat(literal(opens), value, literal(closes))

    def value(self, wanted: Goal, depth: int) -> Expr:
        """The texts of one argument."""
        if not self.plan.is_reachable(wanted):
            return EMPTY
        if wanted == ANYTHING:
            return self._anything()
        shapes = self.plan.shapes[frozenset(wanted)]
        texts = [shape for shape in shapes if _is_text(shape)]
        others = [shape for shape in shapes if not _is_text(shape)]
        if not texts and not any(_is_boolean(shape) for shape in others):
            return self._json.value(wanted, depth)
        denied = frozenset({"null", *map(_kind_read, others)})
        self._refuse_constants(wanted, texts, others)
        return union(
            *(self._text(shape, denied) for shape in texts),
            *map(self._other, others),
        )

    def _refuse_constants(
        self, wanted: Goal, texts: list[Shape], others: list[Shape]
    ) -> None:
        """Nothing; raises SchemaError for a string of an enum that would be read as
        something else."""
        kinds = {"marks", "null", *map(_kind_read, others)}
        patterns = [LANGUAGES[kind] for kind in kinds]
        for shape in texts:
            for value in shape.values if isinstance(shape, Constants) else ():
                if any(re.fullmatch(pattern, value) for pattern in patterns):
                    raise SchemaError(
                        f"the string {value!r:.60} cannot be written between tags: it "
                        "would be read as something else",
                        pointer=self.pointer_of(wanted),
                        keyword="enum",
                        hint="leave it out, or use another word",
                    )

    def _anything(self) -> Expr:
        text = self._text(StringShape(None), frozenset(LANGUAGES) - {"marks"})
        words = union(literal("null"), *_BOOLEANS.values())
        return union(text, words, NUMBER_CALL, ARRAY, OBJECT)

    def _text(self, shape: Shape, denied: frozenset[str]) -> Expr:
        """The strings of a shape as they are, but for what is ``denied``."""
        if isinstance(shape, Constants):  # none of them is denied
            return union(*map(literal, shape.values))
        assert isinstance(shape, StringShape)
        is_long = shape.least == 0 and shape.most is None
        if is_long and shape.language is None:
            return _free_text(denied)
        language = _all_but(denied)
        if shape.language is not None:
            language = intersect(shape.language, language)
        if is_long:
            return self._plain.of(language)
        return counted(self._counted.of(language), shape.least, shape.most)

    def _other(self, shape: Shape) -> Expr:
        """The JSON texts of a shape; true may be True."""
        if isinstance(shape, Constants) and _is_boolean(shape):
            return union(*(_BOOLEANS[value] for value in shape.values))
        return self._json.shape(shape, 0)


def _is_text(shape: Shape) -> bool:
    if isinstance(shape, Constants):
        return isinstance(shape.values[0], str)
    return isinstance(shape, StringShape)


def _is_boolean(shape: Shape) -> bool:
    return isinstance(shape, Constants) and kind_of(shape.values[0]) == BOOLEAN


def _kind_read(shape: Shape) -> str:
    """What of LANGUAGES a reader takes for values of a shape's kind."""
    if isinstance(shape, NumberShape):
        return "number"
    if not isinstance(shape, Constants):
        return "container"
    kind = kind_of(shape.values[0])
    return kind if kind in ("null", BOOLEAN, NUMBER) else "container"


LANGUAGES = {
    "null": r"[nN][uU][lL][lL]",
    "boolean": r"[tT]rue|[fF]alse",
    "number": r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+\-]?[0-9]+)?",
    "container": r"[ \t\r\n]*[\[{](?s:.*)",
    "marks": f"(?s:.*)(?:{'|'.join(MARKS)})(?s:.*)",
}
"""Texts that are read as other things than strings, by what they are."""


@lru_cache(maxsize=32)
def _all_but(denied: frozenset[str]) -> Expr:
    """Any text but those, over characters."""
    patterns = "|".join(LANGUAGES[name] for name in sorted({"marks", *denied}))
    return intersect(ANY_TEXT, complement(parse_regex(patterns, mode="full")))


@lru_cache(maxsize=32)
def _free_text(denied: frozenset[str]) -> Expr:
    """The bytes of any text but those; one node for all arguments alike, so that its
    automaton is made once."""
    return Texts(utf8).of(_all_but(denied))
