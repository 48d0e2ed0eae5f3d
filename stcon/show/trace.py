"""One output, with what the format decided and what the model decided told apart."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stcon.constraints.constraint import Constraint
from stcon.decode.forced import Plan, Planner
from stcon.errors import HistoryError, StconError
from stcon.machines.dfa import DEAD

_FORCED, _CHOSEN, _PLAIN = "\x1b[2m", "\x1b[32m", "\x1b[0m"
_NAMES = {True: "forced", False: "sampled"}
_STYLE = {
    True: "background:#dbe9ff;color:#1c3d6e",
    False: "background:#e2f5dc;color:#1d4d12",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A token of an output: its id, its bytes, and whether the format forced it."""

    token: int
    data: bytes
    forced: bool


@dataclass(frozen=True)
class Trace:
    """The tokens of one output, in order.  Shows itself as text with
    ``str(trace)``, in a terminal with ``ansi()``, as HTML in notebooks."""

    pieces: tuple[Piece, ...]

    @property
    def forced(self) -> int:
        """How many tokens the format decided."""
        return sum(piece.forced for piece in self.pieces)

    @property
    def runs(self) -> int:
        """How many runs of the model the patched loop takes: one a sampled token."""
        return len(self.pieces) - self.forced

    def __str__(self) -> str:
        """The tokens between bars, forced ones in brackets."""
        shown = [f"[{t}]" if forced else t for t, forced in self._texts()]
        return "|".join(shown) + f"\n{self._summary()}"

    def ansi(self) -> str:
        """For a terminal: forced tokens dim, sampled ones green, in turn underlined."""
        out = []
        for place, (text, forced) in enumerate(self._texts()):
            line = "\x1b[4m" if place % 2 else ""
            out.append((_FORCED if forced else _CHOSEN) + line + text + _PLAIN)
        return "".join(out) + f"\n{self._summary()}"

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """A fragment of HTML: a box a token, blue if forced, green if sampled."""
        boxes = "".join(
            f'<span title="{_NAMES[forced]}" style="{_STYLE[forced]};'
            'padding:1px 0;margin:0 1px;border-radius:3px">'
            f"{html.escape(text)}</span>"
            for text, forced in self._texts()
        )
        return (
            '<div style="font-family:monospace;white-space:pre-wrap;line-height:1.8">'
            f'{boxes}</div><div style="font-family:sans-serif;font-size:85%">'
            f"{html.escape(self._summary())}</div>"
        )

    def _texts(self) -> Iterator[tuple[str, bool]]:
        """The characters each token finishes: those that end inside it."""
        begun = b""
        for piece in self.pieces:
            begun += piece.data
            text = begun.decode("utf-8", "ignore")
            rest = begun[len(text.encode()) :]
            if len(rest) > 3:  # no character is that long: bytes that are no text
                text, rest = begun.decode("utf-8", "replace"), b""
            begun = rest
            yield text, piece.forced

    def _summary(self) -> str:
        whole = len(self.pieces)
        share = f"{self.forced / whole:.0%}" if whole else "none"
        return f"{whole} tokens, {self.forced} forced ({share}), {self.runs} model runs"


def trace(constraint: Constraint, output: str | Sequence[int]) -> Trace:
    """What of ``output`` the format decided.

    ``output``: token ids, end-of-text ids apart, or text, which is split as the
    tokenizer does.  A token is forced when the patched loop would feed it without
    asking the model.  Raises HistoryError where the format does not allow it,
    StconError for text where only the bytes of a vocabulary are known.
    """
    if not isinstance(constraint, Constraint):
        raise TypeError(f"trace takes a constraint first, not {constraint!r:.60}")
    if not isinstance(output, (str, Sequence)):
        raise TypeError(f"an output is text or token ids, not {output!r:.60}")
    vocabulary = constraint.vocabulary
    split = vocabulary.split
    if isinstance(output, str):
        if split is None:
            raise StconError(
                "the tokenizer behind this vocabulary is not known",
                hint="give token ids, or make the constraint from a tokenizer",
            )
        output = split.encode(output)
    tokens = [token for token in output if token not in vocabulary.eos_ids]
    planner = Planner(constraint, split) if split is not None else None
    return Trace(tuple(_pieces(constraint, planner, tokens)))


def _pieces(
    constraint: Constraint, planner: Planner | None, tokens: list[int]
) -> Iterator[Piece]:
    state = constraint.start
    plan = planner.start(state) if planner else Plan((), state)
    waiting = list(plan.tokens)
    for place, token in enumerate(tokens):
        forced = bool(waiting) and waiting[0] == token
        state = constraint.advance(state, token)
        if state == DEAD:
            data = constraint.vocabulary.token_bytes(token)
            raise HistoryError(
                f"token {token} ({data!r}) at position {place} is not allowed there",
                position=place,
                hint="constraint.explain(text) says more",
            )
        yield Piece(token, constraint.vocabulary.token_bytes(token), forced)
        if forced:
            del waiting[0]
        elif planner is not None:
            plan = planner.after(token, state)
            waiting = [] if plan.heals else list(plan.tokens)
