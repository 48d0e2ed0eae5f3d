"""A tokenizer small enough to measure in no time: 256 bytes and a few merges."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

_MERGES = [("i", "n"), ("e", "r"), ('"', ":"), ('"', ","), ("t", "e"), ("a", "t")]


@pytest.fixture(scope="session")
def tokenizer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer.json whose last token, ``<end>``, ends an output."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    surfaces = [*alphabet, *(left + right for left, right in _MERGES)]
    ids = {surface: token for token, surface in enumerate(surfaces)}
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=_MERGES))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("<end>", special=True)])
    file = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(str(file))
    return file


END = 256 + len(_MERGES)
