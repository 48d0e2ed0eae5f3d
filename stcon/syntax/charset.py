"""Sets of Unicode scalar values, as sorted ranges.

A character class such as ``[^\\w.-]`` is a set of code points.  Classes are
combined before any byte is looked at, so the set algebra lives here and the
byte encodings (UTF-8, JSON escapes) in ``encode.py``.  Surrogates
(U+D800..U+DFFF) are never members: they are not characters and have no UTF-8.
All operations are linear in the number of ranges.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MAX_CODE_POINT = 0x10FFFF
_SURROGATES = (0xD800, 0xDFFF)

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CharSet:
    """Code points as disjoint, sorted, non-adjacent inclusive ``ranges``.

    Build with ``CharSet.of``; two equal sets have equal ``ranges``.
    """

    ranges: tuple[Range, ...]

    @staticmethod
    def of(*ranges: Range | str | int) -> CharSet:
        """The set of the given ranges, characters of strings, and code points."""
        pairs: list[Range] = []
        for item in ranges:
            if isinstance(item, str):
                pairs.extend((ord(c), ord(c)) for c in item)
            elif isinstance(item, int):
                pairs.append((item, item))
            else:
                pairs.append(item)
        return CharSet(_normal(pairs))

    def __or__(self, other: CharSet) -> CharSet:
        return CharSet(_normal([*self.ranges, *other.ranges]))

    def __and__(self, other: CharSet) -> CharSet:
        return ~(~self | ~other)

    def __sub__(self, other: CharSet) -> CharSet:
        return self & ~other

    def __invert__(self) -> CharSet:
        gaps: list[Range] = []
        low = 0
        for first, last in self.ranges:
            if first > low:
                gaps.append((low, first - 1))
            low = last + 1
        if low <= MAX_CODE_POINT:
            gaps.append((low, MAX_CODE_POINT))
        return CharSet(_normal(gaps))

    def __contains__(self, code_point: int) -> bool:
        return any(first <= code_point <= last for first, last in self.ranges)

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges)


def _normal(pairs: Iterable[Range]) -> tuple[Range, ...]:
    """Sorted, merged ranges without surrogates."""
    merged: list[Range] = []
    for first, last in sorted(_without_surrogates(pairs)):
        if merged and first <= merged[-1][1] + 1:
            if last > merged[-1][1]:
                merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return tuple(merged)


def _without_surrogates(pairs: Iterable[Range]) -> Iterable[Range]:
    for first, last in pairs:
        if last < _SURROGATES[0] or first > _SURROGATES[1]:
            yield first, last
            continue
        if first < _SURROGATES[0]:
            yield first, _SURROGATES[0] - 1
        if last > _SURROGATES[1]:
            yield _SURROGATES[1] + 1, last


ANY = CharSet.of((0, MAX_CODE_POINT))
