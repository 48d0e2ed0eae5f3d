"""Strings: their facts, and the language of what is inside the quotes.

Patterns, formats and lengths speak of the decoded string, so everything here is
an expression over characters; ``encode`` writes it as JSON at the very end, with
every escape, which is why ``maxLength`` counts an escape as one character.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stcon.syntax.charset import ANY, CharSet
from stcon.syntax.json_schema.constants import NotAmong
from stcon.syntax.json_schema.formula import FALSE, Fact, Formula, any_of
from stcon.syntax.rules import (
    EPSILON,
    Chars,
    Concat,
    Expr,
    Repeat,
    chars,
    complement,
    concat,
    intersect,
    repeat,
    star,
    union,
)

if TYPE_CHECKING:
    from stcon.syntax.json_schema.evaluate import Judge

ANY_CHAR = chars(ANY)
ANY_TEXT = star(ANY_CHAR)

_LARGE = 16
"""Fewer rounds are as cheap written out."""


@dataclass(frozen=True, slots=True, eq=False)
class Length(Fact):
    """The string has ``least`` to ``most`` characters (None: no bound)."""

    least: int
    most: int | None

    def negated(self) -> Formula:
        parts: list[Formula] = []
        if self.least > 0:
            parts.append(Length(self.place, 0, self.least - 1))
        if self.most is not None:
            parts.append(Length(self.place, self.most + 1, None))
        return any_of(*parts) if parts else FALSE

    def holds(self, value: Any, judge: Judge) -> bool:
        least_holds = self.least <= len(value)
        return least_holds and (self.most is None or len(value) <= self.most)


@dataclass(frozen=True, slots=True, eq=False)
class Text(Fact):
    """The decoded string is (``sign``) or is not in a language over characters."""

    language: Expr
    sign: bool = True

    def negated(self) -> Formula:
        return Text(self.place, self.language, not self.sign)

    def holds(self, value: Any, judge: Judge) -> bool:
        return judge.matches(self.language, value) == self.sign


@dataclass(frozen=True, slots=True, eq=False)
class StringShape:
    """Strings of ``least`` to ``most`` characters (None: no bound); ``language``
    is over decoded characters, None for any string."""

    language: Expr | None
    least: int = 0
    most: int | None = None


def merge_strings(facts: list[Fact]) -> StringShape | None:
    """The shape of strings with all ``facts``; None when there are none."""
    least, most = 0, None
    parts: list[Expr] = []
    for fact in facts:
        if isinstance(fact, Length):
            least = max(least, fact.least)
            if fact.most is not None:
                most = fact.most if most is None else min(most, fact.most)
        elif isinstance(fact, Text) and fact.sign:
            language, low, high = _apart_from_length(fact.language)
            parts += [] if language is ANY_TEXT else [language]
            least = max(least, low)
            if high is not None:
                most = high if most is None else min(most, high)
        elif isinstance(fact, Text):
            parts.append(complement(fact.language))
        elif isinstance(fact, NotAmong):
            parts.append(complement(union(*map(text_expr, fact.values))))
    if most is not None and least > most:
        return None
    return StringShape(intersect(*parts) if parts else None, least, most)


def _apart_from_length(language: Expr) -> tuple[Expr, int, int | None]:
    """``language`` as another one and the least and most number of characters, where
    its length is all that a large repetition of one set of characters says.

    ``[a-z][a-z0-9]{0,62}`` is ``[a-z][a-z0-9]*`` of 1 to 63 characters, and those are
    counted; written out it is a state a character.
    """
    items = language.items if isinstance(language, Concat) else (language,)
    loops = [item for item in items if not isinstance(item, Chars)]
    if len(loops) != 1 or not isinstance(loops[0], Repeat):
        return language, 0, None
    loop = loops[0]
    if not isinstance(loop.item, Chars) or max(loop.least, loop.most or 0) < _LARGE:
        return language, 0, None
    fixed = len(items) - 1
    every = ANY_TEXT if loop.item.charset == ANY else star(loop.item)
    parts = (every if item is loop else item for item in items)
    most = None if loop.most is None else fixed + loop.most
    return (every if not fixed else concat(*parts)), fixed + loop.least, most


def text_expr(text: str) -> Expr:
    """Exactly ``text``, over characters."""
    return concat(*(chars(CharSet.of(c)) for c in text)) if text else EPSILON


def string_language(shape: StringShape) -> Expr:
    """The language of a shape, its length written out: a state a character."""
    parts = [] if shape.language is None else [shape.language]
    if shape.least or shape.most is not None:
        parts.append(repeat(ANY_CHAR, shape.least, shape.most))
    return intersect(*parts) if parts else ANY_TEXT
