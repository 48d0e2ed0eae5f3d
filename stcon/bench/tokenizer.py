"""The tokenizer a benchmark runs with: a tokenizer.json, or a folder with one.

The ids that end an output come from ``--eos``, or from the model files beside
it, as mlx-lm reads them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stcon.errors import VocabularyError
from stcon.tokens.vocabulary import Vocabulary

HOW_TO = (
    "give --vocab a tokenizer.json, or a folder holding one, as mlx-lm models are; "
    'in a checkout: --vocab "$(python -m tests.assets qwen3.5)"'
)


@dataclass(frozen=True)
class Tokens:
    """A tokenizer (``tokenizers.Tokenizer``), its file and its vocabulary."""

    tokenizer: Any
    file: Path
    vocabulary: Vocabulary

    def encode(self, text: str) -> list[int]:
        """The ids of ``text``, as the tokenizer itself splits it."""
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)


def load_tokens(path: str | None, eos_ids: Sequence[int] | None) -> Tokens:
    """The tokenizer at ``path``.

    Raises VocabularyError when there is none or its end ids are not known.
    """
    file = _find(path)
    tokenizers = _import_tokenizers()
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(file))
    except Exception as error:
        raise VocabularyError(f"{file} is no tokenizer: {error}", hint=HOW_TO) from None
    ids = list(eos_ids) if eos_ids else _eos_beside(file.parent, tokenizer)
    if not ids:
        raise VocabularyError(
            f"nothing beside {file} says which token ends an output",
            hint="add --eos ID, once for each such token",
        )
    return Tokens(tokenizer, file, Vocabulary.of(tokenizer, ids))


def _find(path: str | None) -> Path:
    if not path:
        raise VocabularyError("no tokenizer to measure with", hint=HOW_TO)
    file = Path(path).expanduser()
    file = file / "tokenizer.json" if file.is_dir() else file
    if not file.is_file():
        raise VocabularyError(f"there is no {file}", hint=HOW_TO)
    return file


def _import_tokenizers() -> Any:
    try:
        import tokenizers
    except ImportError:
        raise VocabularyError(
            "the tokenizers package is not installed", hint="pip install tokenizers"
        ) from None
    return tokenizers


def _eos_beside(folder: Path, tokenizer: Any) -> list[int]:
    """The end ids that the model files in ``folder`` name, or []."""
    for name in ("generation_config.json", "config.json"):
        given = _read(folder / name).get("eos_token_id")
        if given is not None:
            return [given] if isinstance(given, int) else list(given)
    token = _read(folder / "tokenizer_config.json").get("eos_token")
    surface = token.get("content") if isinstance(token, dict) else token
    found = tokenizer.token_to_id(surface) if isinstance(surface, str) else None
    return [] if found is None else [found]


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
