"""Instances as texts and tokens: how they are fed to every engine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from stcon.bench.key_order import declared_orders
from stcon.bench.schema_files import Instance
from stcon.bench.tokenizer import Tokens


@dataclass(frozen=True)
class Spelled:
    """An instance in the spellings that are tried: it counts as accepted when
    one of them is.  ``tokens``: those of each text."""

    is_valid: bool
    texts: list[str]
    tokens: list[list[int]]


def spelled(schema: Any, instance: Instance, tokens: Tokens) -> Spelled:
    """The instance in every order its schema may declare; an invalid one also as
    it came, since no order may be let through."""
    orders = declared_orders(schema, instance.data)
    if not instance.is_valid:
        orders.append(instance.data)
    texts = list(dict.fromkeys(map(compact, orders)))
    return Spelled(instance.is_valid, texts, [split(text, tokens) for text in texts])


def compact(value: Any) -> str:
    """Compact JSON of the parsed value; half surrogate pairs as escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


def split(text: str, tokens: Tokens) -> list[int]:
    """The ids of ``text``, as the tokenizer splits it; byte by byte where it
    would change the text (some tokenizers normalise Unicode)."""
    ids = tokens.encode(text)
    raw = text.encode("utf-8")
    if tokens.vocabulary.decode(ids) == raw:
        return ids
    single: list[int] = tokens.vocabulary.byte_tokens[list(raw)].tolist()
    return single if -1 not in single else ids
