"""Keywords that speak of strings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stcon.errors import RegexError
from stcon.syntax.json_schema.document import Place
from stcon.syntax.json_schema.formats import (
    KNOWN,
    NAMES,
    is_format,
    language_of,
    widest_of,
)
from stcon.syntax.json_schema.formula import TRUE, Formula
from stcon.syntax.json_schema.keywords.counts import count
from stcon.syntax.json_schema.near_misses import near_miss, warn_caller
from stcon.syntax.json_schema.strings import Length, Text
from stcon.syntax.regex import parse_regex
from stcon.syntax.rules import Expr


@dataclass(frozen=True, slots=True, eq=False)
class Formatted(Text):
    """The string has, or has not, a format; ``opposite`` is the language for its
    negation.  A string between the two has neither, and is not written."""

    opposite: Expr = field(kw_only=True)

    def negated(self) -> Formula:
        """The same of the opposite."""
        swapped = {"language": self.opposite, "opposite": self.language}
        return Formatted(self.place, sign=not self.sign, **swapped)


def min_length(value: Any, at: Place) -> Formula:
    """At least so many characters."""
    return Length(at, count(value, at), None)


def max_length(value: Any, at: Place) -> Formula:
    """At most so many characters."""
    return Length(at, 0, count(value, at))


def pattern(value: Any, at: Place) -> Formula:
    """The pattern is found somewhere in the string."""
    at.check(isinstance(value, str), "a pattern", value)
    return Text(at, pattern_language(value, at))


def format_(value: Any, at: Place) -> Formula:
    """The string is written in a format; names nobody defined are annotations, and
    warn where they look mistyped."""
    at.check(isinstance(value, str), "a name", value)
    if is_format(value):
        return Formatted(at, language_of(value), opposite=widest_of(value))
    if value in KNOWN:
        return at.refused(KNOWN[value], f"format:{value}")
    at.document.report.passed_over(at.path)
    meant = near_miss(value, NAMES)
    if meant is not None:
        warn_caller(
            f"{at.pointer}: unknown format {value!r} is ignored; "
            f"did you mean {meant!r}?"
        )
    return TRUE


def pattern_language(value: str, at: Place) -> Expr:
    """The strings, over characters, in which ``value`` is found."""
    known = at.document.languages
    if value not in known:
        try:
            known[value] = parse_regex(value, mode="search")
        except RegexError as error:
            raise at.error(f"the pattern is not usable: {error}") from error
    return known[value]
