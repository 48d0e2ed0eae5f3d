"""Matchers are where places are, however few there may be."""

from __future__ import annotations

import random

import pytest

from stcon import EngineError
from stcon.engines.matchers import Matchers, Place


class Told:
    """A matcher that remembers what it read; 9 is refused."""

    def __init__(self, read: list[int] | None = None) -> None:
        self.read = read or []

    def accept_token(self, token: int) -> bool:
        self.read.append(token)
        return token != 9

    def fork(self) -> Told:
        return Told([*self.read])

    def rollback(self, tokens: int) -> None:
        assert 0 < tokens <= len(self.read)
        del self.read[-tokens:]


@pytest.mark.parametrize("most", [1, 2, 5, 100])
def test_any_place_at_any_time(most: int) -> None:
    rng = random.Random(most)
    matchers = Matchers(Told, most)
    places = [Place()]
    for _ in range(500):
        place = rng.choice(places)
        if rng.random() < 0.5:
            place = Place(place, rng.randrange(9))
            places.append(place)
        assert matchers.at(place).read == place.kinds()
        assert len(matchers) <= most


def test_a_refused_token() -> None:
    matchers = Matchers(Told)
    good = Place(Place(), 1)
    with pytest.raises(EngineError, match="refused a token"):
        matchers.at(Place(good, 9))
    assert matchers.at(good).read == [1] and len(matchers) == 1
