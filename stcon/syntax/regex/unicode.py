"""Unicode properties and simple case folding, from the table ``unicode.txt``.

Python's own tables change with its version, so the library brings one set: a
pattern means the same everywhere.  ``tests/oracles/make_unicode_tables.py``
wrote the file and describes it; its first line names the version of Unicode.

Names are those of ECMA-262, spelt exactly: ``Lu``, ``Uppercase_Letter``,
``gc=Lu``, ``Script=Greek``, ``scx=Grek``, ``Alphabetic``.
Cost: 1 ms to read the file, 0.1 to 1 ms a property, each once.
"""

from __future__ import annotations

from bisect import bisect_right
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from itertools import accumulate

from stcon.syntax.charset import CharSet

_KINDS = {
    "General_Category": ("gc",),
    "gc": ("gc",),
    "Script": ("sc",),
    "sc": ("sc",),
    "Script_Extensions": ("scx", "sc"),
    "scx": ("scx", "sc"),
}


def find_property(name: str) -> CharSet | None:
    """The characters of ``\\p{name}``; None when there is no such property."""
    kind, equals, value = name.partition("=")
    # the table has extensions only where they differ from the script
    tried = _KINDS.get(kind, ()) if equals else ("gc", "binary")
    for short in tried:
        ranges = _table().get((short, value if equals else name))
        if ranges is not None:
            return _charset(ranges)
    return None


def similar_property(name: str) -> str:
    """The existing property closest to ``name``, or an empty text."""
    kind, equals, value = name.partition("=")
    if not equals and ("sc", name) in _table():
        return f"Script={name}"
    tried = _KINDS.get(kind, ()) if equals else ("gc", "binary")
    names = [known for short, known in _table() if short in tried]
    close = get_close_matches(value if equals else name, names, 1)
    return f"{kind}={close[0]}" if close and equals else "".join(close)


@lru_cache(maxsize=1024)
def folded(charset: CharSet) -> CharSet:
    """The members of ``charset`` and all that differ from one only in case."""
    classes = _same_case()
    firsts = [first for first, _ in charset.ranges]
    more: list[int] = []
    if len(charset) < len(classes):
        for first, last in charset.ranges:
            for member in range(first, last + 1):
                more += classes.get(member, ())
    else:
        for member, others in classes.items():
            at = bisect_right(firsts, member) - 1
            if at >= 0 and member <= charset.ranges[at][1]:
                more += others
    return charset | CharSet.of(*more)


@cache
def unicode_version() -> str:
    """The version of Unicode that the tables hold."""
    return _text().split(maxsplit=2)[1]


def _text() -> str:
    return files(__package__).joinpath("unicode.txt").read_text("ascii")


@cache
def _table() -> dict[tuple[str, str], str]:
    """(kind, name) to the ranges as the file has them."""
    rows = (line.split(" ", 2) for line in _text().splitlines())
    return {
        (kind, name): "".join(ranges)
        for kind, names, *ranges in rows
        for name in names.split(",")
    }


@lru_cache(maxsize=256)
def _charset(ranges: str) -> CharSet:
    """The set that words ``gap`` or ``gap+more`` describe."""
    pairs = []
    end = 0
    for word in ranges.split():
        gap, _, more = word.partition("+")
        first = end + int(gap, 16)
        last = first + int(more or "0", 16)
        pairs.append((first, last))
        end = last + 1
    return CharSet.of(*pairs)


@cache
def _same_case() -> dict[int, tuple[int, ...]]:
    """Each character that has others of its case class: the class."""
    classes: dict[int, tuple[int, ...]] = {}
    least = 0
    for word in _table()["fold", "simple"].split():
        gap, *steps = (int(step, 16) for step in word.split(","))
        least += gap
        members = tuple(accumulate(steps, initial=least))
        classes.update(dict.fromkeys(members, members))
    return classes
