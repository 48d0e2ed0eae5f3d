"""Rules: the one form between what the user wrote and a machine.

A rule is a regular expression over bytes with calls of other rules; regexes,
JSON Schemas, choices and grammars all become ``Rules``.  Nodes never change
after they are built, and the functions below (not the classes) build them:
they drop what is empty, flatten and merge, so that no later stage meets a
dead branch.  Nodes compare by identity: a node used twice is shared, and
``machines`` builds a shared tail once.

``Chars`` is a set of code points that has no byte form yet (a regex does not
know whether it describes raw text or the inside of a JSON string);
``encode.py`` replaces it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stcon.syntax.charset import CharSet

ALL_BYTES = (1 << 256) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Expr:
    """A node; its language is a set of byte strings."""


@dataclass(frozen=True, slots=True, eq=False)
class Empty(Expr):
    """Nothing, not even the empty string."""


@dataclass(frozen=True, slots=True, eq=False)
class Literal(Expr):
    """Exactly ``data`` (the empty string when it is empty)."""

    data: bytes


@dataclass(frozen=True, slots=True, eq=False)
class ByteSet(Expr):
    """One byte; bit b of ``mask`` says whether byte b is a member."""

    mask: int


@dataclass(frozen=True, slots=True, eq=False)
class Chars(Expr):
    """One character of ``charset``, not encoded yet."""

    charset: CharSet


@dataclass(frozen=True, slots=True, eq=False)
class Concat(Expr):
    """The items one after the other."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Union(Expr):
    """Any one of the items."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Repeat(Expr):
    """``item`` at least ``least`` and at most ``most`` times (None: no bound)."""

    item: Expr
    least: int
    most: int | None


@dataclass(frozen=True, slots=True, eq=False)
class And(Expr):
    """What every item accepts; the items are call-free."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Not(Expr):
    """What ``item`` (call-free) does not accept.

    Over ``Chars`` the universe is every string of characters, over bytes
    every string of bytes.
    """

    item: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Table(Expr):
    """What a finite automaton accepts whose expression would be far larger, such as
    the multiples of a number.

    ``moves``: per state, pairs of a set of bytes (a mask) and the state it leads
    to; state 0 starts, those in ``accepts`` accept.
    """

    moves: tuple[tuple[tuple[int, int], ...], ...]
    accepts: frozenset[int]


