"""What finishing an output costs, in tokens; what a limit on tokens goes by."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stcon.tokens.fewest import Text, exactly

if TYPE_CHECKING:
    from stcon.constraints.constraint import State


class Costs(ABC):
    """Costs of the states of one constraint; safe among threads.

    ``is_exact``: whether ``least`` is what the cheapest end costs, so that some
    token always lowers it by one; if not, it is what one certain text costs.
    """

    is_exact: bool

    @abstractmethod
    def least(self, state: State) -> int:
        """In how many tokens the output can be finished, without an end-of-text
        id; NEVER or more where nothing is known that is short enough."""

    def most(self, state: State) -> int:
        """A number that ``least(state)`` does not exceed, found sooner."""
        return self.least(state)

    @abstractmethod
    def text(self, state: State) -> bytes:
        """A text of ``least(state)`` tokens that finishes the output."""

    def plan(self, state: State) -> Text:
        """That text, or many of that length at once; only where not exact."""
        return exactly(self.text(state))

    @abstractmethod
    def is_roomy(self, state: State, left: int) -> bool:
        """Whether surely, after each token that is allowed, ``left - 1`` are enough."""

    @abstractmethod
    def allowed(self, state: State, left: int) -> NDArray[np.bool_]:
        """bool [vocabulary size]: the tokens after which ``left - 1`` are enough,
        and the end-of-text ids if the output is complete."""

    def open_classes(self, state: State, left: int) -> NDArray[Any] | None:
        """bool [classes]: ``allowed`` by token class, where there are any."""
        return None
