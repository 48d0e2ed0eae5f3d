"""Where a ``$ref`` leads, as far as an order of keys needs it.

A twin of the compiler's own resolution on purpose small and separate: what
measures stcon must not share its mistakes.  Embedded ``$id``s are found by their
text; a reference that leads nowhere is None.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

_NAMES = ("$id", "id", "$anchor", "$dynamicAnchor")


def resolve(root: Any, reference: Any) -> Any:
    """The subschema of ``root`` that ``reference`` names, or None."""
    if not isinstance(reference, str):
        return None
    document, _, fragment = reference.partition("#")
    base = _named(root, document) if document else root
    if base is None or not fragment:
        return base
    if not fragment.startswith("/"):
        return _named(base, fragment)
    return _pointed(base, unquote(fragment).split("/")[1:])


def _pointed(value: Any, steps: list[str]) -> Any:
    for step in steps:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return None
    return value


def _named(root: Any, name: str) -> Any:
    """The first object whose id or anchor is ``name``, or ends in ``/name``."""
    todo = [root]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            for key in _NAMES:
                known = value.get(key)
                if isinstance(known, str) and _is_same(known, name):
                    return value
            todo.extend(reversed(value.values()))
        elif isinstance(value, list):
            todo.extend(reversed(value))
    return None


def _is_same(known: str, name: str) -> bool:
    known = known.removesuffix("#").removeprefix("#")
    return known == name or known.endswith("/" + name)
