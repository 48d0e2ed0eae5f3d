"""One aligned table of text, and progress for people who watch."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TextIO

Cell = str | float | int | None


def table(head: Sequence[str], rows: Sequence[Sequence[Cell]], left: int = 1) -> str:
    """The rows below the head; the first ``left`` columns stand to the left,
    numbers to the right; None is a dash."""
    lines = [[str(title) for title in head]]
    lines += [[shown(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]

    def laid_out(line: Sequence[str]) -> str:
        cells = [
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    rule = "-" * len("  ".join("-" * width for width in widths))
    return "\n".join([laid_out(lines[0]), rule, *map(laid_out, lines[1:])])


def shown(cell: Cell) -> str:
    """A number with two or more digits that count; other things as they are."""
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}"
    if cell >= 100:
        return f"{cell:,.0f}"
    return f"{cell:.2g}" if cell < 1 else f"{cell:.1f}"


class Progress:
    """One line on stderr that says what is measured; silent unless a terminal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._is_shown = self._stream.isatty()

    def say(self, what: str) -> None:
        """Nothing; shows ``what`` in place of what was shown before."""
        if self._is_shown:
            self._stream.write(f"\r\x1b[K{what}")
            self._stream.flush()

    def clear(self) -> None:
        """Nothing; empties the line."""
        self.say("")
