"""llguidance in the loop of ``bench decode``: masks alone, or with fast-forward.

With fast-forward the tokens of ``compute_ff_tokens`` are fed in the run of the
sampled token, and a matcher that has stopped ends the output without a run.
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.bench.bitmasks import unpacked
from stcon.bench.cases import Schema
from stcon.bench.decoders import Decoder, follow
from stcon.bench.llguidance_peer import LlguidanceEngine, Run
from stcon.bench.model import Meter
from stcon.bench.tokenizer import Tokens


class MasksDecoder(Decoder):
    """A mask for each token, and nothing else."""

    name = "llguidance masks"
    forces = False

    def __init__(self, tokens: Tokens) -> None:
        self._engine = LlguidanceEngine(tokens, perf_counter_ns)
        self._eos_ids = tokens.vocabulary.eos_ids

    def compile(self, schema: Schema) -> Any:
        """A new matcher of ``schema``; raises Refused."""
        return self._engine.compile(schema)

    def decode(self, grammar: Any, meter: Meter, limit: int) -> list[int]:
        """At most ``limit`` ids, the one that ends the output included."""
        follower = MatcherFollower(self._engine.matcher(grammar), self.forces)
        return follow(follower, meter, limit, self._eos_ids)


class FastForwardDecoder(MasksDecoder):
    """Forced tokens ride in the run of a sampled one."""

    name = "llguidance fast-forward"
    forces = True


class MatcherFollower:
    """Follows the loop with a matcher."""

    def __init__(self, run: Run, forces: bool) -> None:
        self._run = run
        self._forces = forces

    def start(self) -> list[int]:
        """The ids forced before anything is sampled."""
        return self._run.forced() if self._forces else []

    def after(self, token: int) -> list[int]:
        """The ids forced after ``token``, which was sampled."""
        self._run.advance(token)
        return self._run.forced() if self._forces else []

    def masked(self, logits: Any) -> Any:
        """Logits, [1, width], without what may not come next."""
        import mlx.core as mx

        row = mx.array(_widened(self._run.fill(), logits.shape[-1]))
        return mx.where(row, logits, mx.array(-float("inf"), logits.dtype))

    def is_over(self) -> bool:
        """Whether the matcher has stopped, and its user looks at that."""
        return self._forces and self._run.is_over()


def _widened(mask: NDArray[np.int32], width: int) -> NDArray[np.bool_]:
    """bool [1, width] of a packed mask; false beyond its words."""
    row = unpacked(mask, min(width, 32 * mask.shape[1]))
    missing = width - row.shape[1]
    return np.pad(row, ((0, 0), (0, missing))) if missing else row
