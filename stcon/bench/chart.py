"""A chart of ``bench decode`` as SVG, written by hand: bars of runs per token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

_COLOURS = ("#0b6e99", "#8cc4d9", "#f0c08a", "#c8651b")
_INK, _FAINT, _PAPER = "#24292f", "#d0d7de", "#ffffff"
_WANTED = 0.7
_BAR, _GAP = 22, 28
_LEFT, _TOP, _HEIGHT, _BOTTOM = 48, 70, 220, 34


def chart(result: Mapping[str, Any]) -> str:
    """An SVG document: for each schema, and for all, a bar for each engine."""
    groups = [*result["schemas"], {"name": "all", "engines": result["overall"]}]
    names = list(result["overall"])
    width = _LEFT + len(groups) * (len(names) * _BAR + _GAP) + 16
    width = max(width, _LEFT + 170 * len(names))
    height = _TOP + _HEIGHT + _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="{_INK}">',
        "<title>Model runs for each token of the answer</title>",
        f'<rect width="{width}" height="{height}" fill="{_PAPER}"/>',
        _words(_LEFT, 20, "Model runs for each token of the answer", size=14),
        *_legend(names),
        *_scale(width),
    ]
    for at, group in enumerate(groups):
        left = _LEFT + _GAP / 2 + at * (len(names) * _BAR + _GAP)
        parts += _bars(group, names, left)
    return "\n".join([*parts, "</svg>\n"])


def _legend(names: list[str]) -> Iterator[str]:
    for at, name in enumerate(names):
        x = _LEFT + 170 * at
        yield _rectangle(x, 32, 12, 12, _colour(at))
        yield _words(x + 18, 42, name)


def _scale(width: float) -> Iterator[str]:
    """Lines at each fifth, and a dashed one at what is wanted."""
    for fifth in range(6):
        yield _line(width, _height_of(fifth / 5), _FAINT)
    yield _line(width, _height_of(_WANTED), "#57606a", ' stroke-dasharray="4 4"')
    for share in (0, 0.2, 0.4, 0.6, _WANTED, 0.8, 1):
        yield _words(_LEFT - 8, _height_of(share) + 4, f"{share:g}", anchor="end")


def _bars(group: Mapping[str, Any], names: list[str], left: float) -> Iterator[str]:
    for at, name in enumerate(names):
        share = group["engines"].get(name, {}).get("runs_per_token")
        if share is None:  # refused
            continue
        x, y = left + at * _BAR, _height_of(share)
        said = f"{group['name']}, {name}: {share:.2f}"
        yield _rectangle(x, y, _BAR - 2, _height_of(0) - y, _colour(at), said)
        middle = x + _BAR / 2 - 1
        yield _words(middle, y - 4, f"{share:.2f}", anchor="middle", size=9)
    middle = left + len(names) * _BAR / 2
    yield _words(middle, _height_of(0) + 18, group["name"], anchor="middle")


def _colour(at: int) -> str:
    return _COLOURS[at % len(_COLOURS)]


def _height_of(share: float) -> float:
    return _TOP + _HEIGHT * (1 - share)


def _rectangle(
    x: float, y: float, width: float, height: float, colour: str, said: str = ""
) -> str:
    shape = f'x="{x:g}" y="{y:.1f}" width="{width:g}" height="{height:.1f}"'
    inside = f"<title>{escape(said)}</title>" if said else ""
    return f'<rect {shape} fill="{colour}">{inside}</rect>'


def _line(width: float, y: float, colour: str, more: str = "") -> str:
    ends = f'x1="{_LEFT}" x2="{width - 8:g}" y1="{y:.1f}" y2="{y:.1f}"'
    return f'<line {ends} stroke="{colour}"{more}/>'


def _words(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 12
) -> str:
    place = f'x="{x:g}" y="{y:.1f}" font-size="{size}"'
    return f"<text {place} text-anchor={quoteattr(anchor)}>{escape(text)}</text>"
