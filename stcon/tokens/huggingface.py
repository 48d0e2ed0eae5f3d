"""What a Hugging Face tokenizer says about its tokens, read without importing it.

mlx-lm's TokenizerWrapper holds a transformers tokenizer, which holds a
``tokenizers.Tokenizer``; each is known by its attributes.  ``id_to_token`` on
every id is the cheapest exact reading there is: 0.3 s for 248k tokens, against
0.6 s for get_vocab, and 1.3 s for to_str and json.loads (which also carry the
merges).  So nothing about the tokens is cached on disk, and nothing can be stale.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from stcon.errors import VocabularyError

_MAX_ID = 1 << 24
_SAMPLES = 64

Stamp = tuple[object, ...]


class AddedTokens(NamedTuple):
    """The tokens looked for before text is split, by id, in three columns.

    Columns, not an object each: the 6,415 of Gemma 3 are read at each use of the
    memo, and as many objects would set off the garbage collector (36 ms).
    """

    tokens: tuple[int, ...]
    surfaces: tuple[str, ...]
    are_special: tuple[bool, ...]


def find_backend(tokenizer: Any) -> Any:
    """The ``tokenizers.Tokenizer`` inside (mlx-lm, transformers) or itself."""
    inner = tokenizer
    for _ in range(4):
        if hasattr(inner, "id_to_token") and hasattr(inner, "get_added_tokens_decoder"):
            return inner
        inner = getattr(inner, "_tokenizer", None)
    name = f"{type(tokenizer).__module__}.{type(tokenizer).__qualname__}"
    raise VocabularyError(
        f"the bytes of the tokens of a {name} cannot be told",
        hint="The tokenizer comes first: constrain(tokenizer, schema). Give an"
        " mlx-lm TokenizerWrapper, a fast transformers tokenizer or a"
        " tokenizers.Tokenizer, or the bytes: Vocabulary.from_bytes(tokens, eos_ids).",
    )


def find_eos_ids(tokenizer: Any, chosen: Iterable[int] | None) -> tuple[int, ...]:
    """The ids that end an output, ascending; ``chosen`` goes before what the
    tokenizer says."""
    ids: Any = chosen
    if ids is None:
        ids = getattr(tokenizer, "eos_token_ids", None)
    if ids is None:
        ids = getattr(tokenizer, "eos_token_id", None)
    if ids is None:
        ids = ()
    listed = [ids] if isinstance(ids, int) else list(ids)
    if not all(isinstance(token, (int, np.integer)) for token in listed):
        raise VocabularyError(f"end tokens are whole numbers, not {listed!r}")
    found = {int(token) for token in listed}
    if not found:
        raise VocabularyError(
            "the tokenizer names no token that ends an output",
            hint="Give the ids: eos_token_ids=[...] (the eos_token_id of the model's"
            " config.json or generation_config.json).",
        )
    return tuple(sorted(found))


def read_decoder(backend: Any) -> Any:
    """The ``decoder`` section of the tokenizer's JSON, or None."""
    decoder = backend.decoder
    if decoder is None:
        return None
    try:
        return json.loads(decoder.__getstate__())
    except Exception as error:  # for one written in Python; its repr raises too
        raise VocabularyError(
            f"the decoder does not tell its rule: {error}",
            hint="Give the bytes yourself: Vocabulary.from_bytes(tokens, eos_ids).",
        ) from error


def read_added(backend: Any) -> AddedTokens:
    """The added tokens, special or not."""
    found = backend.get_added_tokens_decoder()
    tokens = sorted(found)
    return AddedTokens(
        tuple(tokens),
        tuple([found[token].content for token in tokens]),
        tuple([found[token].special for token in tokens]),
    )


def read_surfaces(backend: Any, added: AddedTokens) -> list[str]:
    """The surface form of each id from 0 to the largest one; "" for a hole."""
    past_added = max(added.tokens, default=-1) + 1
    end = max(backend.get_vocab_size(with_added_tokens=False), past_added)
    surfaces = _read_range(backend, end)
    holes = surfaces.count(None)
    if len(surfaces) - holes != backend.get_vocab_size():
        # Then the largest id is more than the count tells.
        end = max(backend.get_vocab().values(), default=-1) + 1
        surfaces = _read_range(backend, max(end, past_added))
        holes = surfaces.count(None)
    return [text or "" for text in surfaces] if holes else surfaces


def _read_range(backend: Any, end: int) -> list[Any]:
    if end > _MAX_ID:
        raise VocabularyError(
            f"the largest token id is {end - 1:,}; the limit is {_MAX_ID - 1:,}",
            hint="Number the tokens of this tokenizer without such holes.",
        )
    return list(map(backend.id_to_token, range(end)))


def stamp(backend: Any, eos_ids: tuple[int, ...], added: AddedTokens) -> Stamp:
    """A value that changes when tokens are added, made special or re-decoded.

    Exact for all that adding tokens can change; a model put in place of another of
    the same size is noticed by a sample of its tokens.  Cost: 0.3 ms, but 15 ms
    with the 6,415 added tokens of Gemma 3.
    """
    size = backend.get_vocab_size()
    sample = range(0, size, max(1, size // _SAMPLES))
    return (
        eos_ids,
        size,
        json.dumps(read_decoder(backend)),
        added,
        tuple(map(backend.id_to_token, sample)),
    )


def find_mark(tokenizer: Any, after: str | bool) -> tuple[str, int | None, int | None]:
    """(text, its id if it is one token, the id of what opens such a part).

    ``after``: the text, or True for the tokenizer's own end of thinking.  Raises
    VocabularyError when True is given and it has none.
    """
    ends, opens = getattr(tokenizer, "think_end", None), None
    if after is True or after == ends:
        opens = getattr(tokenizer, "think_start", None)
    text = ends if after is True else after
    if not text:
        raise VocabularyError(
            "the tokenizer names no text that ends thinking",
            hint='Give the text: after="</think>".',
        )
    try:
        backend = find_backend(tokenizer)
    except VocabularyError:  # a Vocabulary knows bytes only
        return str(text), None, None
    if opens is None and text.startswith("</"):
        opens = "<" + text[2:]
    ids = [backend.token_to_id(part) if part else None for part in (text, opens)]
    return str(text), ids[0], ids[1]


def find_tool_form(tokenizer: Any) -> str:
    """The name of the form in which a model writes tool calls, as mlx-lm calls it: that
    of the parser it chose, else what the chat template shows; "" for none."""
    parser = getattr(tokenizer, "tool_parser", None)
    if parser is not None:
        return str(getattr(parser, "__module__", "")).rpartition(".")[2]
    template = getattr(tokenizer, "chat_template", None)
    if not isinstance(template, str) or "<tool_call>" not in template:
        return ""
    if "<tool_call>\\n<function=" in template or "<tool_call>\n<function=" in template:
        return "qwen3_coder"
    return "json_tools" if "tool_call.name" in template else ""
