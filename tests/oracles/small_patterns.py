"""Every regular expression up to a size, built from given atoms."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

AROUND = ("(?:%s)*", "(?:%s)?", "(?:%s)+", "(?:%s){2}", "(?:%s){1,2}", "(?:%s){2,}")
LOOKS = ("(?=%s)", "(?!%s)")


def patterns(size: int, atoms: Sequence[str], around: Sequence[str]) -> list[str]:
    """The different patterns of ``size`` nodes: an atom, one of ``around`` over a
    pattern, two patterns in sequence, or two as alternatives."""
    by_size: list[list[str]] = [[], list(atoms)]
    for n in range(2, size + 1):
        made = [form % inner for inner in by_size[n - 1] for form in around]
        for k in range(1, n - 1):
            for left, right in itertools.product(by_size[k], by_size[n - 1 - k]):
                made += [_grouped(left) + _grouped(right), f"{left}|{right}"]
        by_size.append(list(dict.fromkeys(made)))
    return by_size[size]


def _grouped(pattern: str) -> str:
    return f"(?:{pattern})" if "|" in pattern else pattern
