"""A refusal in words: where, what was found, what would have been right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stcon.errors import LimitError, visible
from stcon.machines.dfa import DEAD

if TYPE_CHECKING:
    from stcon.constraints.constraint import Constraint

_CONTEXT = 40
_SHOWN_RANGES = 12


def explain(constraint: Constraint, data: bytes) -> str:
    """Why ``data`` is refused, with its place and a right continuation; or that
    it is valid.  Linear in ``data``, plus one search of the machine."""
    state = constraint.start
    for at, byte in enumerate(data):
        try:
            after = constraint.read(state, bytes([byte]))
        except LimitError as error:
            return f"The text is refused at {_place(data, at)}: {error.message}."
        if after == DEAD:
            return _refused(constraint, data, at, state)
        state = after
    if constraint.is_complete(state):
        return "The text is valid."
    return _unfinished(constraint, data, state)


def _refused(constraint: Constraint, data: bytes, at: int, state: int) -> str:
    found = _character_at(data, at)
    expected = _expected(constraint, state)
    return (
        f"The text is refused at {_place(data, at)}: found {found}, "
        f"expected {expected}.\n{_caret(data, at)}"
    )


def _unfinished(constraint: Constraint, data: bytes, state: int) -> str:
    try:
        completion = _show(constraint.shortest(state))
    except LimitError:
        completion = "too long to be worked out"
    return (
        f"The text stops too early, at {_place(data, len(data))}: "
        f"expected {_expected(constraint, state)}.\n"
        f"{_caret(data, len(data))}\n"
        f"A shortest way to finish it: {completion}"
    )


def _expected(constraint: Constraint, state: int) -> str:
    """What may come in ``state``, in words."""
    forced = constraint.forced(state)
    if forced:
        return _show(forced)
    live = constraint.live(state)
    end = "the end of the text"
    if not live:
        return end
    words = _ranges([b for b in live if b < 0x80])
    if any(b >= 0x80 for b in live):
        words.append("a character beyond ASCII")
    if len(words) > _SHOWN_RANGES:
        words = [*words[:_SHOWN_RANGES], "..."]
    if constraint.is_complete(state):
        words.append(end)
    return words[0] if len(words) == 1 else "one of " + ", ".join(words)


def _ranges(live: list[int]) -> list[str]:
    """Runs of ASCII bytes as ``'a'`` or ``'a' to 'z'``."""
    runs: list[list[int]] = []
    for byte in live:
        if runs and byte == runs[-1][1] + 1:
            runs[-1][1] = byte
        else:
            runs.append([byte, byte])
    return [
        repr(chr(first)) if first == last else f"{chr(first)!r} to {chr(last)!r}"
        for first, last in runs
    ]


def _place(data: bytes, at: int) -> str:
    """Character number, line and column (from 1) of byte ``at``."""
    before = data[:at].decode("utf-8", "replace")
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    return f"character {len(before) + 1} (line {line}, column {column})"


def _caret(data: bytes, at: int) -> str:
    """The text around byte ``at`` on one line, and a caret below the place."""
    head = data[:at].decode("utf-8", "replace")[-_CONTEXT:]
    tail = data[at:].decode("utf-8", "replace")[:_CONTEXT]
    before, after = visible(head), visible(tail)
    return f"    {before}{after}\n    {' ' * len(before)}^"


def _character_at(data: bytes, at: int) -> str:
    """The character that holds byte ``at``, quoted."""
    first = at
    while first > 0 and first > at - 3 and data[first] & 0xC0 == 0x80:
        first -= 1
    try:
        return repr(data[first : first + 4].decode("utf-8", "ignore")[0])
    except IndexError:
        return f"byte 0x{data[at]:02x}, which is not UTF-8 here"


def _show(data: bytes) -> str:
    """Text for people, shortened when long."""
    text = data.decode("utf-8", "replace")
    return repr(text if len(text) <= 60 else text[:57] + "...")
