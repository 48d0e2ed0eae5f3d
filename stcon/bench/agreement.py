"""How much of what a model answers freely is still there under a constraint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from stcon.constraints.constraint import Constraint
from stcon.machines.dfa import DEAD

Leaf = tuple[tuple[str | int, ...], str]
"""A path into a value, and the JSON text of what has no parts there."""


def found_in(text: str) -> Any:
    """The first JSON object in ``text``, whatever stands around it; None if there
    is none."""
    at = text.find("{")
    if at < 0:
        return None
    try:
        return json.JSONDecoder().raw_decode(text, at)[0]
    except ValueError:
        return None


def completed(constraint: Constraint, text: bytes) -> Any:
    """The value of an answer; one that was cut off is completed in the shortest
    way.  None for what ``constraint`` does not allow."""
    state = constraint.read(constraint.start, text)
    if state == DEAD:
        return None
    return json.loads(text + constraint.shortest(state))


def agreement(free: Any, answer: Any) -> float | None:
    """The share of leaves of ``free`` that ``answer`` has too, at the same paths;
    None where there is nothing to compare."""
    if free is None or answer is None:
        return None
    wanted = set(leaves(free))
    return len(wanted & set(leaves(answer))) / len(wanted)


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[Leaf]:
    """The leaves of a JSON value; an empty array or object is one."""
    parts: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list):
        parts = list(enumerate(value))
    if not parts:
        is_whole = isinstance(value, float) and value.is_integer()
        yield path, json.dumps(int(value) if is_whole else value)
    for name, part in parts:
        yield from leaves(part, (*path, name))
