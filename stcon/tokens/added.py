"""Added tokens that are text: a tokenizer finds them before it cuts anything.

``<tool_call>``, ``</think>``, the runs of blanks and HTML tags of Gemma 3: wherever
such a text stands it is one token, leftmost and longest, and the text before and after
it is cut by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

_END = ""  # a key of a node that is no character: the id of the token that ends there


class Part(NamedTuple):
    """A stretch of text from character ``start``; ``token``: the added token that it
    is, -1 for text that is still to be cut."""

    start: int
    text: str
    token: int


class AddedTexts:
    """The added tokens of one tokenizer that are not special.

    Some may be found only as whole words, or swallow blanks beside them: of what such a
    token would change nothing is ever sure.
    """

    def __init__(self, backend: Any) -> None:
        """``backend``: a ``tokenizers.Tokenizer``; it is not kept."""
        self._root: dict[str, Any] = {}
        self._awkward: set[int] = set()
        for token, added in backend.get_added_tokens_decoder().items():
            if added.special or not added.content:
                continue
            node = self._root
            for char in added.content:
                node = node.setdefault(char, {})
            node[_END] = token
            if added.single_word or added.lstrip or added.rstrip:
                self._awkward.add(token)

    def parts(self, text: str) -> Iterator[Part]:
        """``text``, cut around the added tokens in it."""
        plain = at = 0
        while at < len(text):
            length, token = self._longest(text, at)
            if not length:
                at += 1
                continue
            if plain < at:
                yield Part(plain, text[plain:at], -1)
            yield Part(at, text[at : at + length], token)
            plain = at = at + length
        if plain < len(text) or not text:
            yield Part(plain, text[plain:], -1)

    def unsure(self, text: str, nexts: Collection[str] | None) -> int:
        """The first character of ``text`` from which on an added token may still
        begin, whatever of ``nexts`` (None: anything) follows; len(text) if none."""
        for at in range(len(text)):
            node, token = self._walk(text, at)
            if token in self._awkward:
                return at
            if node is not None and _goes_on(node, nexts):
                return at
        return len(text)

    def _longest(self, text: str, at: int) -> tuple[int, int]:
        """The length and id of the longest added token at character ``at``, or 0."""
        node, found = self._root, (0, -1)
        for place in range(at, len(text)):
            if text[place] not in node:
                break
            node = node[text[place]]
            if _END in node:
                found = place + 1 - at, node[_END]
        return found

    def _walk(self, text: str, at: int) -> tuple[dict[str, Any] | None, int]:
        """Where all of ``text`` from ``at`` on leads, None if to nothing; the last
        token on the way, -1 for none."""
        node, token = self._root, -1
        for place in range(at, len(text)):
            if text[place] not in node:
                return None, token
            node = node[text[place]]
            token = node.get(_END, token)
        return node, token


def _goes_on(node: dict[str, Any], nexts: Collection[str] | None) -> bool:
    """Whether a longer token begins with what led to ``node``."""
    if nexts is None:
        return any(key != _END for key in node)
    return any(char in node for char in nexts)