@dataclass(frozen=True, slots=True, eq=False)
class Call(Expr):
    """What the rule called ``name`` accepts."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Tick(Expr):
    """Reads nothing; counts one in the ``Counted`` around it."""


@dataclass(frozen=True, slots=True, eq=False)
class Counted(Expr):
    """The texts of ``item`` that take ``least`` to ``most`` ticks (None: no bound),
    then ``close``, which takes none.

    At least one byte comes after a tick before the next one or the end.
    """

    item: Expr
    least: int
    most: int | None
    close: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """Named rules and the name of the one that starts.

    ``standard``: rules that many formats share; they call one another only, and
    ``rules`` holds them too, under the same names.  Machines keep what they
    find out about them, so it is one object for all formats of a kind, and
    ``name`` tells which.
    ``ambiguous``: rules that begin as other things at their places do; called, they
    need a second stack for a while, and written out at each place none.
    """

    rules: Mapping[str, Expr]
    start: str
    standard: Rules | None = None
    name: tuple[str | int, ...] = ()
    ambiguous: frozenset[str] = frozenset()

    @staticmethod
    def single(expr: Expr) -> Rules:
        """Rules of one rule, ``start``."""
        return Rules({"start": expr}, "start")


EMPTY = Empty()
EPSILON = Literal(b"")
TICK = Tick()


def literal(data: bytes | str) -> Expr:
    """The expression of exactly ``data``; text is taken as UTF-8."""
    raw = data.encode() if isinstance(data, str) else data
    return Literal(raw) if raw else EPSILON


def byte_set(mask: int) -> Expr:
    """One byte of the 256-bit set ``mask``."""
    return ByteSet(mask & ALL_BYTES) if mask & ALL_BYTES else EMPTY


def byte_range(first: int, last: int) -> Expr:
    """One byte from ``first`` to ``last``, both included."""
    return byte_set((1 << (last + 1)) - (1 << first))


def chars(charset: CharSet) -> Expr:
    """One character of ``charset``."""
    return Chars(charset) if charset else EMPTY


def concat(*items: Expr) -> Expr:
    """The items in sequence; empty if one is, neighbouring literals joined.

    A sequence in last place stays one node: machines build a shared tail once,
    so n optional properties cost n tails and not n * n / 2 copies.
    """
    flat: list[Expr] = []
    texts: list[Literal] = []  # neighbours, joined at once
    for place, item in enumerate(items, 1):
        spread = isinstance(item, Concat) and place < len(items)
        for part in item.items if spread else (item,):  # type: ignore[attr-defined]
            if part is EMPTY:
                return EMPTY
            if isinstance(part, Literal):
                texts += [part] if part.data else []
                continue
            _add_literal(texts, flat)
            flat.append(part)
    _add_literal(texts, flat)
    return _only(flat, EPSILON) or Concat(tuple(flat))


def _add_literal(texts: list[Literal], flat: list[Expr]) -> None:
    """Nothing; ``texts``, joined, are the last of ``flat``, and gone."""
    if len(texts) > 1:
        flat.append(Literal(b"".join(text.data for text in texts)))
    else:
        flat += texts
    texts.clear()


def union(*items: Expr) -> Expr:
    """Any of the items; byte sets and character sets are merged, and equal
    literals kept once."""
    flat: list[Expr] = []
    mask = 0
    charset: CharSet | None = None
    literals: dict[bytes, None] = {}
    for part in _flattened(items):
        if isinstance(part, ByteSet):
            mask |= part.mask
        elif isinstance(part, Chars):
            charset = part.charset if charset is None else charset | part.charset
        elif isinstance(part, Literal):
            literals[part.data] = None
        elif part is not EMPTY and part not in flat[-1:]:
            flat.append(part)
    flat += [EPSILON if not data else Literal(data) for data in literals]
    if mask:
        flat.append(byte_set(mask))
    if charset is not None:
        flat.append(chars(charset))
    return _only(flat, EMPTY) or Union(tuple(flat))


def either(one: Expr, other: Expr) -> Expr:
    """``one`` or ``other``.  A union in them stays one node, as ``union`` would not
    leave it: n tails that are each a way more than the next cost n."""
    if one is EMPTY or other is EMPTY:
        return one if other is EMPTY else other
    return Union((one, other))


def repeat(item: Expr, least: int, most: int | None) -> Expr:
    """``item`` from ``least`` to ``most`` times (None: without bound)."""
    if most is not None and (most < least or most < 0):
        return EMPTY
    if item is EMPTY:
        return EPSILON if least == 0 else EMPTY
    if item is EPSILON or most == 0:
        return EPSILON
    if (least, most) == (1, 1):
        return item
    star = isinstance(item, Repeat) and (item.least, item.most) == (0, None)
    return item if star else Repeat(item, least, most)


def counted(item: Expr, least: int, most: int | None, close: Expr = EPSILON) -> Expr:
    """The texts of ``item`` with ``least`` to ``most`` ticks (None: no bound), then
    ``close``.

    What surely comes after the last tick is better said to be ``close``: a text
    that may end after any character could pop anywhere, one that is closed only
    at its quote.
    """
    if item is EMPTY or close is EMPTY or (most is not None and most < least):
        return EMPTY
    if close is not EPSILON and not (
        isinstance(close, Literal) and len(close.data) == 1
    ):
        raise ValueError("what closes a counted item is one byte")
    return Counted(item, least, most, close)


def optional(item: Expr) -> Expr:
    """``item`` or nothing."""
    return repeat(item, 0, 1)


def star(item: Expr) -> Expr:
    """``item`` any number of times."""
    return repeat(item, 0, None)


def intersect(*items: Expr) -> Expr:
    """What all items accept."""
    flat: list[Expr] = []
    for item in items:
        for part in item.items if isinstance(item, And) else (item,):
            if part is EMPTY:
                return EMPTY
            if part not in flat:
                flat.append(part)
    return _only(flat, complement(EMPTY)) or And(tuple(flat))


def complement(item: Expr) -> Expr:
    """What ``item`` does not accept."""
    return item.item if isinstance(item, Not) else Not(item)


def parts(node: Expr) -> tuple[Expr, ...]:
    """The nodes that a node holds."""
    if isinstance(node, (Concat, Union, And)):
        return node.items
    if isinstance(node, Counted):
        return node.item, node.close
    return (node.item,) if isinstance(node, (Repeat, Not)) else ()


def _flattened(items: Iterable[Expr]) -> Iterable[Expr]:
    for item in items:
        if isinstance(item, Union):
            yield from item.items
        else:
            yield item


def _only(flat: list[Expr], nothing: Expr) -> Expr | None:
    """The one item, ``nothing`` for no item, None when there are several."""
    if len(flat) > 1:
        return None
    return flat[0] if flat else nothing
