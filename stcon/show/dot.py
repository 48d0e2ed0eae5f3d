"""A finite automaton as a graph in the DOT language, forced chains drawn as one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from stcon.errors import LimitError
from stcon.machines.dfa import DEAD, Dfa

_MOST_NODES = 400
_LONGEST = 24


def dot(dfa: Dfa) -> str:
    """The graph of ``dfa``.  States that lead on by one byte alone are drawn into
    one arrow.  Raises LimitError when more than 400 would be drawn."""
    drawn = [q for q in range(1, dfa.states) if q == dfa.start or not _is_inner(dfa, q)]
    if len(drawn) > _MOST_NODES:
        raise LimitError(
            f"{len(drawn):,} states are too many to look at",
            what="states",
            limit=_MOST_NODES,
            hint="show a smaller format",
        )
    lines = ["digraph format {", '  rankdir=LR; node [shape=circle, label=""];']
    lines += [f"  s{q} [shape=doublecircle];" for q in drawn if dfa.accepts[q]]
    lines.append(f"  start [shape=point]; start -> s{dfa.start};")
    for state in drawn:
        for to, label in _arrows(dfa, state):
            lines.append(f"  s{state} -> s{to} [label={_quoted(label)}];")
    return "\n".join([*lines, "}"]) + "\n"


def _is_inner(dfa: Dfa, state: int) -> bool:
    """Whether a state is only passed through."""
    return int(dfa.forced_byte[state]) >= 0


def _arrows(dfa: Dfa, state: int) -> list[tuple[int, str]]:
    """(state drawn next, label) of each way on from ``state``."""
    found = []
    for to in np.unique(dfa.next[state]).tolist():
        if to == DEAD:
            continue
        reads = np.flatnonzero(dfa.next[state][dfa.byte_class] == to).tolist()
        label, at = _set(reads), to
        while _is_inner(dfa, at) and at != dfa.start:
            byte = int(dfa.forced_byte[at])
            label += _char(byte)
            at = dfa.step(at, byte)
        found.append((at, label))
    return found


def _set(reads: list[int]) -> str:
    if len(reads) == 1:
        return _char(reads[0])
    if len(reads) == 256:
        return "any byte"
    breaks = [i + 1 for i, (a, b) in enumerate(pairwise(reads)) if b != a + 1]
    parts = [reads[i:j] for i, j in pairwise([0, *breaks, len(reads)])]
    shown = [
        _char(p[0]) if len(p) == 1 else f"{_char(p[0])}-{_char(p[-1])}" for p in parts
    ]
    return "[" + "".join(shown) + "]"


def _char(byte: int) -> str:
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02X}"


def _quoted(label: str) -> str:
    if len(label) > _LONGEST:
        label = label[: _LONGEST // 2] + "..." + label[-_LONGEST // 2 :]
    return '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'
