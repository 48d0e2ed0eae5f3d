"""The exact bytes of a token, from the decoder the tokenizer itself declares.

A token's bytes are those it adds in the middle of an output.  Two families of
decoder have such bytes: byte-level (GPT-2's map between bytes and printable
characters) and SentencePiece style (Replace or Metaspace for the space mark,
``<0xNN>`` for single bytes).  Others (WordPiece, BPEDecoder, CTC) write a token
differently by its neighbours, so a token has no bytes: refused by name.

A leading space that Strip or Metaspace removes is removed from the first token
of a *decode*, not of a generation: the first generated token continues a prompt
and keeps its space here.  Only who decodes generated ids on their own loses it.

The rule follows the behaviour of Hugging Face ``tokenizers`` (decoders/*.rs),
which sends added tokens through the decoder too.  Cost: 0.03 s for 248k tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from stcon.errors import VocabularyError

Int32 = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]

_WAY_OUT = (
    "Use a tokenizer with a byte-level or SentencePiece decoder, or give the bytes"
    " yourself: Vocabulary.from_bytes(tokens, eos_ids)."
)
# Lone surrogates cannot occur in a token, and this one is written as byte 0xFF,
# which cannot occur in UTF-8: a separator that needs no escaping.
_MARK = "\udcff"
# The one order of SentencePiece style steps in which they work token by token;
# a Replace after ByteFallback, say, would join the bytes of several tokens.
_PLACES = {"Replace": 0, "Metaspace": 0, "ByteFallback": 1, "Fuse": 2, "Strip": 3}


@dataclass(frozen=True)
class ByteRule:
    """How a decoder writes one token in the middle of an output.

    ``is_byte_level``: characters stand for bytes (GPT-2's alphabet).  Otherwise
    ``replacements`` are made in order, then ``has_byte_fallback`` reads
    ``<0xNN>`` as one byte, and what is left is UTF-8.
    """

    is_byte_level: bool = False
    replacements: tuple[tuple[str, str], ...] = ()
    has_byte_fallback: bool = False

    def bytes_of(self, surface: str) -> bytes:
        """The bytes that the token with this surface form adds to an output."""
        if self.is_byte_level:
            codes = [_byte_of_char().get(char) for char in surface]
            known = [code for code in codes if code is not None]
            is_mapped = len(known) == len(codes)
            return bytes(known) if is_mapped else surface.encode()
        for old, new in self.replacements:
            surface = surface.replace(old, new)
        value = _fallback_byte(surface) if self.has_byte_fallback else None
        return surface.encode() if value is None else bytes([value])

    def bytes_of_all(
        self, surfaces: Sequence[str], overrides: Mapping[int, bytes]
    ) -> tuple[Int32, Bytes]:
        """``offsets [n + 1]`` and ``data`` of all tokens, those of ``overrides``
        replaced.  Equal to ``bytes_of`` on each, at numpy speed."""
        bulk = self._bulk_byte_level if self.is_byte_level else self._bulk_text
        ends, data, odd = bulk(surfaces)
        patches = {token: self.bytes_of(surfaces[token]) for token in odd}
        return _patch(ends, data, {**patches, **overrides})

    def _bulk_byte_level(
        self, surfaces: Sequence[str]
    ) -> tuple[Int32, Bytes, Iterable[int]]:
        """Ends, data and the tokens that hold a character outside the alphabet."""
        text, mark = _join(surfaces)
        codes = np.frombuffer(text.encode("utf-32-le"), "<u4")
        values = _values_of_codes().take(codes, mode="clip")
        outside = np.flatnonzero(values == _OUTSIDE)
        is_mark = codes[outside] == ord(mark)
        marks, strangers = outside[is_mark], outside[~is_mark]
        odd = set(np.searchsorted(marks, strangers).tolist())
        keep = np.ones(len(codes), bool)
        keep[marks] = False
        return _ends_before(marks), values.astype(np.uint8)[keep], odd

    def _bulk_text(self, surfaces: Sequence[str]) -> tuple[Int32, Bytes, Iterable[int]]:
        """Ends, data and the tokens that may be written as one byte."""
        text = _MARK.join([*surfaces, ""])
        for old, new in self.replacements:
            text = text.replace(old, new)
        raw = np.frombuffer(text.encode("utf-8", "surrogateescape"), np.uint8)
        is_mark = raw == 0xFF
        ends, data = _ends_before(np.flatnonzero(is_mark)), raw[~is_mark]
        if not self.has_byte_fallback:
            return ends, data, ()
        starts = np.concatenate([np.zeros(1, np.int32), ends[:-1]])
        six = np.flatnonzero(ends - starts == 6)
        quoted = (data[starts[six]] == ord("<")) & (data[ends[six] - 1] == ord(">"))
        return ends, data, six[quoted].tolist()


def read_rule(decoder: Mapping[str, Any] | None) -> ByteRule:
    """The rule of the ``decoder`` section of a tokenizer.json.

    VocabularyError, naming the decoder, where a token has no bytes of its own.
    """
    if decoder is None:
        raise _refusal("none (tokens are joined with spaces)")
    steps = list(_flatten(decoder))
    kinds = [str(step.get("type")) for step in steps]
    if kinds in (["ByteLevel"], ["ByteLevel", "Fuse"]):
        return ByteRule(is_byte_level=True)
    replacements: list[tuple[str, str]] = []
    reached = 0
    for step, kind in zip(steps, kinds, strict=True):
        place = _PLACES.get(kind, -1)
        is_late = place < reached or place == reached > 0
        if is_late or (kind == "Strip" and not _is_first_only(step, kinds)):
            raise _refusal(" > ".join(kinds))
        reached = place
        if place == 0:
            replacements.append(_replacement(step, " > ".join(kinds)))
    return ByteRule(
        replacements=tuple(replacements), has_byte_fallback="ByteFallback" in kinds
    )


def _flatten(decoder: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    if decoder.get("type") != "Sequence":
        yield decoder
        return
    for step in decoder.get("decoders", ()):
        yield from _flatten(step)


def _is_first_only(strip: Mapping[str, Any], kinds: Sequence[str]) -> bool:
    """Whether this Strip touches nothing but the start of a whole decode."""
    return "Fuse" in kinds and strip.get("stop", 0) == 0


def _replacement(step: Mapping[str, Any], name: str) -> tuple[str, str]:
    if step["type"] == "Metaspace":
        return str(step.get("replacement", "▁")), " "
    old = step.get("pattern", {}).get("String")
    if not old:
        raise _refusal(f"{name} with the pattern {step.get('pattern')}")
    return str(old), str(step.get("content", ""))


def _refusal(name: str) -> VocabularyError:
    return VocabularyError(
        f"the bytes of single tokens cannot be told: decoder {name}", hint=_WAY_OUT
    )


def _fallback_byte(surface: str) -> int | None:
    """The byte that ``<0xNN>`` stands for; like Rust's, ``+F`` is a number."""
    if not (len(surface) == 6 and surface.startswith("<0x") and surface[5] == ">"):
        return None
    digits = "0123456789abcdefABCDEF"
    if surface[4] not in digits or surface[3] not in digits + "+":
        return None
    return int(surface[3:5], 16)


@cache
def _byte_of_char() -> Mapping[str, int]:
    """GPT-2's alphabet: printable Latin-1 is itself, the rest counts from U+0100."""
    plain = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in plain]
    moved = {chr(0x100 + place): byte for place, byte in enumerate(others)}
    return {**{chr(byte): byte for byte in plain}, **moved}


