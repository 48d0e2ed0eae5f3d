"""Every token of six real tokenizers, against the tokenizer itself and its file."""

from __future__ import annotations

import json
import random
import unicodedata

import numpy as np
import pytest

from stcon.tokens.vocabulary import Vocabulary
from tests import assets
from tests.qwen35 import byte_alphabet, read_ranks

TEXTS = ["", " ", "  ", "\n", "\r\n\r\n", "\t\tx", " leading", "    four", "a" * 300]
TEXTS += ["I'll we'VE", "1234567890", "3.14e-10", '{"a": [1, 2.5e3, null], "b": "ü"}']
TEXTS += [
    "naïve café ẹ",
    "مرحبا بالعالم",
    "नमस्ते दुनिया",
    "你好、世界。",
    "안녕하세요",
    "สวัสดี",
]
TEXTS += ["\U0001f469\u200d\U0001f467 \U0001f1e8\U0001f1ed ok", "\U0001f9ff\U0010fffd"]
TEXTS += ["\x00\x01\x1f\x7f\x80\xa0\xad", "\u200b\u200d\ufeff", "<b>\\u00e9</b>"]
TEXTS += ["def f(x):\n    return x  # ok\n", "<tool_call>\n{}\n</tool_call>"]
RANGES = [(0, 0x7F), (0x80, 0x24F), (0x370, 0x5FF), (0x900, 0xDFF), (0x3040, 0x30FF)]
RANGES += [(0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xE000, 0xF8FF), (0x1F300, 0x1FAFF)]
BYTE_LEVEL = [name for name in assets.PARAMS if name != "gemma-3"]

every_tokenizer = pytest.mark.parametrize("name", assets.PARAMS)


def random_texts(count: int) -> list[str]:
    rng = random.Random(11)
    texts = []
    for _ in range(count):
        low, high = rng.choice(RANGES)
        chars = [chr(rng.randint(low, high)) for _ in range(rng.randrange(1, 40))]
        texts.append(unicodedata.normalize("NFC", "".join(chars)))
    return texts


def vocabulary_of(name: str) -> Vocabulary:
    real = assets.tokenizer(name)
    return Vocabulary.of(real.tokenizer, real.eos_ids)


def no_text_ids(name: str) -> set[int]:
    real = assets.tokenizer(name)
    added = real.tokenizer.get_added_tokens_decoder().items()
    return {token for token, each in added if each.special} | set(real.eos_ids)


@every_tokenizer
def test_each_token_decodes_to_its_bytes(name: str) -> None:
    vocabulary, tokenizer = vocabulary_of(name), assets.tokenizer(name).tokenizer
    first = assets.id_of(tokenizer, "a")
    tokens = np.flatnonzero(np.diff(vocabulary.offsets)).tolist()
    have = tokenizer.decode_batch(
        [[first, token] for token in tokens], skip_special_tokens=False
    )
    want = [
        (b"a" + vocabulary.token_bytes(token)).decode("utf-8", "replace")
        for token in tokens
    ]
    assert have == want


@every_tokenizer
def test_all_but_special_and_end_is_text(name: str) -> None:
    vocabulary = vocabulary_of(name)
    lengths = np.diff(vocabulary.offsets)
    without = no_text_ids(name)
    assert set(np.flatnonzero(lengths == 0).tolist()) == without
    assert len(without) >= 2


@every_tokenizer
def test_encoded_texts_come_back_as_bytes(name: str) -> None:
    vocabulary, tokenizer = vocabulary_of(name), assets.tokenizer(name).tokenizer
    lost = set(np.flatnonzero(vocabulary.byte_tokens < 0).tolist())
    texts = [
        text
        for text in [*TEXTS, *random_texts(400)]
        if not lost.intersection(text.encode())
    ]
    assert len(texts) > 300
    encoded = tokenizer.encode_batch(texts, add_special_tokens=False)
    for text, found in zip(texts, encoded, strict=True):
        assert vocabulary.decode(found.ids) == text.encode(), text


@pytest.mark.parametrize("name", BYTE_LEVEL)
def test_each_byte_of_byte_level_tokens(name: str) -> None:
    """Also of the tokens that are no UTF-8, which a decode cannot show."""
    vocabulary = vocabulary_of(name)
    byte_of = {chr(code): byte for byte, code in byte_alphabet().items()}
    left_out = no_text_ids(name)
    file = json.loads(assets.tokenizer_file(name).read_text("utf-8"))
    for surface, token in file["model"]["vocab"].items():
        if token not in left_out:
            want = bytes([byte_of[char] for char in surface])
            assert vocabulary.token_bytes(token) == want


def test_each_rank_of_qwen35() -> None:
    vocabulary = vocabulary_of("qwen3.5")
    ranks = read_ranks(assets.qwen35_package())
    assert len(ranks) == 248_044
    for want, token in ranks.items():
        assert vocabulary.token_bytes(token) == want


@every_tokenizer
def test_every_byte_can_be_written(name: str) -> None:
    """A token for each byte that UTF-8 uses, but for those SmolLM2 lost."""
    used = [byte for byte in range(256) if byte not in (0xC0, 0xC1, *range(0xF5, 256))]
    byte_tokens = vocabulary_of(name).byte_tokens
    missing = [byte for byte in used if byte_tokens[byte] < 0]
    lost = [0x04, 0x06, 0x13, 0x14, 0x16, 0x1D, 0xF1, 0xF2]
    assert missing == (lost if name == "smollm2" else [])


def test_tool_and_think_marks_of_qwen_are_text() -> None:
    for name in ("qwen3", "qwen3.5"):
        vocabulary, tokenizer = vocabulary_of(name), assets.tokenizer(name).tokenizer
        for mark in ("<tool_call>", "</tool_call>", "<think>", "</think>"):
            assert (
                vocabulary.token_bytes(assets.id_of(tokenizer, mark)) == mark.encode()
            )
