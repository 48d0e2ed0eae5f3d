"""Whitespace between the tokens of JSON: five policies.

``compact``: none.  ``spaced``: a space after commas and colons, as ``json.dumps``
writes and chat templates with it.  ``bounded``: at most ``max_blanks`` in a run.
``free``: as JSON has it.  ``pretty``: one spelling, that of
``json.dumps(..., indent=n)``; only for values whose depth is known.  No policy has
blanks before or after the whole text: a model must be able to stop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stcon.syntax.rules import EPSILON, Expr, byte_set, concat, literal, repeat

_BLANK = byte_set(sum(1 << byte for byte in b" \t\n\r"))


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands around the punctuation; functions of the depth take the depth
    of the container (0 for the outermost).  ``empty`` is what stands between the
    brackets of an empty container."""

    after_open: Callable[[int], Expr]
    before_close: Callable[[int], Expr]
    comma: Callable[[int], Expr]
    colon: Expr
    empty: Expr
    has_depth: bool = False


def layout(whitespace: str, max_blanks: int, indent: int) -> Layout:
    """The layout of a policy.  Raises ValueError for names there are none of."""
    if whitespace == "compact":
        return _loose(EPSILON)
    if whitespace == "spaced":
        return _SPACED
    if whitespace == "bounded":
        if max_blanks < 1:
            raise ValueError(f"max_blanks must be at least 1, not {max_blanks}")
        return _loose(repeat(_BLANK, 0, max_blanks))
    if whitespace == "free":
        return _loose(repeat(_BLANK, 0, None))
    if whitespace == "pretty":
        return _pretty(indent)
    raise ValueError(
        'whitespace is "compact", "spaced", "bounded", "free" or "pretty", '
        f"not {whitespace!r}"
    )


def _loose(blanks: Expr) -> Layout:
    comma = concat(blanks, literal(","), blanks)
    colon = concat(blanks, literal(":"), blanks)
    return Layout(
        lambda depth: blanks, lambda depth: blanks, lambda depth: comma, colon, blanks
    )


_SPACED = Layout(
    lambda depth: EPSILON,
    lambda depth: EPSILON,
    lambda depth: literal(", "),
    literal(": "),
    EPSILON,
)


def _pretty(indent: int) -> Layout:
    if not 0 <= indent <= 16:
        raise ValueError(f"indent must be from 0 to 16, not {indent}")

    def line(depth: int) -> str:
        return "\n" + " " * (indent * depth)

    return Layout(
        after_open=lambda depth: literal(line(depth + 1)),
        before_close=lambda depth: literal(line(depth)),
        comma=lambda depth: literal("," + line(depth + 1)),
        colon=literal(": "),
        empty=EPSILON,
        has_depth=True,
    )
