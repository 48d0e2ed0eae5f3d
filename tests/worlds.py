"""Small worlds for tests: vocabularies one can see through, formats over them."""

from __future__ import annotations

from stcon.constraints.dfa import DfaConstraint
from stcon.decode.processor import bind
from stcon.machines.compile import compile_expr
from stcon.syntax import rules as r
from stcon.tokens.vocabulary import Vocabulary

EOS = 0
SPECIAL = 1


def vocabulary(*texts: bytes) -> Vocabulary:
    """Token 0 ends the text, token 1 is special, then every byte of ASCII as a
    token of its own, then ``texts``."""
    ascii_bytes = [bytes([b]) for b in range(128)]
    return Vocabulary.from_bytes([None, None, *ascii_bytes, *texts], [EOS])


def token(byte: str) -> int:
    """The one-byte token of ``byte``."""
    return 2 + ord(byte)


def constraint(expr: r.Expr, *texts: bytes, path: str | None = "host") -> DfaConstraint:
    """The constraint of ``expr`` over ``vocabulary(*texts)``."""
    dfa = compile_expr(expr)
    return DfaConstraint.of(dfa, vocabulary(*texts), bind(path))


def digits(most: int | None = None) -> r.Expr:
    """A number of at least one digit."""
    return r.repeat(r.byte_range(48, 57), 1, most)


def record() -> r.Expr:
    """``{"a":<digits>,"b":x|y}``."""
    return r.concat(
        r.literal('{"a":'),
        digits(),
        r.literal(',"b":'),
        r.union(r.literal("x"), r.literal("y")),
        r.literal("}"),
    )
