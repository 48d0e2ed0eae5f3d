"""Choices: one of a list of texts, written as it is."""

from __future__ import annotations

from collections.abc import Sequence

from stcon.errors import SchemaError
from stcon.syntax import rules as r
from stcon.syntax.rules import Expr


def choices(options: Sequence[str]) -> Expr:
    """The union of the ``options`` in UTF-8; the same text twice counts once, the
    empty text is allowed.

    Raises SchemaError when there is none, or one is no text; its ``pointer`` is
    ``choices[i]``.
    """
    if isinstance(options, (str, bytes)):
        raise SchemaError(
            f"{options!r} is one text, not a list of texts",
            pointer="choices",
            hint="put it in a list",
        )
    items = list(options)
    if not items:
        raise SchemaError(
            "the list is empty, so nothing could be written",
            pointer="choices",
            hint="give at least one text",
        )
    return r.union(*(_option(item, place) for place, item in enumerate(items)))


def _option(item: object, place: int) -> Expr:
    if not isinstance(item, str):
        raise SchemaError(
            f"{item!r} is no text but of type {type(item).__name__}",
            pointer=f"choices[{place}]",
            hint="give str(...) of it, or a JSON Schema with enum for JSON values",
        )
    try:
        return r.literal(item)
    except UnicodeEncodeError as error:
        raise SchemaError(
            f"{item!r} holds a lone surrogate, which no UTF-8 text can hold",
            pointer=f"choices[{place}]",
            hint="use the whole character, for example chr(0x1F600)",
        ) from error
