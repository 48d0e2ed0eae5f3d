"""Limits on tokens over random schemas: all of them as formats with a stack."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stcon import LimitError, StconError
from stcon.constraints.constraint import Constraint
from stcon.constraints.pushdown import PushdownConstraint
from stcon.decode.processor import bind
from stcon.machines.dfa import DEAD
from stcon.machines.limits import Limits
from stcon.machines.pushdown import compile_pushdown
from stcon.syntax.json_schema import compile_schema
from tests.laws.schema_strategies import documents, leaves, schemas
from tests.laws.test_random_schemas import QUICK, VOCABULARY, is_valid


def made(schema: Any) -> Constraint:
    """The pushdown of ``schema``, whatever machine would be chosen for it."""
    try:
        rules = compile_schema(schema).rules
        machine = compile_pushdown(rules, Limits(seconds=1))
        assume(machine.start_state != DEAD)
        return PushdownConstraint(machine, VOCABULARY, bind("host"))
    except StconError:
        assume(False)
        raise


@settings(QUICK, max_examples=100)
@given(st.one_of(documents(), schemas(leaves())), st.integers(0, 6), st.integers(0, 9))
def test_within_a_limit(schema: Any, extra: int, seed: int) -> None:
    """A token is allowed iff a step takes it, and what is written is valid."""
    inner = made(schema)
    least = inner.costs.least(inner.start)
    limited = inner.within(least + extra)
    place, text = limited.start, b""
    rng = random.Random(seed)
    everything = range(VOCABULARY.size)
    for _ in range(least + extra):
        row = limited.allowed(place)
        try:
            steps = [limited.advance(place, token) for token in everything]
        except LimitError as error:
            assume("deeper" not in str(error) and "ways" not in str(error))
            raise
        assert row.tolist() == [step != DEAD for step in steps], text
        assert row.any(), text
        token = int(rng.choice(np.flatnonzero(row)))
        place = steps[token]
        if token in VOCABULARY.eos_ids:
            break
        text += VOCABULARY.token_bytes(token)
    assert inner.matches(text) and is_valid(schema, text)
