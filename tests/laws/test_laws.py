"""Laws 1, 2 and 6 on small vocabularies: exhaustive, then hypothesis."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stcon import ConstraintFileError, StconError, VocabularyError, load
from stcon.constraints.constraint import Constraint
from stcon.constraints.dfa import DfaConstraint
from stcon.decode.processor import bind
from stcon.machines.compile import compile_expr
from stcon.machines.dfa import DEAD
from stcon.syntax import rules as r
from stcon.tokens.vocabulary import Vocabulary
from tests.laws import laws
from tests.machines.test_compile import random_expr
from tests.worlds import constraint, digits, record, vocabulary

WORDS = [b'{"', b'":', b"12", b"0}", b"x}", b'{"a":1', b'"b":x', b"ab", b"ba", b"bab"]
FORMATS = {
    "record": record(),
    "digits": digits(),
    "bounded": digits(3),
    "choices": r.union(*map(r.literal, ("ab", "abba", "ba", "b"))),
    "empty or not": r.optional(r.literal("ab")),
    "loop": r.star(r.union(r.literal("ab"), r.literal("ba"))),
    "not": r.intersect(
        r.repeat(r.byte_range(97, 98), 1, 4), r.complement(r.literal("ab"))
    ),
}


@pytest.fixture(params=FORMATS)
def made(request: pytest.FixtureRequest) -> Constraint:
    return constraint(FORMATS[request.param], *WORDS)


@pytest.mark.parametrize("seed", range(3))
def test_laws(made: Constraint, seed: int) -> None:
    laws.check_mask_is_accept(made, seed)
    laws.check_outputs_are_valid(made, seed)
    laws.check_forced(made, seed)


def test_every_state_and_token(made: DfaConstraint) -> None:
    for state in range(1, made.dfa.states):
        want = laws.slow_mask(made, state, ended=False)
        assert np.array_equal(made.allowed(state), want)
    end = made.allowed(made.end)
    assert np.flatnonzero(end).tolist() == list(made.vocabulary.eos_ids)


tokens = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=12)


@settings(max_examples=150, deadline=None)
@given(random_expr(), tokens)
def test_random_formats_and_vocabularies(expr: r.Expr, texts: list[str]) -> None:
    dfa = compile_expr(expr)
    made = Vocabulary.from_bytes([None, *(t.encode() for t in texts)], [0])
    if dfa.start == DEAD:
        with pytest.raises(StconError, match="no text at all"):
            DfaConstraint.of(dfa, made, bind("host"))
        return
    try:
        found = DfaConstraint.of(dfa, made, bind("host"))
    except VocabularyError:
        assert has_dead_end(dfa, made)
        return
    assert not has_dead_end(dfa, made)
    laws.check_mask_is_accept(found, 0)


def has_dead_end(dfa: object, made: Vocabulary) -> bool:
    """Whether tokens reach a state from which none lead to acceptance: plain
    search over byte-by-byte steps."""
    texts = [made.token_bytes(t) for t in range(made.size) if made.is_text(t)]

    def after(state: int) -> set[int]:
        return {dfa.run(t, state) for t in texts} - {DEAD}  # type: ignore[attr-defined]

    def closure(first: set[int]) -> set[int]:
        seen, todo = set(first), list(first)
        while todo:
            for to in after(todo.pop()) - seen:
                seen.add(to)
                todo.append(to)
        return seen

    return not all(
        any(dfa.accepts[q] for q in closure({state}))  # type: ignore[attr-defined]
        for state in closure({dfa.start})  # type: ignore[attr-defined]
    )


def test_the_bytes_no_token_produces_are_named() -> None:
    only = Vocabulary.from_bytes([None, b"a", b"b"], [0])
    with pytest.raises(VocabularyError, match=r"at the start.*starts with one of 'z'"):
        DfaConstraint.of(compile_expr(r.literal("z")), only, bind("host"))
    late = compile_expr(r.concat(r.literal("ab"), r.literal("z")))
    with pytest.raises(VocabularyError, match=r"'z'"):
        DfaConstraint.of(late, only, bind("host"))


def test_several_end_tokens_and_special_ones() -> None:
    made = Vocabulary.from_bytes([b"a", None, None, None, b"b"], [1, 3])
    found = DfaConstraint.of(compile_expr(r.literal("a")), made, bind("host"))
    assert found.allowed(found.start).tolist() == [True, False, False, False, False]
    done = found.advance(found.start, 0)
    assert found.allowed(done).tolist() == [False, True, False, True, False]
    for eos in (1, 3):
        end = found.advance(done, eos)
        assert found.allowed(end).tolist() == [False, True, False, True, False]
    assert found.advance(done, 2) == found.advance(done, 0) == DEAD


def test_same_inputs_same_bytes_and_saved_ones(made: DfaConstraint) -> None:
    again = DfaConstraint.of(made.dfa, vocabulary(*WORDS), bind("host"))
    assert again.table.tobytes() == made.table.tobytes()
    assert again.class_of.tobytes() == made.class_of.tobytes()


def test_save_and_load(made: DfaConstraint, tmp_path: Path) -> None:
    file = tmp_path / "c.stcon"
    made.save(file)
    back = load(file, made.vocabulary)
    assert isinstance(back, DfaConstraint)
    for name in ("table", "class_of"):
        have, want = getattr(back, name), getattr(made, name)
        assert have.dtype == want.dtype and have.tobytes() == want.tobytes()
    assert back.report() == made.report()
    made.save(tmp_path / "d.stcon")
    assert (tmp_path / "d.stcon").read_bytes() == file.read_bytes()
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["c.stcon", "d.stcon"]


def test_files_that_cannot_be_believed(tmp_path: Path) -> None:
    made = constraint(record(), *WORDS)
    file = tmp_path / "c.stcon"
    made.save(file)
    whole = file.read_bytes()
    other = vocabulary(b"other")
    with pytest.raises(ConstraintFileError, match="another vocabulary"):
        load(file, other)
    for damaged in (
        b"",
        b"junk",
        whole[:-1],
        whole[:100],
        whole.replace(b'"stcon": 1', b'"stcon": 9'),
        whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:],
    ):
        file.write_bytes(damaged)
        with pytest.raises(ConstraintFileError):
            load(file, made.vocabulary)
    with pytest.raises(OSError):
        load(tmp_path / "none", made.vocabulary)
