"""JSON pointers (RFC 6901) in their URI fragment form, ``#/properties/a~1b``."""

from __future__ import annotations

from itertools import takewhile
from urllib.parse import quote, unquote

Path = tuple[str | int, ...]

_SAFE = "!$&'()*+,;=:@-._~?"


def to_fragment(path: Path) -> str:
    """``#/...`` for a path of keys and indices, up to a step that is in no
    document (``inner_step``)."""
    steps = takewhile(lambda step: not isinstance(step, int) or step >= 0, path)
    return "#" + "".join("/" + _escape(str(step)) for step in steps)


def inner_step(number: int) -> int:
    """A step below a keyword, to schemas that are made for it."""
    return -1 - number


def is_inner(path: Path) -> bool:
    """Whether a path leads into a schema that is made for a keyword."""
    return any(isinstance(step, int) and step < 0 for step in path)


def from_fragment(fragment: str) -> tuple[str, ...]:
    """The reference tokens of a pointer given without its ``#``."""
    if not fragment:
        return ()
    tokens = unquote(fragment).split("/")[1:]
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in tokens)


def _escape(token: str) -> str:
    if token.isascii() and token.isalnum():
        return token
    return quote(token.replace("~", "~0").replace("/", "~1"), safe=_SAFE)
