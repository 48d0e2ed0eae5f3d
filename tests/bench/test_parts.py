"""The parts of the bench: its schemas, its tokenizer, its table, its agreement."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from stcon.bench.bitmasks import unpacked
from stcon.bench.cases import Case, cases
from stcon.bench.engines import Refused, open_peers
from stcon.bench.machine import installed, resident_bytes
from stcon.bench.stcon_engine import StconEngine, histories
from stcon.bench.table import shown, table
from stcon.bench.timing import ratio, rotated, summary
from stcon.bench.tokenizer import Tokens, load_tokens
from stcon.errors import VocabularyError
from tests.bench.conftest import END

_CASES = {case.name: case for case in cases()}


@pytest.fixture(scope="module")
def tokens(tokenizer_file: Path) -> Tokens:
    return load_tokens(str(tokenizer_file), [END])


@pytest.mark.parametrize("name", _CASES)
def test_instances_are_valid_and_in_declared_order(name: str) -> None:
    case = _CASES[name]
    assert 2 <= len(case.instances) <= 3
    for instance, text in zip(case.instances, case.texts(), strict=True):
        jsonschema.Draft202012Validator(case.schema).validate(instance)
        assert json.loads(text) == instance
    if "properties" in case.schema:
        for instance in case.instances:
            assert list(instance) == list(case.schema["properties"])


def test_the_cases() -> None:
    assert sum(case.is_extraction for case in _CASES.values()) == 6
    for fields in (48, 96):
        assert len(_CASES[f"form_{fields}"].schema["properties"]) == fields
    assert len(_CASES["tools"].schema["anyOf"]) == 12


def test_the_tool_grammar_has_about_1100_states(tokens: Tokens) -> None:
    assert 1000 <= StconEngine(tokens).dfa_states(_CASES["tools"].schema) <= 1250


@pytest.mark.parametrize("name", _CASES)
@pytest.mark.parametrize("peer", ["stcon", "llguidance"])
def test_every_token_of_an_instance_is_allowed(
    name: str, peer: str, tokens: Tokens
) -> None:
    if peer == "stcon":
        engine = StconEngine(tokens)
    elif installed(peer):
        [engine] = open_peers([peer], tokens)
    else:
        pytest.skip(f"{peer} is not installed")
    grammar = engine.compile(_CASES[name].schema)
    for text in _CASES[name].texts():
        history = tokens.encode(text)
        assert tokens.vocabulary.decode(history) == text.encode()
        assert engine.first_wrong(grammar, history) is None
        wrong = [*history[:-1], tokens.encode("]")[0]]
        assert engine.first_wrong(grammar, wrong) == len(history) - 1


def test_a_schema_that_cannot_be_is_refused(tokens: Tokens) -> None:
    for engine in [StconEngine(tokens)]:
        with pytest.raises(Refused):
            engine.compile({"type": "object", "required": ["a"], "properties": 5})


def test_histories_grow_by_a_token() -> None:
    have = [np.array(history).tolist() for history in histories([7, 8], [1, 2])]
    assert have == [[7, 8], [7, 8, 1], [7, 8, 1, 2]]


def test_unpacked_bits() -> None:
    mask = np.array([[0b1001, 1]], np.int32)
    want = [i in (0, 3, 32) for i in range(34)]
    assert unpacked(mask, 34).tolist() == [want]


_EOS_FILES = {
    "generation_config.json": ({"eos_token_id": [3, END]}, (3, END)),
    "config.json": ({"eos_token_id": END}, (END,)),
    "tokenizer_config.json": ({"eos_token": {"content": "<end>"}}, (END,)),
}


@pytest.mark.parametrize("name", _EOS_FILES)
def test_the_end_is_read_beside_the_tokenizer(
    name: str, tokenizer_file: Path, tmp_path: Path
) -> None:
    content, want = _EOS_FILES[name]
    (tmp_path / "tokenizer.json").write_bytes(tokenizer_file.read_bytes())
    (tmp_path / name).write_text(json.dumps(content))
    assert load_tokens(str(tmp_path), None).vocabulary.eos_ids == want


def test_a_file_that_is_no_tokenizer(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text("{}")
    with pytest.raises(VocabularyError, match="no tokenizer"):
        load_tokens(str(file), [0])


def test_the_table_is_aligned() -> None:
    have = table(["name", "ms"], [["a", 1.25], ["long", None], ["b", 1234]])
    want = "name     ms\n-----------\na       1.2\nlong      -\nb     1,234"
    assert have == want
    assert [shown(x) for x in (0.1234, 12.34, 123.4)] == ["0.12", "12.3", "123"]


def test_summaries() -> None:
    have = summary([1000, 3000, 2000], 1e3)
    assert (have["p50"], have["least"], have["most"]) == (2, 1, 3)
    assert summary([], 1e3) == {"count": 0}
    assert ratio(have, summary([4000], 1e3)) == 0.5
    assert ratio(have, {"count": 0}) is None
    assert rotated([1, 2, 3], 4) == [2, 3, 1]


def test_resident_memory_grows_with_what_is_kept() -> None:
    before = resident_bytes()
    kept = np.ones(64 << 20, np.uint8)
    assert resident_bytes() - before > 32 << 20
    assert kept[0] == 1


def test_texts_are_compact() -> None:
    case = Case("a", {}, ({"é": [1, None]},))
    assert case.texts() == ['{"é":[1,null]}']
