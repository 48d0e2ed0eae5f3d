"""outlines-core: a schema becomes a regex, and the regex an index of all tokens.

A build may take minutes and cannot be interrupted, so it is tried first in a
process of its own; what needs more than 20 s there is skipped, with a note.
"""

from __future__ import annotations

import json
import multiprocessing
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.bench.bitmasks import BitmaskEngine
from stcon.bench.cases import Schema
from stcon.bench.engines import Refused
from stcon.bench.timing import Clock
from stcon.bench.tokenizer import Tokens
from stcon.tokens.vocabulary import Vocabulary

_PATIENCE = 20.0


class OutlinesEngine(BitmaskEngine):
    """``Index`` of ``build_regex_from_schema`` without whitespace."""

    name = "outlines-core"

    def __init__(self, tokens: Tokens, clock: Clock) -> None:
        super().__init__(tokens.vocabulary.size, clock)
        self._source = tokens.vocabulary
        self._module = import_module("outlines_core")
        self._vocabulary = _vocabulary(tokens.vocabulary)
        self._tried: dict[str, str] = {}

    def compile(self, schema: Schema) -> Any:
        """The index of ``schema``; raises Refused, also after 20 s."""
        regex = _regex(schema)
        if regex not in self._tried:
            self._tried[regex] = _try(regex, self._source)
        if self._tried[regex]:
            raise Refused(self._tried[regex])
        return self._module.Index(_regex(schema), self._vocabulary)

    def matcher(self, grammar: Any) -> _Run:
        """A new guide over the index."""
        return _Run(self._module.Guide(grammar), self.width)


class _Run:
    def __init__(self, guide: Any, width: int) -> None:
        self._guide = guide
        self._mask: NDArray[np.int32] = np.zeros((1, (width + 31) // 32), np.int32)

    def advance(self, token: int) -> bool:
        if not self._guide.accepts_tokens([token]):
            return False
        self._guide.advance(token, return_tokens=False)
        return True

    def fill(self) -> NDArray[np.int32]:
        mask = self._mask
        self._guide.write_mask_into(mask.ctypes.data, mask.size, mask.itemsize)
        return mask


def _regex(schema: Schema) -> str:
    build = import_module("outlines_core.json_schema").build_regex_from_schema
    try:
        return str(build(json.dumps(schema), ""))
    except (ValueError, TypeError) as error:
        raise Refused(str(error)) from error


def _vocabulary(source: Vocabulary) -> Any:
    """Their vocabulary: bytes to ids; it knows one end id."""
    ids: dict[bytes, list[int]] = {}
    for token in range(source.size):
        if source.is_text(token):
            ids.setdefault(source.token_bytes(token), []).append(token)
    return import_module("outlines_core").Vocabulary(source.eos_ids[0], ids)


def _try(regex: str, source: Vocabulary) -> str:
    """Why the index of ``regex`` cannot be had; "" when it can."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    parts = (source.offsets, source.data, source.eos_ids)
    child = context.Process(target=_build, args=(regex, parts, sender), daemon=True)
    child.start()
    sender.close()
    try:
        receiver.poll(None) and receiver.recv()  # the vocabulary is ready
        if receiver.poll(_PATIENCE):
            return str(receiver.recv())
        return f"its index took more than {_PATIENCE:.0f} s"
    except EOFError:
        return "its index build ended the process"
    finally:
        child.kill()
        child.join()


def _build(regex: str, parts: tuple[Any, Any, Any], sender: Any) -> None:
    """Nothing; says over ``sender`` when it starts, and why it failed or ""."""
    vocabulary = _vocabulary(Vocabulary(*parts))
    sender.send("ready")
    try:
        import_module("outlines_core").Index(regex, vocabulary)
    except Exception as error:
        sender.send(f"{type(error).__name__}: {error}"[:300])
    else:
        sender.send("")
