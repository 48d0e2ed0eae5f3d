"""Class table, walk and rows on demand: the same bits, alone and in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import mlx.core as mx
import numpy as np
import pytest
from numpy.typing import NDArray

from stcon import Limits, constrain
from stcon.bench.cases import cases, form
from stcon.constraints.budget import Place
from stcon.constraints.dfa import DfaConstraint
from stcon.machines.dfa import DEAD
from stcon.metal import walk as walking
from stcon.metal.advance import advance
from stcon.metal.mask import KERNEL as MASK
from stcon.metal.mask import checked, mask
from stcon.metal.samples import automaton, constraint, int32, some_constraints
from stcon.metal.samples import vocabulary as small_vocabulary
from stcon.metal.tables import NO_GRAMMAR, NO_LIMIT, TokenTables
from stcon.metal.walk import ByteTables, mask_walked, step_walked, walk
from stcon.tokens.vocabulary import Vocabulary
from tests import assets
from tests.mslshim.runner import CpuKernel, need_text

SIZES = (8, 12, 16, 24, 32, 40, 48, 64, 80, 96)
RANDOM = 200
LARGEST = 5_000


def rows_on_demand(one: DfaConstraint, states: Sequence[int]) -> NDArray[np.bool_]:
    return np.stack([one.allowed(state) for state in states])


def open_logits(masked: mx.array) -> NDArray[np.bool_]:
    return np.array(masked.astype(mx.float32)) == 0


def zeros(rows: int, width: int) -> mx.array:
    return mx.zeros((rows, width))


@cache
def random_constraint(seed: int) -> DfaConstraint:
    """Automata of 2 to 5,000 states, small ones more often."""
    states = int(2 * (LARGEST / 2) ** (seed / (RANDOM - 1)))
    return constraint(automaton(seed, states), small_vocabulary(seed % 5))


@pytest.mark.parametrize("first", range(0, RANDOM, 25))
def test_random_automata_alone(first: int) -> None:
    """Every state × token, by the kernels' own texts."""
    need_text()
    walked = CpuKernel(walking.KERNEL.for_metal(), schedules=1)
    masked = CpuKernel(MASK.for_metal(), schedules=1)
    for seed in range(first, first + 25):
        one = random_constraint(seed)
        count, width = one.dfa.states + 1, one.vocabulary.size
        state, grammar = mx.arange(count).astype(mx.int32), mx.zeros(count, mx.int32)
        want = one.table[:, one.class_of]
        arguments = walking.checked(ByteTables([one]), grammar, state, width)
        after = np.array(walking.KERNEL.on(walked, arguments)[0])
        assert np.array_equal(after[1:], want[1:]), seed
        logits = mx.zeros((count, width), mx.float16)
        found = checked(TokenTables([one]), grammar, state, None, logits)
        have = open_logits(MASK.on(masked, found)[0])
        assert np.array_equal(have[1:], rows_on_demand(one, range(1, count))), seed


