"""What the caller of a compile chose, where more than one stage reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stcon.errors import LimitError

if TYPE_CHECKING:
    from stcon.syntax.json_schema.document import Place

MAX_SETS = 4096
KEY_ORDERS = ("declared", "any")


def unmetered(amount: int) -> None:
    """Nothing: a compile that nobody measures."""


@dataclass(frozen=True, slots=True)
class Options:
    """``max_sets``: states of one object or array that remembers sets of keys or
    items; ``any_order``: whether keys come in any order; ``work``: told of steps
    of about 10 µs before they are taken, raises when they are too many."""

    max_sets: int = MAX_SETS
    any_order: bool = False
    work: Callable[[int], None] = unmetered

    @staticmethod
    def of(key_order: str, max_sets: int, work: Callable[[int], None]) -> Options:
        """Options, checked.  Raises ValueError for those there are none of."""
        if key_order not in KEY_ORDERS:
            raise ValueError(f'key_order is "declared" or "any", not {key_order!r}')
        if not isinstance(max_sets, int) or max_sets < 1:
            raise ValueError(f"max_sets is a number of at least 1, not {max_sets!r}")
        return Options(max_sets, key_order == "any", work)

    def too_many_sets(self, place: Place, what: str, hint: str) -> LimitError:
        """The error of a place where more than ``max_sets`` sets would have to be
        remembered; ``what`` remembers them."""
        return LimitError(
            f"{place.pointer}: {place.keyword}: {what} takes more than "
            f"{self.max_sets:,} sets",
            what="states",
            limit=self.max_sets,
            hint=f"{hint}, or pass a higher max_sets",
        )
