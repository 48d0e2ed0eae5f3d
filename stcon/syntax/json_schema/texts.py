"""Languages of characters to bytes inside a JSON string, each made once."""

from __future__ import annotations

from stcon.syntax.charset import CharSet
from stcon.syntax.encode import Encoder, encode
from stcon.syntax.json_schema.strings import ANY_TEXT
from stcon.syntax.rules import And, Expr, Not, complement, intersect


class Texts:
    """Encodes languages with one encoder."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._charsets: dict[CharSet, Expr] = {}
        self._insides: dict[Expr, Expr] = {}
        self._negated: dict[Expr, Expr] = {}

    def of(self, language: Expr) -> Expr:
        """``language`` encoded; a part of a conjunction, negated or not, once."""
        if isinstance(language, And):
            return intersect(*map(self.of, language.items))
        if isinstance(language, Not):
            return self._all_but(language.item)
        known = self._insides.get(language)
        if known is None:
            known = self._insides[language] = encode(language, self.char)
        return known

    def _all_but(self, language: Expr) -> Expr:
        """The encoded texts outside ``language``: the node of a negation is new
        each time, what it negates is not."""
        known = self._negated.get(language)
        if known is None:
            text, denied = self.of(ANY_TEXT), self.of(language)
            known = self._negated[language] = intersect(text, complement(denied))
        return known

    def char(self, charset: CharSet) -> Expr:
        """One character of a set."""
        known = self._charsets.get(charset)
        if known is None:
            known = self._charsets[charset] = self._encoder(charset)
        return known
