"""Choices: one of a list of texts, written as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import EnumMeta

from stcon.errors import LimitError, SchemaError
from stcon.syntax import rules as r
from stcon.syntax.rules import Expr

MAX_BYTES = 1_000_000


def choices(options: Sequence[str]) -> Expr:
    """The union of the ``options`` in UTF-8; the same text twice counts once, the
    empty text is allowed.

    Raises SchemaError when there is none, or one is no text (its ``pointer`` is
    ``choices[i]``), LimitError when they are longer than MAX_BYTES in all.
    """
    if isinstance(options, (str, bytes)):
        raise SchemaError(
            f"{options!r} is one text, not a list of texts",
            pointer="choices",
            hint="put it in a list",
        )
    if not isinstance(options, (Sequence, Mapping)):
        raise _no_list(options)
    items = list(options)
    if not items:
        raise SchemaError(
            "the list is empty, so nothing could be written",
            pointer="choices",
            hint="give at least one text",
        )
    found: list[Expr] = []
    left = MAX_BYTES
    for place, item in enumerate(items):
        left -= len(item) if isinstance(item, str) else 0
        if left >= 0:
            found.append(_option(item, place))
            left -= _extra_bytes(item)
        if left < 0:
            raise LimitError(
                f"the choices are longer than {MAX_BYTES:,} bytes in all",
                what="bytes",
                limit=MAX_BYTES,
                hint="give fewer or shorter texts",
            )
    return r.union(*found)


def _extra_bytes(text: str) -> int:
    """How many bytes ``text`` has beyond one a character."""
    return 0 if text.isascii() else len(text.encode()) - len(text)


def _no_list(options: object) -> SchemaError:
    if isinstance(options, EnumMeta):
        message, hint = "an Enum", "pass the Enum as the schema, or a list of texts"
    else:
        message, hint = f"of type {type(options).__name__}", "pass a list of texts"
    return SchemaError(
        f"the choices are {message}, not a list of texts",
        pointer="choices",
        hint=hint,
    )


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
