"""One engine, one schema: walks, refusals, and stcon beside its own reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stcon.bench.engines import Refused, open_peers
from stcon.bench.judged_peer import JudgedPeer, as_object
from stcon.bench.judged_stcon import JudgedStcon
from stcon.bench.judging import JudgedEngine, Run, judge, opener, refusal, walk
from stcon.bench.machine import installed
from stcon.bench.tokenizer import Tokens, load_tokens
from stcon.errors import LimitError, SchemaError
from tests.bench.conftest import END


class _Spelled(Run):
    """Allows one sequence of tokens, and an end after it."""

    def __init__(self, wanted: list[int], fails_at: int = -1) -> None:
        self._wanted = [*wanted, END]
        self._fails_at = fails_at
        self._read: list[int] = []

    def next(self, token: int | None) -> int:
        if token is not None:
            self._read.append(token)
        if len(self._read) == self._fails_at:
            raise Refused("too deep")
        return 1000 + len(self._read)

    def allows(self, token: int) -> bool:
        return token == self._wanted[len(self._read)]


_WALKS = {
    "all allowed": ([5, 6], -1, [5, 6], None, "", 3),
    "a token that is not": ([5, 6], -1, [5, 7], 1, "", 2),
    "the first is not": ([5, 6], -1, [7], 0, "", 1),
    "no end yet": ([5, 6], -1, [5], 1, "", 2),
    "an error": ([5, 6], 2, [5, 6], 1, "too deep", 2),
    "an error at once": ([5, 6], 0, [5, 6], 0, "too deep", 0),
}


@pytest.mark.parametrize("name", _WALKS)
def test_walk(name: str) -> None:
    wanted, fails_at, tokens, refused_at, why, masks = _WALKS[name]
    have = walk(_Spelled(wanted, fails_at), tokens, [3, END])
    assert (have["refused_at"], have["why"]) == (refused_at, why)
    assert have["ns"] == [1000 + n for n in range(masks)]


def test_refusals_name_what_they_can() -> None:
    error = SchemaError("is odd", pointer="#/a", keyword="pattern")
    want = {"message": "is odd", "keyword": "pattern", "pointer": "#/a"}
    assert refusal(error) == want
    assert refusal(LimitError("much", what="states", limit=1))["keyword"] == (
        "limit: states"
    )
    assert refusal(Refused("no")) == {"message": "no", "keyword": "", "pointer": ""}


@pytest.fixture(scope="module")
def tokens(tokenizer_file: Path) -> Tokens:
    return load_tokens(str(tokenizer_file), [END])


def _engine(name: str, tokens: Tokens) -> JudgedEngine:
    if name == "stcon":
        return JudgedStcon(tokens.vocabulary, "usual")
    if not installed(name):
        pytest.skip(f"{name} is not installed")
    return JudgedPeer(open_peers([name], tokens)[0])


_SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "yz"]}},
    "required": ["a"],
    "additionalProperties": False,
}
_TEXTS = [
    '{"a":1}',
    '{"a":1,"b":"yz"}',
    '{"a":1,"b":"y"}',
    '{"b":"x"}',
    '{"a":1',
    '{"a":1}}',
    "[]",
]


@pytest.mark.parametrize("name", ["stcon", "llguidance", "xgrammar"])
def test_engines_accept_what_the_reader_of_bytes_does(
    name: str, tokens: Tokens
) -> None:
    from stcon import constrain

    reader = constrain(tokens.vocabulary, _SCHEMA)
    engine = _engine(name, tokens)
    histories = [tokens.encode(text) for text in _TEXTS]
    job = {"schema": _SCHEMA, "instances": [[history] for history in histories]}
    compiled, *rest = judge(engine, tokens.vocabulary.eos_ids, job)
    assert compiled["compile_ns"] > 0
    walks, again = rest[: len(_TEXTS)], rest[len(_TEXTS) :]
    assert len(again) == len(_TEXTS)
    for text, one, two in zip(_TEXTS, walks, again, strict=True):
        [have] = one["walks"]
        assert (have["refused_at"] is None) == reader.matches(text), text
        assert len(have["ns"]) == len(two["again_ns"]) > 0


def test_stcon_tells_its_machine(tokens: Tokens) -> None:
    engine = _engine("stcon", tokens)
    tree = {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False}
    for schema, kind in ((_SCHEMA, "dfa"), (tree, "pushdown")):
        [message] = judge(engine, [END], {"schema": schema, "instances": []})
        assert message["facts"]["kind"] == kind
        assert message["facts"]["states"] > 0 and message["facts"]["bytes"] > 0


def test_a_long_text_outgrows_the_first_room_of_a_history(tokens: Tokens) -> None:
    engine = _engine("stcon", tokens)
    text = json.dumps("word " * 300)
    job = {"schema": {"type": "string"}, "instances": [[tokens.encode(text)]]}
    _, walked, _ = judge(engine, [END], job)
    assert walked["walks"][0]["refused_at"] is None
    assert len(walked["walks"][0]["ns"]) > 1001


def test_a_schema_that_is_refused_has_no_walks(tokens: Tokens) -> None:
    engine = _engine("stcon", tokens)
    job = {"schema": {"type": "strange"}, "instances": [[[1]]]}
    [message] = judge(engine, [END], job)
    assert message["refused"]["keyword"] == "type"


def test_a_peer_that_contradicts_its_mask_is_refused() -> None:
    class Matcher:
        def advance(self, token: int) -> bool:
            return False

        def fill(self) -> Any:
            import numpy as np

            return np.full((1, 9), -1, np.int32)

    from stcon.bench.judged_peer import _Run

    have = walk(_Run(Matcher()), [40], [END])
    assert have["refused_at"] == 0
    assert "matcher refuses" in have["why"]


def test_peers_get_no_booleans() -> None:
    assert as_object(True) == {}
    assert as_object(False) == {"not": {}}
    assert as_object(_SCHEMA) is _SCHEMA


def test_the_opener_opens_in_any_process(tokenizer_file: Path) -> None:
    work = opener("stcon", str(tokenizer_file), [END], "usual")()
    messages = list(work({"schema": {"const": 1}, "instances": []}))
    assert [set(message) for message in messages] == [{"compile_ns", "facts"}]
