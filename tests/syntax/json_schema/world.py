"""A small world of JSON values, and whether rules let one be written."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

from stcon.machines.compile import calls_itself, compile_rules
from stcon.machines.pushdown import compile_pushdown
from stcon.syntax.rules import Rules

SCALARS: list[Any] = [None, True, False, 0, 1, 2, -1, 3, 10, 0.5, 1.5, -2.25]
SCALARS += ["", "a", "b", "ab", "abc", "a\n"]
SMALL: list[Any] = [None, True, 0, 1, 2, "", "a", "ab"]


def _arrays() -> Iterator[Any]:
    for length in range(3):
        yield from map(list, itertools.product(SMALL, repeat=length))
    yield from map(list, itertools.product([0, 1, "a"], repeat=3))
    yield from ([[]], [[1]], [{}], [{"a": 1}, {"a": 2}], [[0], [0]], [1, 2, 0, 1])


def _objects() -> Iterator[Any]:
    for length in range(4):
        for keys in itertools.combinations("abcd", length):
            values = SMALL if length < 2 else [0, 1, "a"] if length < 3 else [1, "a"]
            for found in itertools.product(values, repeat=length):
                yield dict(zip(keys, found, strict=True))
    yield from ({"x-1": 1}, {"x-1": "a"}, {"x-1": 1, "a": 1}, {"": 1}, {"ab": 1})
    yield from ({"a": {"a": 1}}, {"a": {"b": {}}}, {"a": [1]}, {"a": {"a": {"a": 1}}})
    yield {"a": 1, "b": 1, "c": 1, "d": 1}


WORLD: list[Any] = [*SCALARS, *_arrays(), *_objects()]


def texts(value: Any) -> Iterator[str]:
    """The compact texts of ``value``, one for every order of its keys."""
    if isinstance(value, dict):
        for names in itertools.permutations(value):
            for members in itertools.product(*(list(texts(value[n])) for n in names)):
                pairs = zip(names, members, strict=True)
                yield "{" + ",".join(f"{json.dumps(n)}:{t}" for n, t in pairs) + "}"
    elif isinstance(value, list):
        for members in itertools.product(*(list(texts(item)) for item in value)):
            yield "[" + ",".join(members) + "]"
    else:
        yield json.dumps(value, ensure_ascii=False)


TEXTS: list[tuple[Any, list[bytes]]] = [
    (value, [text.encode() for text in texts(value)]) for value in WORLD
]


def matcher(rules: Rules) -> Callable[[bytes], bool]:
    """Whether a text is in the language of ``rules``."""
    if not calls_itself(rules):
        return compile_rules(rules).matches
    machine = compile_pushdown(rules)
    return lambda data: machine.is_complete(machine.run(machine.start, data))
