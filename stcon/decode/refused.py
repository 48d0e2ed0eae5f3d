"""What is said when a history holds a token that the format does not allow."""

from __future__ import annotations

from typing import NoReturn, Protocol

from stcon.constraints.constraint import State
from stcon.errors import HistoryError, LimitError
from stcon.tokens.vocabulary import Vocabulary


class Told(Protocol):
    """What of a constraint an error tells."""

    vocabulary: Vocabulary

    def is_complete(self, state: State) -> bool:
        """See Constraint."""

    def shortest(self, state: State) -> bytes:
        """See Constraint."""


def refuse(told: Told, state: State, token: int, position: int | None) -> NoReturn:
    """Raises HistoryError: ``token`` is not allowed in ``state``."""
    vocabulary = told.vocabulary
    text = vocabulary.token_bytes(token) if token < vocabulary.size else b""
    what = repr(text.decode("utf-8", "replace")) if text else "not text"
    place = "" if position is None else f" at position {position} of the history"
    raise HistoryError(
        f"token {token} ({what}){place} is not allowed there; {_wanted(told, state)}",
        position=position or 0,
        hint="the constraint must be the last logits processor, and the "
        "sampler must not pick tokens at -inf; for a new prompt that "
        "continues an earlier output, pass constraint.fresh()",
    )


def _wanted(told: Told, state: State) -> str:
    if told.is_complete(state):
        return "the output may end there"
    try:
        shortest = told.shortest(state).decode("utf-8", "replace")
    except LimitError:
        return "every right continuation is very long"
    return f"a right continuation would be {shortest[:60]!r}"
