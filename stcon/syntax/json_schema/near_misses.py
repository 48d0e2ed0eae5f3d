"""Warnings of unknown keywords and formats that look like slips of known ones.

JSON Schema ignores what it does not know, so a mistyped name would be lost in
silence.  A name is near a known one when, in lower case and without ``_`` and
``-``, it is one letter off, or shares four fifths of its letters in order.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches

_told: ContextVar[Callable[[str], str] | None] = ContextVar("told", default=None)

_LENGTHS = range(4, 25)
_ALIKE = 0.8


def near_miss(name: str, known: Iterable[str]) -> str | None:
    """The one of ``known`` that ``name`` is a slip of, if there is one."""
    if len(name) not in _LENGTHS:
        return None
    folded = _folded(name)
    words = {_folded(word): word for word in known}
    slips = (word for word in words if _one_slip(folded, word))
    found = [word for word in (folded,) if word in words] or list(slips)
    found += get_close_matches(folded, words, 1, _ALIKE)
    return words[found[0]] if found else None


def warn_caller(message: str) -> None:
    """Warns at the line of the first caller outside this package."""
    told = _told.get()
    message = told(message) if told else message
    package = __name__.partition(".")[0]
    frame = sys._getframe()
    level = 1
    while frame.f_back is not None and _is_of(package, frame.f_globals):
        frame = frame.f_back
        level += 1
    warnings.warn(message, stacklevel=level)


@contextmanager
def warning_of(told: Callable[[str], str]) -> Iterator[None]:
    """Nothing; what is warned of inside is what ``told`` makes of it: a schema that is
    a part of something says where that is."""
    token = _told.set(told)
    try:
        yield
    finally:
        _told.reset(token)


def _is_of(package: str, names: dict[str, object]) -> bool:
    return str(names.get("__name__", "")).partition(".")[0] == package


def _folded(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "")


def _one_slip(have: str, want: str) -> bool:
    """Whether one letter is wrong, missing, extra or swapped with the next."""
    start = 0
    while start < min(len(have), len(want)) and have[start] == want[start]:
        start += 1
    rest_have, rest_want = have[start:], want[start:]
    swapped = rest_have[:2] == rest_want[:2][::-1] and len(rest_have) > 1
    return (
        rest_have[1:] == rest_want[1:]
        or rest_have[1:] == rest_want
        or rest_have == rest_want[1:]
        or (swapped and rest_have[2:] == rest_want[2:])
    )
