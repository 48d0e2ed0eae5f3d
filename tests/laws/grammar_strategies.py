"""Random grammars, small and wild: left recursion, ambiguity, rules without text."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.oracles.earley import Productions, Symbol

NAMES = ("root", "x", "y", "z")
LETTERS = (b"a", b"b", b"c")


@st.composite
def productions(draw: st.DrawFn) -> Productions:
    """Productions of one to four rules over three letters."""
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    symbol: st.SearchStrategy[Symbol] = st.one_of(
        st.sampled_from(names), st.sampled_from(LETTERS)
    )
    bodies = st.lists(
        st.lists(symbol, max_size=4).map(tuple), min_size=1, max_size=4, unique=True
    )
    return {name: draw(bodies) for name in names}


def as_gbnf(grammar: Productions) -> str:
    """The same grammar as GBNF."""
    return "\n".join(
        f"{name} ::= " + " | ".join(_written(body) for body in bodies)
        for name, bodies in grammar.items()
    )


def _written(body: tuple[Symbol, ...]) -> str:
    if not body:
        return '""'
    return " ".join(s if isinstance(s, str) else f'"{s.decode()}"' for s in body)
