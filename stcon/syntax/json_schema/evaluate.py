"""Formulas evaluated on constants, exactly.

``enum`` beside other keywords is filtered here, one value at a time, instead of
being intersected as languages: 1,500 values next to a length bound cost
milliseconds.  Patterns are matched by moving a set of positions, held as the
bits of one integer, through the expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from stcon.errors import LimitError
from stcon.syntax.charset import CharSet
from stcon.syntax.json_schema.document import Document
from stcon.syntax.json_schema.formula import All, AnyOf, Formula, OneOf, TypeIn
from stcon.syntax.json_schema.options import unmetered
from stcon.syntax.json_schema.values import kind_of
from stcon.syntax.rules import (
    And,
    Chars,
    Concat,
    Expr,
    Literal,
    Not,
    Repeat,
    Union,
)

MAX_MATCHED_TEXT = 20_000
# Subschemas evaluated on constants; a few microseconds each.
MAX_EVALUATED = 250_000
_WORK_EVERY = 64


class Judge:
    """Evaluates formulas of one document."""

    def __init__(
        self,
        document: Document,
        work: Callable[[int], None] = unmetered,
        pointer: Callable[[], str] = lambda: "#",
    ) -> None:
        """``work``: see Options; ``pointer``: the place to name in errors."""
        self._document = document
        self._pointer = pointer
        self._work = work
        self._matches: dict[tuple[Expr, str], bool] = {}
        self._evaluated = 0

    def holds(self, formula: Formula, value: Any) -> bool:
        """Whether ``formula`` holds of ``value``."""
        if isinstance(formula, int):
            self._spend()
            parts = self._document.parts(abs(formula), kind_of(value))
            holds = True
            for part in parts:
                if not self.holds(part, value):
                    holds = False
                    break
            return holds == (formula > 0)
        if isinstance(formula, All):
            return all([self.holds(item, value) for item in formula.items])
        if isinstance(formula, AnyOf):
            return any([self.holds(item, value) for item in formula.items])
        if isinstance(formula, OneOf):
            count = sum([self.holds(item, value) for item in formula.items])
            return (count == 1) == formula.sign
        if isinstance(formula, TypeIn):
            return self.holds(formula.on(kind_of(value)), value)
        return formula.holds(value, self)

    def _spend(self) -> None:
        self._evaluated += 1
        if self._evaluated % _WORK_EVERY == 0:
            self._work(_WORK_EVERY // 4)
        if self._evaluated > MAX_EVALUATED:
            raise LimitError(
                f"{self._pointer()}: the constants of the schema are tested in more "
                f"than {MAX_EVALUATED:,} steps, the last of them here",
                what="states",
                limit=MAX_EVALUATED,
                hint="drop what stands beside enum, const, null or boolean",
            )

    def matches(self, language: Expr, text: str) -> bool:
        """Whether the decoded string ``text`` is in ``language`` (characters)."""
        key = (language, text)
        if key not in self._matches:
            self._matches[key] = _Matcher(text).matches(language)
        return self._matches[key]


class _Matcher:
    """Moves sets of positions (bit i: before character i) through expressions."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_MATCHED_TEXT:
            raise LimitError(
                f"a constant of {len(text):,} characters beside a pattern",
                what="bytes",
                limit=MAX_MATCHED_TEXT,
                hint="drop the pattern beside the constant",
            )
        self._text = text
        self._all = (1 << (len(text) + 1)) - 1
        self._masks: dict[CharSet, int] = {}

    def matches(self, language: Expr) -> bool:
        return bool(self._ends(language, 1) >> len(self._text) & 1)

    def _ends(self, expr: Expr, starts: int) -> int:
        """Where matches that begin at one of ``starts`` can end."""
        if not starts:
            return 0
        if isinstance(expr, Chars):
            return (starts & self._mask(expr.charset)) << 1
        if isinstance(expr, Concat):
            for item in expr.items:
                starts = self._ends(item, starts)
            return starts
        if isinstance(expr, Union):
            out = 0
            for item in expr.items:
                out |= self._ends(item, starts)
            return out
        if isinstance(expr, Repeat):
            return self._repeated(expr, starts)
        if isinstance(expr, And | Not):
            return self._product(expr, starts)
        if isinstance(expr, Literal):
            return self._literal(expr.data.decode(), starts)
        return 0

    def _repeated(self, expr: Repeat, starts: int) -> int:
        if isinstance(expr.item, Chars) and (expr.least, expr.most) == (0, None):
            # a run of members lets the carry of one addition through
            mask = self._mask(expr.item.charset)
            return (((starts & mask) + mask) ^ mask | starts) & self._all
        # a body that reads nothing is settled, and one that reads is past the
        # end, after as many rounds as there are positions
        for _ in range(min(expr.least, len(self._text) + 1)):
            starts = self._ends(expr.item, starts)
        reached, rounds = starts, expr.least
        while starts and rounds != expr.most:
            starts = self._ends(expr.item, starts) & ~reached
            reached |= starts
            rounds += 1
        return reached

    def _product(self, expr: And | Not, starts: int) -> int:
        """Ends of a product; where it ends depends on where it began."""
        out = 0
        for start in _bits(starts):
            one = 1 << start
            if isinstance(expr, Not):
                out |= self._all & -one & ~self._ends(expr.item, one)
                continue
            ends = self._all
            for item in expr.items:
                ends &= self._ends(item, one)
            out |= ends
        return out

    def _literal(self, text: str, starts: int) -> int:
        for char in text:
            starts = (starts & self._mask(CharSet.of(char))) << 1
        return starts

    def _mask(self, charset: CharSet) -> int:
        """Bit i: character i is in ``charset``."""
        mask = self._masks.get(charset)
        if mask is None:
            bits = ["1" if ord(c) in charset else "0" for c in self._text]
            mask = int("".join(reversed(bits)) or "0", 2)
            self._masks[charset] = mask
        return mask


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
