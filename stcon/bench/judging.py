"""One engine judges the instances of one schema; this runs inside a worker.

Every instance is fed token by token: a mask is computed at each step and the
token looked up in it, and at the end an end-of-text token is looked up.
"""

from __future__ import annotations

import gc
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from stcon.bench.engines import open_peers
from stcon.bench.timing import timed
from stcon.bench.tokenizer import load_tokens
from stcon.bench.workers import Opener, Work
from stcon.errors import StconError

Message = dict[str, Any]


class Run(ABC):
    """A run of a grammar over one text."""

    @abstractmethod
    def next(self, token: int | None) -> int:
        """Nanoseconds to read ``token`` (None at the start) and to compute the
        mask after it.  Raises StconError when it cannot."""

    @abstractmethod
    def allows(self, token: int) -> bool:
        """Whether the mask just computed has ``token``."""


class JudgedEngine(ABC):
    """An engine as this bench needs it."""

    @abstractmethod
    def compile(self, schema: dict[str, Any] | bool) -> Any:
        """The grammar, its first mask computed.  Raises StconError."""

    @abstractmethod
    def run(self, grammar: Any) -> Run:
        """A run from the start."""

    def facts(self, grammar: Any) -> dict[str, Any]:
        """What is worth reporting about the grammar."""
        return {}

    def forget(self) -> None:  # noqa: B027  peers keep none
        """Nothing; masks kept from other schemas are gone."""


def opener(
    name: str, tokenizer: str, eos_ids: Sequence[int] | None, escapes: str
) -> Opener:
    """Opens the engine ``name`` in a worker."""
    return partial(_open, name, tokenizer, eos_ids, escapes)


def _open(
    name: str, tokenizer: str, eos_ids: Sequence[int] | None, escapes: str
) -> Work:
    tokens = load_tokens(tokenizer, eos_ids)
    engine: JudgedEngine
    if name == "stcon":
        from stcon.bench.judged_stcon import JudgedStcon

        engine = JudgedStcon(tokens.vocabulary, escapes)
    else:
        from stcon.bench.judged_peer import JudgedPeer

        engine = JudgedPeer(open_peers([name], tokens)[0])
    return partial(judge, engine, tokens.vocabulary.eos_ids)


def judge(
    engine: JudgedEngine, eos_ids: Sequence[int], job: dict[str, Any]
) -> Iterator[Message]:
    """The compile; then, for each instance, what became of its spellings; then
    the times of a second walk over all that was walked.

    ``job``: ``schema``, and ``instances``: for each a list of spellings, which
    are lists of tokens.
    """
    gc.collect()
    try:
        compile_ns, grammar = timed(lambda: engine.compile(job["schema"]))
    except StconError as error:
        yield {"refused": refusal(error)}
        return
    yield {"compile_ns": compile_ns, "facts": engine.facts(grammar)}
    engine.forget()
    for spellings in job["instances"]:
        yield {"walks": [walk(engine.run(grammar), t, eos_ids) for t in spellings]}
    for spellings in job["instances"]:
        yield {"again_ns": walk(engine.run(grammar), spellings[0], eos_ids)["ns"]}


def refusal(error: StconError) -> dict[str, str]:
    """What an error says, with the keyword and its place where it has them."""
    what = getattr(error, "what", "")
    keyword = f"limit: {what}" if what else getattr(error, "keyword", "")
    pointer = getattr(error, "pointer", "")
    message = error.message.removeprefix(f"{pointer}: ")
    return {"message": message, "keyword": keyword, "pointer": pointer}


def walk(run: Run, tokens: Sequence[int], eos_ids: Sequence[int]) -> dict[str, Any]:
    """``refused_at``: the place of the first token that is not allowed, the
    number of tokens when the text may not end, None when all is allowed;
    ``why``: an error met there; ``ns``: nanoseconds of each mask."""
    took: list[int] = []
    previous = None
    for place, token in enumerate([*tokens, None]):
        try:
            took.append(run.next(previous))
        except StconError as error:
            at = max(place - 1, 0)
            return {"refused_at": at, "why": error.message, "ns": took}
        wanted = eos_ids if token is None else (token,)
        if not any(map(run.allows, wanted)):
            return {"refused_at": place, "why": "", "ns": took}
        previous = token
    return {"refused_at": None, "why": "", "ns": took}