_OUTSIDE = 256


@cache
def _values_of_codes() -> npt.NDArray[np.uint16]:
    """The alphabet (up to U+0143) as a table over code points; the last entry
    stands for all that follow."""
    values = np.full(0x145, _OUTSIDE, np.uint16)
    for char, byte in _byte_of_char().items():
        values[ord(char)] = byte
    return values


def _join(surfaces: Sequence[str]) -> tuple[str, str]:
    """All surfaces, each with a mark after it that occurs in none, and the mark.

    Not ``_MARK``: UTF-32 encodes lone surrogates through a slow error handler.
    """
    code = 0x10FFFF
    while True:
        text = chr(code).join([*surfaces, ""])
        if text.count(chr(code)) == len(surfaces):
            return text, chr(code)
        code -= 1


def _ends_before(marks: npt.NDArray[np.int64]) -> Int32:
    """Where each token ends once the marks after them are taken out."""
    return (marks - np.arange(len(marks))).astype(np.int32)


def _patch(
    ends: Int32, data: Bytes, patches: Mapping[int, bytes]
) -> tuple[Int32, Bytes]:
    lengths = np.diff(ends, prepend=np.int32(0))
    raw, parts, done = data.tobytes(), [], 0
    for token in sorted(patches):
        end = int(ends[token])
        parts += [raw[done : end - int(lengths[token])], patches[token]]
        done = end
    parts.append(raw[done:])
    for token, new in patches.items():
        lengths[token] = len(new)
    offsets = np.zeros(len(ends) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return offsets, np.frombuffer(b"".join(parts), np.uint8)
