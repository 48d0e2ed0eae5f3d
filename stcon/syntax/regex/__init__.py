"""Regular expressions: a pattern in, an expression over characters out.

One dialect, the common core of ECMA-262 (with the u flag) and Python's ``re``,
described in docs/regex.md.  What is not regular, or means different things in
the two, is a ``RegexError`` that says where and what to write instead.

text -> ``parser`` (with ``groups``, ``quantifiers``, ``classes``, ``escapes``)
     -> terms (``lookahead``) over languages with conditions (``assertions``)
     -> an expression over ``Chars``, which ``syntax.encode`` turns into bytes.
"""

from __future__ import annotations

from stcon.errors import RegexError
from stcon.syntax import rules as r
from stcon.syntax.regex.assertions import ANYTHING
from stcon.syntax.regex.edges import BEFORE, looks_around
from stcon.syntax.regex.lookahead import whole
from stcon.syntax.regex.parser import Parser
from stcon.syntax.rules import Expr

__all__ = ["parse_regex"]


def parse_regex(pattern: str, *, mode: str) -> Expr:
    """The texts that ``pattern`` matches, as an expression over ``Chars``.

    ``mode``: ``"full"``, the pattern matches the whole text, as with Python's
    ``re.fullmatch``; ``"search"``, it matches somewhere in the text, as in a JSON
    Schema; ``"part"``, it matches a part of a text, and what stands around that is not
    known: anchors and boundaries at its ends are errors, a look-ahead sees to its end
    and must have something to see.  Nothing is expanded here: ``(a{1000}){1000}``
    costs a few nodes.
    Raises RegexError for a pattern outside the dialect, LimitError for one of
    more than 200,000 characters.
    """
    if not isinstance(pattern, str):
        raise TypeError(
            f"a pattern is text, not {type(pattern).__name__}; give its .pattern"
        )
    if mode not in ("full", "search", "part"):
        raise ValueError(f'mode is "full", "search" or "part", not {mode!r}')
    parser = Parser(pattern)
    term = parser.parse()
    if mode == "part" and (where := looks_around(term)) is not None:
        offset = parser.assertions[0 if where == BEFORE else -1]
        raise RegexError(
            "what stands around this part of a text is not known here",
            pattern=pattern,
            offset=offset,
            hint="write what comes there as a part of the rule",
        )
    return whole(term, ANYTHING if mode == "search" else r.EPSILON)
