"""Bug reports against other engines, as data: regexes and tokenizers.

Those on JSON Schema are in tests/syntax/json_schema, those on runs in
tests/decode/test_runs.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stcon import RegexError, VocabularyError, constrain
from stcon.constraints.constraint import Constraint
from stcon.tokens.vocabulary import Vocabulary

FILE = Path(__file__).with_name("field_cases.json")
CASES = {case["id"]: case for case in json.loads(FILE.read_text("utf-8"))}
BYTES = [bytes([b]) for b in range(256)]


@pytest.mark.parametrize("name", ["re_anchor_newline", "re_lookahead"])
def test_regex(name: str) -> None:
    case = CASES[name]
    vocabulary = Vocabulary.from_bytes([None, *BYTES], [0])
    try:
        made = constrain(vocabulary, regex=case["input"])
    except RegexError:
        assert case["expect"] == "correct_or_compile_error"
        return
    assert [made.matches(t) for t in case["accept"]] == [True] * len(case["accept"])
    assert [made.matches(t) for t in case["reject"]] == [False] * len(case["reject"])


def world(case: dict[str, Any]) -> tuple[Constraint, dict[str, int], Any]:
    """The constraint over the case's tokens and, behind them, one for each byte
    so that every text can be written; ids by hex; the state after its prefix."""
    given = case["input"]
    special = set(given.get("special_ids", []))
    texts: list[bytes | None] = [
        None if i in special else bytes.fromhex(t)
        for i, t in enumerate(given["vocab_hex"])
    ]
    texts += [*BYTES, None]
    eos = given.get("eos_ids", [len(texts) - 1])
    made = constrain(
        Vocabulary.from_bytes(texts, eos), given["constraint"]["json_schema"]
    )
    ids = {t: i for i, t in enumerate(given["vocab_hex"])}
    hexed = given.get("prefix_hex", given.get("prefix", "").encode().hex())
    return made, ids, made.read(made.start, bytes.fromhex(hexed))


@pytest.mark.parametrize(
    "name", ["tok_partial_utf8_cont", "tok_special_as_text", "tok_close_newline"]
)
def test_tokens_after_a_prefix(name: str) -> None:
    case = CASES[name]
    made, ids, state = world(case)
    allowed = made.allowed(state)
    have = {t for t, i in ids.items() if allowed[i]}
    assert set(case["accept"]) <= have
    assert not have & set(case["reject"])
    # and what the case leaves open is refused: nothing follows the end
    assert have == set(case["accept"])


def test_several_end_tokens() -> None:
    case = CASES["tok_multi_eos"]
    made, _, _ = world(case)
    for place in case["input"]["states"]:
        allowed = made.allowed(made.read(made.start, place["prefix"].encode()))
        ends = [i for i in case["input"]["eos_ids"] if allowed[i]]
        assert ends == place["eos_allowed"]


@pytest.mark.parametrize("path", ["host", "traced"])
def test_padded_logits(path: str) -> None:
    import mlx.core as mx

    digits = [None, *(str(d).encode() for d in range(10)), b"-", *BYTES[:21]]
    vocabulary = Vocabulary.from_bytes(digits, [0])
    assert vocabulary.size == CASES["tok_padded_logits"]["input"]["tokenizer_len"]
    width = CASES["tok_padded_logits"]["input"]["logits_width"]
    made = constrain(vocabulary, {"type": "integer"}, path=path)
    for history in ([5], [5, 2], [5, 2, 0]):
        masked = np.array(made(mx.array(history), mx.zeros((1, width)))[0])
        assert np.isneginf(masked[vocabulary.size :]).all()
        assert (masked[: vocabulary.size] == 0).any()


def test_no_token_can_start() -> None:
    texts = [bytes.fromhex(t) for t in CASES["tok_empty_mask"]["input"]["vocab_hex"]]
    vocabulary = Vocabulary.from_bytes([*texts[:2], None], [2])
    with pytest.raises(VocabularyError, match=r"at the start.*one of 'z'"):
        constrain(vocabulary, regex="z+")
