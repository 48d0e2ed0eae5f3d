"""How instances are spelt, as text and as tokens."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import Tokenizer, normalizers

from stcon.bench.schema_files import Instance
from stcon.bench.spelling import compact, spelled, split
from stcon.bench.tokenizer import Tokens, load_tokens
from tests.bench.conftest import END


@pytest.fixture(scope="module")
def tokens(tokenizer_file: Path) -> Tokens:
    return load_tokens(str(tokenizer_file), [END])


def test_texts_are_compact() -> None:
    assert compact({"é": [1, None, 1.0]}) == '{"é":[1,null,1.0]}'
    assert compact(["\ud800"]) == '["\\ud800"]'


def test_an_invalid_instance_is_tried_as_it_came_too(tokens: Tokens) -> None:
    schema = {"properties": {"b": {}, "a": {}}}
    data = {"a": 1, "b": 2}
    for is_valid in (True, False):
        have = spelled(schema, Instance(data, is_valid), tokens)
        want = ['{"b":2,"a":1}'] + ['{"a":1,"b":2}'] * (not is_valid)
        assert have.texts == want
        for text, ids in zip(have.texts, have.tokens, strict=True):
            assert tokens.vocabulary.decode(ids) == text.encode()
    same = spelled({}, Instance(data, False), tokens)
    assert len(same.texts) == 1


def test_a_tokenizer_that_changes_the_text(
    tokenizer_file: Path, tmp_path: Path
) -> None:
    changing = Tokenizer.from_file(str(tokenizer_file))
    changing.normalizer = normalizers.NFC()
    file = tmp_path / "tokenizer.json"
    changing.save(str(file))
    tokens = load_tokens(str(file), [END])
    text = '"e\u0301"'  # e and an accent, one character when normalised
    assert tokens.vocabulary.decode(tokens.encode(text)) != text.encode()
    assert tokens.vocabulary.decode(split(text, tokens)) == text.encode()
    assert split('"in"', tokens) == tokens.encode('"in"')
