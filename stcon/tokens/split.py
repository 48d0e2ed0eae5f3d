"""How a tokenizer splits text, as far as it is sure before more text arrives.

Tokenizers first cut text into blocks (words, numbers, runs of punctuation) and
then encode each block alone.  Appending text changes the last block at most, so
the tokens of all blocks but the last may be written before the rest is known, and
those of the last one as well if every character that may follow begins a new block
(few-paths paper, Theorem 20).  That appending changes no earlier block is tested on
samples of each tokenizer; one that cuts nothing, or otherwise, is asked to encode
the text with each character that may follow, and all but the last of the tokens in
common count as sure.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple
from unicodedata import category

from stcon.tokens.added import AddedTexts

_SAMPLES = 150
_ALPHABET = "ab1 .,\":{}[]_-\n'sé中😀\u00a0"
_ABROAD = "é\u00a0\u0301ñ\u0410א中\u3000。“—\u2003😀\ue000"
"""Characters of many kinds, one or more for each length of their UTF-8."""


class Block(NamedTuple):
    """What is encoded by itself: from character ``start``, what the model reads;
    ``token``: the added token that it is, else -1."""

    start: int
    piece: str
    token: int = -1


class Split:
    """The split of one tokenizer: its normalizer, pre-tokenizer and model."""

    def __init__(self, backend: Any, token_bytes: Callable[[int], bytes]) -> None:
        """``backend``: a ``tokenizers.Tokenizer``; it is not kept.
        ``token_bytes``: the bytes of an id."""
        self._token_bytes = token_bytes
        self._normalizer = backend.normalizer
        self._pre_tokenizer = backend.pre_tokenizer
        self._model = backend.model
        self._added = AddedTexts(backend)
        self._blocks = lru_cache(maxsize=4096)(self._cut)
        self._shortest = lru_cache(maxsize=4096)(self._shortest_of_all)

    def encode(self, text: str) -> list[int]:
        """The ids of ``text``, without special tokens."""
        return [token for block in self._blocks(text) for token in self._ids(block)]

    def encode_part(self, text: str, first: int, last: int) -> list[int]:
        """The ids of the blocks of ``text`` that begin from character ``first`` on
        and before ``last``; of its tokens there where it is not cut."""
        if self.cuts_for_good:
            return [
                token
                for block in self._blocks(text)
                if first <= block.start < last
                for token in self._ids(block)
            ]
        found, at = [], 0
        begin, end = len(text[:first].encode()), len(text[:last].encode())
        for token in self.encode(text):
            if begin <= at < end:
                found.append(token)
            at += len(self._token_bytes(token))
        return found

    def sure(self, text: str, nexts: Collection[str] | None, may_end: bool) -> int:
        """How many characters of ``text`` have tokens that no continuation changes.

        ``nexts``: the characters that may follow, None if any may; ``may_end``:
        whether the text may end here.
        """
        if not text or (nexts is not None and not nexts):
            return len(text)
        unsure = self._added.unsure(text, nexts)
        return min(unsure, self._sure_of_blocks(text, nexts, may_end))

    def _sure_of_blocks(
        self, text: str, nexts: Collection[str] | None, may_end: bool
    ) -> int:
        if not self.cuts_for_good:
            return self._sure_by_encoding(text, nexts, may_end)
        starts = [block.start for block in self._blocks(text)]
        run = len(text.rstrip())
        if run < len(text):
            return max((start for start in starts if start <= run), default=0)
        if nexts is not None and all(self.is_cut(text, char) for char in nexts):
            return len(text)
        return starts[-1]

    def is_cut(self, text: str, char: str) -> bool:
        """Whether a block begins between ``text`` and ``char``."""
        return len(text) in (block.start for block in self._blocks(text + char))

    def is_boundary(self, text: str, place: int) -> bool:
        """Whether a block of ``text`` begins at character ``place``."""
        return place == len(text) or place in (b.start for b in self._blocks(text))

    def shortest_first(
        self, text: str, nexts: Collection[str], may_end: bool = False
    ) -> int:
        """The fewest bytes that the first token of ``text`` and what follows has.

        Looks at each of ``nexts``, and at two characters where both may join a run
        of punctuation: 1 to 2 ms, once.
        """
        return self._shortest(text, tuple(nexts), may_end)

    def _shortest_of_all(self, text: str, nexts: tuple[str, ...], may_end: bool) -> int:
        ends = [*nexts] if nexts and not may_end else ["", *nexts]
        joining = [char for char in nexts if char < "\x80" and not char.isalnum()]
        ends += [a + b for a in joining for b in _JOINING]
        firsts = {self.encode(text + end)[0] for end in ends}
        return min(len(self._token_bytes(token)) for token in firsts)

    @cached_property
    def cuts_for_good(self) -> bool:
        """Whether appending text changes the last block at most, on samples.

        Blanks at the end may join what follows; the rest may not.
        """
        rng = random.Random(0)
        many = False
        for _ in range(_SAMPLES):
            whole = "".join(rng.choices(_ALPHABET, k=rng.randint(2, 12)))
            text = whole[: rng.randint(1, len(whole) - 1)]
            run = len(text.rstrip())
            before = [start for start, _ in self._cut_plain(text) if start <= run]
            after = [start for start, _ in self._cut_plain(whole)]
            many = many or len(after) > 1
            if not set(before) <= set(after):
                return False
        return many

    def _sure_by_encoding(
        self, text: str, nexts: Collection[str] | None, may_end: bool
    ) -> int:
        tokens = self.encode(text)
        if nexts is None:
            nexts = [*map(chr, range(0x20, 0x7F)), *_ABROAD]
        common = len(tokens) - (not may_end)
        for char in nexts:
            other = self.encode(text + char)
            while tokens[:common] != other[:common]:
                common -= 1
        spelled = b"".join(map(self._token_bytes, tokens[: max(common - 1, 0)]))
        return len(spelled.decode("utf-8", "ignore"))

    def _ids(self, block: Block) -> list[int]:
        if block.token >= 0:
            return [block.token]
        return [token.id for token in self._model.tokenize(block.piece)]

    def _cut(self, text: str) -> list[Block]:
        blocks: list[Block] = []
        for start, part, token in self._added.parts(text):
            if token >= 0:
                blocks.append(Block(start, part, token))
            else:
                blocks += [Block(start + b, p) for b, p in self._cut_plain(part)]
        return blocks

    def _cut_plain(self, text: str) -> list[tuple[int, str]]:
        """(first character, what the model reads) of each block."""
        normal = text
        if self._normalizer is not None:
            normal = self._normalizer.normalize_str(text)
        if self._pre_tokenizer is None:
            return [(0, normal)]
        cut = self._pre_tokenizer.pre_tokenize_str(normal)
        if len(normal) != len(text):  # places in the text are not told
            return [(0, piece) for piece, _ in cut]
        return [(first, piece) for piece, (first, _) in cut]


_JOINING = ',:"]}[{.; \n'


def characters(live: Collection[int]) -> list[str]:
    """Characters that may be begun by the bytes ``live``: the ASCII ones
    themselves, and for each other one some of many kinds."""
    ascii_ones = [chr(byte) for byte in live if byte < 0x80]
    leads = [byte for byte in live if byte >= 0xC2]
    return ascii_ones + [char for lead in leads for char in _samples(lead)]


@cache
def _samples(lead: int) -> tuple[str, ...]:
    """Characters whose UTF-8 begins with ``lead``: the first of each general category,
    and those of ``_ABROAD``."""
    if lead < 0xE0:
        codes = range((lead & 0x1F) << 6, (lead & 0x1F) + 1 << 6)
    elif lead < 0xF0:
        first = max((lead & 0x0F) << 12, 0x800)
        codes = range(first, (lead & 0x0F) + 1 << 12)
    else:
        first = max((lead & 0x07) << 18, 0x10000)
        codes = range(first, min((lead & 0x07) + 1 << 18, 0x110000), 7)
    found: dict[str, str] = {}
    for code in codes:
        kind = category(chr(code))
        if kind != "Cs":
            found.setdefault(kind, chr(code))
    own = [char for char in _ABROAD if char.encode()[0] == lead]
    return tuple(dict.fromkeys([*own, *found.values()]))
