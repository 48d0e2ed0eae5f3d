"""Limits on tokens: every output valid, nothing changed with room to spare."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stcon import LimitError, StconError, VocabularyError, constrain
from stcon.bench.cases import cases
from stcon.constraints.budget import BudgetConstraint, Place
from stcon.constraints.constraint import Constraint, State
from stcon.constraints.dfa import DfaConstraint
from stcon.constraints.pushdown import PushdownConstraint
from stcon.decode.processor import bind
from stcon.machines.compile import compile_expr
from stcon.machines.dfa import DEAD
from stcon.machines.pushdown import compile_pushdown
from stcon.syntax import rules as r
from stcon.tokens.vocabulary import Vocabulary
from tests.laws import laws
from tests.laws.test_laws import FORMATS, WORDS
from tests.laws.test_pushdown_laws import FORMATS as NESTED
from tests.laws.test_pushdown_laws import made as made_nested
from tests.machines.test_compile import random_expr
from tests.machines.test_pushdown import bodies
from tests.test_api import BYTES
from tests.trees import TREES
from tests.worlds import EOS, constraint, token

SCHEMAS = {**{c.name: c.schema for c in cases() if c.is_extraction}, **TREES}


def within(inner: Constraint, max_tokens: int) -> BudgetConstraint:
    found = inner.within(max_tokens)
    assert isinstance(found, BudgetConstraint)
    return found


def fewest(inner: Constraint, most: int = 40) -> int | None:
    """The fewest tokens of an output, by trying all tokens; None past ``most``."""
    ring: set[State] = {inner.start}
    for steps in range(most + 1):
        if any(map(inner.is_complete, ring)):
            return steps
        texts = [t for t in range(inner.vocabulary.size) if inner.vocabulary.is_text(t)]
        ring = {inner.advance(state, t) for state in ring for t in texts} - {DEAD}
    return None


def small(name: str) -> Constraint:
    if name in FORMATS:
        return constraint(FORMATS[name], *WORDS)
    return made_nested(r.Rules(NESTED[name], "s"), depth=1000)


SMALL = [*FORMATS, *NESTED]
DEARER = {"string": 1, "open end": 1, "no end": 2, "exactly": 1}
"""Tokens more that the text takes which a pushdown knows: of several rules that
read one letter each it takes one, and the tokens have another."""


def least_of(inner: Constraint) -> int:
    with pytest.raises(LimitError, match="the least is") as error:
        inner.within(-1)
    assert error.value.what == "tokens"
    return int(error.value.limit)


@pytest.mark.parametrize("name", SMALL)
def test_the_least_limit(name: str) -> None:
    inner = small(name)
    least = least_of(inner)
    exact = fewest(inner)
    assert exact is not None
    assert least == exact + DEARER.get(name, 0)
    text = inner.costs.text(inner.start)
    assert inner.matches(text) and inner.vocabulary.fewest.of(text) == least
    assert inner.within(least)
    if least:
        with pytest.raises(LimitError, match=f"the least is {least}"):
            inner.within(least - 1)


def write(limited: BudgetConstraint, rng: random.Random) -> bytes:
    """What random choices write, up to the limit; the mask is checked at each."""
    place, out = limited.start, b""
    for _ in range(limited.max_tokens):
        row = limited.allowed(place)
        assert row.any(), f"stuck after {out!r}"
        token = int(rng.choice(np.flatnonzero(row)))
        place = limited.advance(place, token)
        assert place != DEAD
        if token in limited.vocabulary.eos_ids:
            break
        out += limited.vocabulary.token_bytes(token)
    return out


@pytest.mark.parametrize("name", SMALL)
def test_every_output_is_valid(name: str) -> None:
    inner = small(name)
    least = inner.costs.least(inner.start)
    for extra in range(8):
        limited = within(inner, least + extra)
        for seed in range(4):
            out = write(limited, random.Random(seed))
            assert inner.matches(out), (limited.max_tokens, out)
            assert limited.matches(out)


def after(limited: BudgetConstraint, place: Place, tokens: np.ndarray) -> np.ndarray:
    return np.array([limited.advance(place, int(t)) != DEAD for t in tokens])


@pytest.mark.parametrize("name", SMALL)
def test_laws(name: str) -> None:
    """A token is allowed iff a step takes it, iff the rest can be finished; more left
    never forbids more, and with room all is as without a limit."""
    inner = small(name)
    least = inner.costs.least(inner.start)
    rows: dict[object, np.ndarray] = {}
    rng = random.Random(7)
    everything = np.arange(inner.vocabulary.size)
    for extra in (0, 1, 2, 5, 60):
        limited = within(inner, least + extra)
        for place in laws.walk(limited, rng, limited.max_tokens):
            row = limited.allowed(place)
            assert np.array_equal(row, after(limited, place, everything))
            free = inner.allowed(place.inner)
            assert (row <= free).all()
            assert np.array_equal(rows.setdefault(limited.row_key(place), row), row)
            more = place._replace(left=place.left + 1)
            assert (row <= limited.allowed(more)).all() or not place.left
            if limited.is_roomy(place):
                assert np.array_equal(row, free)
                assert limited.row_key(place) == inner.row_key(place.inner)
            if place.left:
                text = limited.shortest(place)
                assert inner.is_complete(inner.read(place.inner, text))
                assert inner.vocabulary.fewest.of(text) <= place.left
        if extra == 60:
            assert limited.is_roomy(limited.start)


@pytest.mark.parametrize("name", FORMATS)
def test_laws_that_say_nothing_of_limits(name: str) -> None:
    limited = within(small(name), 60)
    laws.check_forced(limited, 1)
    laws.check_outputs_are_valid(limited, 1)


words = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=12)


@settings(max_examples=100, deadline=None)
@given(random_expr(), words)
def test_random_formats_and_vocabularies(expr: r.Expr, texts: list[str]) -> None:
    """The least is that of a search, and no mask could allow more."""
    dfa = compile_expr(expr)
    tokens = Vocabulary.from_bytes([None, *(t.encode() for t in texts)], [0])
    try:
        inner = DfaConstraint.of(dfa, tokens, bind("host"))
    except StconError:
        return
    for state in range(1, dfa.states):
        twin = slow_least(inner, state)
        assert inner.costs.least(state) == twin
    least = inner.costs.least(inner.start)
    limited = within(inner, least + 2)
    for place in laws.walk(limited, random.Random(0), 8):
        for one in np.flatnonzero(inner.allowed(place.inner)):
            to = inner.advance(place.inner, int(one))
            fits = to == inner.end or slow_least(inner, to) < place.left
            assert limited.allowed(place)[one] == fits


def slow_least(inner: DfaConstraint, state: int) -> int:
    """By trying all tokens, breadth first; NEVER where no end is reached."""
    ring, seen = {state}, {state}
    texts = [t for t in range(inner.vocabulary.size) if inner.vocabulary.is_text(t)]
    steps = 0
    while ring:
        if any(map(inner.is_complete, ring)):
            return steps
        steps += 1
        ring = {inner.advance(s, t) for s in ring for t in texts} - {DEAD} - seen
        seen |= ring
    return 1 << 30


@settings(max_examples=60, deadline=None)
@given(bodies(), bodies(), words, st.integers(0, 4))
def test_random_pushdowns(s: r.Expr, t: r.Expr, texts: list[str], extra: int) -> None:
    """Also where some bytes have no token of their own."""
    machine = compile_pushdown(r.Rules({"s": s, "t": t}, "s"), depth=1000)
    tokens: list[bytes | None] = [None, *(text.encode() for text in texts), b"a", b"b"]
    try:
        vocabulary = Vocabulary.from_bytes(tokens, [0])
        inner = PushdownConstraint(machine, vocabulary, bind("host"))
        least = inner.costs.least(inner.start)
        limited = within(inner, least + extra)
        for seed in range(3):
            assert inner.matches(write(limited, random.Random(seed)))
    except VocabularyError:
        return
    except LimitError as error:
        assert "ways" in str(error) or "too long" in str(error)


def test_what_a_limit_says() -> None:
    inner = small("record")
    limited = within(inner, 5)
    assert limited.matches(b'{"a":12,"b":x}')
    assert not limited.matches(b'{"a":121212,"b":x}')  # too many tokens
    assert not limited.matches(b'{"a":12,"b":}')
    assert limited.explain(b'{"a":121212,"b":x}') == (
        "The text is valid, but it takes 7 tokens at least, and the limit is 5."
    )
    facts = limited.report()
    assert facts["max_tokens"] == 5 and facts["least_tokens"] == 4
    assert limited.fresh().allowed(limited.start).any()


def test_what_a_limit_refuses(tmp_path: Path) -> None:
    limited = small("record").within(9)
    with pytest.raises(StconError, match="a limit on tokens already"):
        limited.within(8)
    with pytest.raises(StconError, match="is not saved"):
        limited.save(tmp_path / "c")
    with pytest.raises(TypeError, match="a whole number"):
        small("record").within(9.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="on the host path only"):
        constrain(BYTES, regex="a*", path="traced", max_tokens=3)
    made = constrain(BYTES, regex="a*", max_tokens=3)
    assert made.matches("aaa") and not made.matches("aaaa")


def test_a_text_too_long_to_be_worked_out() -> None:
    long = {"type": "string", "minLength": 1 << 24}
    with pytest.raises(LimitError, match="too long to be worked out") as error:
        constrain(BYTES, {"anyOf": [long]}, max_tokens=1 << 30)
    assert error.value.what == "tokens"


def test_minima_still_to_come_are_in_the_cost() -> None:
    item = {"type": "string", "minLength": 40}
    schema = {"type": "array", "items": item, "minItems": 3, "maxItems": 5}
    inner = constrain(BYTES, {"$defs": {"t": schema}, "$ref": "#/$defs/t"}, depth=9)
    assert inner.costs.least(inner.start) == 3 * 42 + 2 + 2
    for text, left in (('["', 129), ('["' + "x" * 30, 99), ('["' + "x" * 50, 89)):
        state = inner.read(inner.start, text.encode())
        assert inner.costs.least(state) == left - 1
        assert inner.costs.is_roomy(state, left + 12)  # an escape is dearer


def test_the_end_needs_no_room() -> None:
    inner = small("bounded")
    limited = within(inner, 1)
    done = limited.advance(limited.start, token("7"))
    assert done == Place(inner.advance(inner.start, token("7")), 0)
    assert np.flatnonzero(limited.allowed(done)).tolist() == [EOS]
    end = limited.advance(done, EOS)
    assert limited.advance(end, EOS) == end
    assert np.flatnonzero(limited.allowed(end)).tolist() == [EOS]
    assert limited.advance(done, token("7")) == limited.advance(end, 5) == DEAD
