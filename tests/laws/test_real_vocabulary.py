"""Mask = accept for every state and every one of 248k tokens, against a walk
that reads each token's bytes through the automaton."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stcon import Vocabulary, constrain
from stcon.constraints.dfa import DfaConstraint
from tests import assets
from tests.laws import laws

FORMATS = {
    "person": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "age": {"type": "integer", "minimum": 0, "maximum": 150},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        },
        "required": ["name", "age", "tags"],
        "additionalProperties": False,
    },
    "formats": {
        "type": "array",
        "items": {"type": "string", "format": "date-time"},
        "maxItems": 1,
    },
    "lengths": {"type": "string", "minLength": 2, "maxLength": 5},
    "patterns": {"type": "string", "pattern": "^[a-zé]+(-[0-9]{2})?$"},
    "choice": {
        "anyOf": [
            {"enum": ["yes", "no", "yes and no", 12, None, [1, {"a": "ü"}]]},
            {"type": "number"},
        ]
    },
}


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    real = assets.tokenizer("qwen3.5")
    return Vocabulary.of(real.tokenizer, real.eos_ids)


def walk_all(made: DfaConstraint, state: int) -> np.ndarray:
    """bool [size]: tokens whose bytes can be read, one byte a round."""
    vocabulary, dfa = made.vocabulary, made.dfa
    lengths = np.diff(vocabulary.offsets)
    at = np.where(lengths > 0, state, 0)
    live = np.flatnonzero(at)
    place = 0
    while len(live):
        live = live[lengths[live] > place]
        byte = vocabulary.data[vocabulary.offsets[live] + place]
        at[live] = dfa.next[at[live], dfa.byte_class[byte]]
        live = live[at[live] > 0]
        place += 1
    mask = at > 0
    mask[list(vocabulary.eos_ids)] = dfa.accepts[state]
    return mask


@pytest.mark.parametrize("name", FORMATS)
def test_every_state_and_every_token(name: str, vocabulary: Vocabulary) -> None:
    made = constrain(vocabulary, FORMATS[name])
    assert isinstance(made, DfaConstraint)
    for state in range(1, made.dfa.states):
        assert np.array_equal(made.allowed(state), walk_all(made, state))


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(sorted(FORMATS)), st.integers(0, 2**32))
def test_random_choices_are_valid(name: str, seed: int) -> None:
    real = assets.tokenizer("qwen3.5")
    made = constrain(Vocabulary.of(real.tokenizer, real.eos_ids), FORMATS[name])
    laws.check_outputs_are_valid(made, seed, runs=2)


def test_same_inputs_same_bytes(vocabulary: Vocabulary) -> None:
    one, two = (constrain(vocabulary, FORMATS["person"]) for _ in range(2))
    assert isinstance(one, DfaConstraint) and isinstance(two, DfaConstraint)
    assert one.table.tobytes() == two.table.tobytes()
    assert one.class_of.tobytes() == two.class_of.tobytes()


@pytest.mark.parametrize("param", assets.PARAMS)
def test_every_real_tokenizer(param: str) -> None:
    real = assets.tokenizer(param)
    made = constrain(real.tokenizer, FORMATS["person"], eos_token_ids=real.eos_ids)
    text = '{"name":"Zoë 😀","age":150,"tags":["a b"]}'
    state = made.start
    for token in real.tokenizer.encode(text, add_special_tokens=False).ids:
        assert made.allowed(state)[token]
        state = made.advance(state, token)
    assert made.is_complete(state)
    laws.check_outputs_are_valid(made, 3)
