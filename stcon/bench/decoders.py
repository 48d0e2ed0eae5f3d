"""Ways to decode under a schema, all in one loop with one model.

The loop feeds a sampled token and what is forced after it in one run, and samples
from the last logits.  stcon's own loop does just that when mlx-lm is patched; the
others are followers of the loop here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import islice
from typing import Any, Protocol

from stcon.api import constrain
from stcon.bench.cases import Schema
from stcon.bench.engines import Refused
from stcon.bench.model import Meter
from stcon.bench.tokenizer import Tokens
from stcon.constraints.constraint import Constraint
from stcon.decode.constrained_loop import ConstrainedLoop
from stcon.decode.head import Fed
from stcon.errors import StconError
from stcon.machines.limits import Limits

_PATIENT = Limits(seconds=60)  # what is slow is reported, not refused


class Decoder(ABC):
    """One engine in one mode."""

    name: str

    @abstractmethod
    def compile(self, schema: Schema) -> Any:
        """The grammar of ``schema``; raises Refused."""

    @abstractmethod
    def decode(self, grammar: Any, meter: Meter, limit: int) -> list[int]:
        """At most ``limit`` ids, the one that ends the output included."""


class Follower(Protocol):
    """What follows one output of the loop."""

    def start(self) -> list[int]:
        """The ids forced before anything is sampled."""

    def after(self, token: int) -> list[int]:
        """The ids forced after ``token``, which was sampled."""

    def masked(self, logits: Any) -> Any:
        """Logits, [1, width], without what may not come next."""

    def is_over(self) -> bool:
        """Whether it is known without a run that only the end is left."""


def follow(
    follower: Follower, meter: Meter, limit: int, eos_ids: tuple[int, ...]
) -> list[int]:
    """At most ``limit`` ids, sampled or forced, the end included."""
    import mlx.core as mx

    out = follower.start()[:limit]
    logits = meter.run(_joined(meter.prompt.last, out))
    while len(out) < limit:
        if follower.is_over():
            out.append(eos_ids[0])
            break
        kept = follower.masked(logits[-1:])
        logprobs = kept - mx.logsumexp(kept, axis=-1, keepdims=True)
        chosen = meter.sample(logprobs)
        mx.eval(chosen, logprobs)
        token = int(chosen.item())
        out.append(token)
        if token in eos_ids:
            break
        forced = follower.after(token)[: limit - len(out)]
        out += forced
        logits = meter.run(_joined(chosen, forced))
    return out


def _joined(first: Any, forced: list[int]) -> Any:
    import mlx.core as mx

    first = first.astype(mx.uint32)
    return mx.concatenate([first, mx.array(forced, mx.uint32)]) if forced else first


class _Metered:
    """A meter as stcon's loop feeds a model: whole, and run by run."""

    is_kept, width = False, None

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def run(self, tokens: Any) -> Fed:
        return Fed(self._meter.run(tokens))

    def start(self, fed: Fed) -> None:
        """Nothing: a run is timed where something is sampled from it."""

    def checkpoint(self, count: int) -> None:
        """None: nothing is enqueued ahead."""

    def settle(self) -> None:
        """Nothing: the cache is not kept."""


class StconDecoder(Decoder):
    """stcon's own loop, the one that ``stcon.patch()`` puts into mlx-lm.

    It is not told the limit: it would write another answer, that ends in time.
    """

    name = "stcon patched"

    def __init__(self, tokens: Tokens, escapes: str = "usual") -> None:
        self.vocabulary = tokens.vocabulary
        self._escapes = escapes
        _ = tokens.vocabulary.trie  # built when first asked for

    def compile(self, schema: Schema) -> Constraint:
        """The constraint of ``schema``; raises Refused."""
        try:
            return constrain(
                self.vocabulary, schema, escapes=self._escapes, limits=_PATIENT
            )
        except StconError as error:
            raise Refused(str(error)) from error

    def decode(self, grammar: Constraint, meter: Meter, limit: int) -> list[int]:
        """At most ``limit`` ids, the one that ends the output included."""
        loop = ConstrainedLoop(grammar, _Metered(meter), meter.sample)
        loop.begin(meter.prompt.ids, -1)
        steps = loop.steps(meter.prompt.last)
        return [int(token) for token, _ in islice(steps, limit)]


class DropInDecoder(StconDecoder):
    """stcon as a logits processor in a loop that knows nothing of it."""

    name = "stcon unpatched"

    def decode(self, grammar: Constraint, meter: Meter, limit: int) -> list[int]:
        """At most ``limit`` ids, the one that ends the output included."""
        follower = _Processor(grammar.fresh(), meter.prompt.ids)
        return follow(follower, meter, limit, self.vocabulary.eos_ids)


class _Unforced:
    """A follower that forces nothing and waits for the end to be sampled."""

    def start(self) -> list[int]:
        return []

    def is_over(self) -> bool:
        return False


class _Processor(_Unforced):
    """A logits processor, given the history as mlx-lm gives it."""

    def __init__(self, processor: Any, prompt: Any) -> None:
        self._processor = processor
        self._history = prompt

    def after(self, token: int) -> list[int]:
        self._history = _joined(self._history, [token])
        return []

    def masked(self, logits: Any) -> Any:
        return self._processor(self._history, logits)


class Free(_Unforced):
    """No constraint at all: the answer the model gives by itself."""

    def after(self, token: int) -> list[int]:
        """Nothing is forced."""
        return []

    def masked(self, logits: Any) -> Any:
        """All of them."""
        return logits