def test_random_automata_in_batches_of_sixteen() -> None:
    rng = np.random.default_rng(0)
    for first in range(0, 192, 16):
        batch = [random_constraint(seed) for seed in range(0, RANDOM, 5)]
        batch = batch[first // 16 :][:16]
        check_batch(batch, rng, rounds=6)


def check_batch(
    batch: Sequence[DfaConstraint], rng: np.random.Generator, rounds: int
) -> None:
    """All three paths along random tokens, a row a grammar and one without."""
    width = batch[0].vocabulary.size + 3
    tables, automata = TokenTables(batch), ByteTables(batch)
    grammar = int32([*range(len(batch)), NO_GRAMMAR])
    state = int32([*(one.start for one in batch), 7])
    logits = zeros(len(batch) + 1, width)
    for _ in range(rounds):
        after = walk(automata, grammar, state, width)
        masked = open_logits(mask(tables, grammar, state, None, logits))
        walked = open_logits(mask_walked(automata, grammar, after, None, logits))
        states: list[int] = state.tolist()  # type: ignore[assignment]
        assert np.array_equal(masked, walked)
        for row, one in enumerate(batch):
            assert np.array_equal(masked[row, :-3], one.allowed(states[row]))
        assert not masked[:-1, -3:].any() and masked[-1].all()
        tokens = [int(rng.choice(np.flatnonzero(row[:-3]))) for row in masked]
        token = int32(tokens)
        stepped, _ = step_walked(automata, grammar, state, None, after, token)
        state, _ = advance(tables, grammar, state, None, token)
        assert state.tolist() == stepped.tolist()
        want = [one.advance(*x) for one, *x in zip(batch, states, tokens, strict=False)]
        assert state.tolist() == [*want, 7]


@pytest.mark.parametrize("left", [0, 1, 2, 5, 40])
def test_limits_are_those_of_the_constraint(left: int) -> None:
    batch = some_constraints()
    tables, automata = (kind(batch, limits=True) for kind in (TokenTables, ByteTables))
    for number, one in enumerate(batch):
        count = one.dfa.states
        state = int32(range(1, count + 1))
        grammar, lefts = int32([number] * count), int32([left] * count)
        logits = zeros(count, one.vocabulary.size)
        have = open_logits(mask(tables, grammar, state, lefts, logits))
        want = [one.costs.allowed(place, left) for place in range(1, count + 1)]
        assert np.array_equal(have, np.stack(want))
        after = walk(automata, grammar, state, one.vocabulary.size)
        walked = open_logits(mask_walked(automata, grammar, after, lefts, logits))
        assert np.array_equal(have, walked)


def test_steps_under_a_limit_are_those_of_the_constraint() -> None:
    batch = some_constraints()
    tables = TokenTables(batch, limits=True)
    for number, one in enumerate(batch):
        least = int(one.costs.least(one.start))
        limited = one.within(least + 2)
        for token in range(one.vocabulary.size):
            place = limited.advance(limited.start, token)
            state, left = advance(
                *(tables, int32([number]), int32([one.start])),
                *(int32([least + 2]), int32([token])),
            )
            have = (int(state.item()), int(left.item()))
            assert have[0] == (place if place == DEAD else place.inner)
            if isinstance(place, Place):
                assert have[1] == place.left


def test_a_row_that_went_wrong_ends() -> None:
    one = some_constraints()[0]
    tables = TokenTables([one])
    grammar, dead = int32([0]), int32([DEAD])
    logits = zeros(1, one.vocabulary.size)
    masked = open_logits(mask(tables, grammar, dead, None, logits))
    assert np.flatnonzero(masked[0]).tolist() == list(one.vocabulary.eos_ids)
    state, _ = advance(tables, grammar, dead, None, int32([one.vocabulary.eos_ids[0]]))
    assert state.tolist() == [one.end]


@pytest.fixture(scope="module")
def real() -> Vocabulary:
    """The vocabulary of Qwen3.5, 248,070 tokens."""
    found = assets.tokenizer("qwen3.5")
    return Vocabulary.of(found.tokenizer, found.eos_ids)


def finite(vocabulary: Vocabulary, schema: object) -> DfaConstraint:
    made = constrain(vocabulary, schema, path="traced", limits=Limits(seconds=60))
    assert isinstance(made, DfaConstraint)
    return made


@pytest.mark.parametrize("name", [case.name for case in cases()])
def test_schemas_on_a_real_vocabulary(real: Vocabulary, name: str) -> None:
    """Every 40th state × every token, by the kernels' own texts; docs/kernels.md tells
    of the run with every state."""
    need_text()
    schema = next(case.schema for case in cases() if case.name == name)
    one = finite(real, schema)
    for states in chunks(range(1, one.dfa.states + 1, 40)):
        compare_kernels(one, states)


def chunks(states: Sequence[int], size: int = 64) -> Iterator[Sequence[int]]:
    for at in range(0, len(states), size):
        yield states[at : at + size]


def compare_kernels(one: DfaConstraint, states: Sequence[int]) -> None:
    """The kernels' texts on the CPU against the token table, bit for bit."""
    width = one.vocabulary.size
    state, grammar = int32(states), int32([0] * len(states))
    cpu = CpuKernel(walking.KERNEL.for_metal(), schedules=1)
    arguments = walking.checked(ByteTables([one]), grammar, state, width)
    have = np.array(walking.KERNEL.on(cpu, arguments)[0])
    want = one.table[state.tolist()][:, one.class_of]
    assert np.array_equal(have, want)
    cpu = CpuKernel(MASK.for_metal(), schedules=1)
    logits = mx.zeros((len(states), width), mx.float16)
    found = checked(TokenTables([one]), grammar, state, None, logits)
    masked = MASK.on(cpu, found)[0]
    assert np.array_equal(open_logits(masked), want != DEAD)


def test_sixteen_formats_on_a_real_vocabulary(real: Vocabulary) -> None:
    """Six extraction schemas and ten forms: their size together, and their bits."""
    schemas = [case.schema for case in cases() if case.is_extraction]
    batch = [finite(real, schema) for schema in (*schemas, *map(form, SIZES))]
    tables, automata = TokenTables(batch, limits=True), ByteTables(batch, limits=True)
    assert tables.nbytes + automata.nbytes < 8e6
    rng = np.random.default_rng(1)
    grammar = int32(range(16))
    for _ in range(4):
        states = [int(rng.integers(1, one.dfa.states + 1)) for one in batch]
        left = np.where(np.arange(16) % 3 == 0, NO_LIMIT, rng.integers(1, 60, 16))
        masked = open_logits(
            mask(tables, grammar, int32(states), int32(left), zeros(16, real.size))
        )
        for row, one in enumerate(batch):
            want = one.costs.allowed(states[row], int(left[row]))
            if left[row] == NO_LIMIT:
                want = one.allowed(states[row])
            assert np.array_equal(masked[row], want)


def test_the_typed_tool_grammar_is_small(real: Vocabulary) -> None:
    schema = next(case.schema for case in cases() if case.name == "tools")
    one = finite(real, schema)
    assert ByteTables([one]).nbytes < 0.7e6
    assert 3 * one.dfa.states * real.size > 0.9e9, "what a plain table would take"
