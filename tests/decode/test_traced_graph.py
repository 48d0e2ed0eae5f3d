"""The traced path reads nothing on the host: a whole step becomes one graph."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from stcon import HistoryError, Vocabulary, constrain
from stcon.constraints.dfa import DfaConstraint
from stcon.decode.processor import HostProcessor
from stcon.decode.traced import TracedProcessor

BYTES = Vocabulary.from_bytes([None, *(bytes([b]) for b in range(256))], [0])


def machine() -> DfaConstraint:
    made = constrain(BYTES, regex="ab|ac", path="traced")
    assert isinstance(made, DfaConstraint)
    return made


def test_a_step_can_be_traced() -> None:
    """mlx refuses to read a value while it traces; two tokens are then one graph."""
    processor, logits = TracedProcessor(machine()), mx.zeros((1, 257))
    mx.eval(processor(mx.array([9]), logits))

    def step(tokens: mx.array, logits: mx.array) -> mx.array:
        masked = processor(tokens, logits)
        chosen = mx.argmax(masked, axis=-1)
        return processor(mx.concatenate([tokens, chosen]), logits)

    masked = np.array(mx.compile(step)(mx.array([9, 1 + ord("a")]), logits)[0])
    assert np.flatnonzero(masked == 0).tolist() == [0], "b comes first, then the end"


def test_the_host_path_cannot() -> None:
    """So that the test above can fail."""
    processor, logits = HostProcessor(machine()), mx.zeros((1, 257))
    with pytest.raises(HistoryError):  # it cannot read a value while mlx traces
        mx.compile(processor)(mx.array([9]), logits)
