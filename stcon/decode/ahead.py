"""Which runs are worth enqueuing before their token is known.

A run is wasted when its token turns out to be followed by forced text, and a wasted run
takes as long as any.  How often that happens depends on the place: almost never in the
middle of a string, always after an enumerated value.  So it is counted for each mask.
"""

from __future__ import annotations

from collections.abc import Hashable

_WORTH = 0.2
"""Share of wasted runs that hiding the host's part of a step is worth.  Building the
graph of a run takes about a fifth of it on small models (1 to 4 ms of 5 to 20)."""

_LEARN = 0.25
_MOST_KEYS = 1 << 12


class Forecast:
    """What has been seen so far; outputs do not depend on it, only time does."""

    def __init__(self) -> None:
        self._wasted: dict[Hashable, float] = {}

    def is_worth(self, key: Hashable) -> bool:
        """Whether to enqueue the run after a token sampled under the mask ``key``."""
        return self._wasted.get(key, 1.0) <= _WORTH

    def note(self, key: Hashable, is_wasted: bool) -> None:
        """Nothing; a run after that mask was, or would have been, wasted or not."""
        if len(self._wasted) >= _MOST_KEYS:
            self._wasted.clear()
        before = self._wasted.get(key, 0.5)
        self._wasted[key] = before + _LEARN * (is_wasted - before)
