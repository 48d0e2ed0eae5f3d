"""A tokenizer as the rest of stcon sees it: the bytes of each token, and the end.

Special tokens, holes and the tokens that end an output have no bytes, and a
token without bytes is never text.  Everything lies in two flat arrays; the trie
over them is built when first asked for.  Cost for Qwen3.5 (248k tokens): 0.35 s
to read, 0.15 s for the trie, then 0.1 ms while the tokenizer stays the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, MutableMapping, Sequence
from functools import cached_property
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from stcon.errors import VocabularyError
from stcon.tokens import cache, huggingface
from stcon.tokens.fewest import Fewest
from stcon.tokens.split import Split
from stcon.tokens.token_bytes import read_rule
from stcon.tokens.trie import Trie, build_trie

_MAX_TOKEN_BYTES = 1 << 16

if TYPE_CHECKING:
    from stcon.machines.pushdown import Pushdown
    from stcon.tokens.finishes import Finishes
    from stcon.tokens.transducer import Transducer

# The one memo at module level: a vocabulary costs 0.3 s and tokenizers are passed
# by each call.  Weak, and checked against the tokenizer's stamp at each use.
_known: MutableMapping[Any, tuple[huggingface.Stamp, Vocabulary]] = WeakKeyDictionary()

_lock = Lock()

_KEPT = 10_000  # tokens; a smaller trie is built faster than it is read


class Vocabulary:
    """The tokens of one tokenizer; immutable, shared by all its constraints.

    ``size``: number of ids, holes included (a model may have more logits).
    ``eos_ids``: ascending ids, each of which ends an output.
    ``offsets``: int32 [size + 1]; ``data``: uint8; the bytes of token ``t`` are
    ``data[offsets[t] : offsets[t + 1]]``.
    ``fingerprint``: hex hash of all this; the same bytes and ends, the same hash.
    ``split``: how the tokenizer splits text; None where only bytes were given.
    """

    def __init__(
        self,
        offsets: npt.NDArray[np.int32],
        data: npt.NDArray[np.uint8],
        eos_ids: Iterable[int],
    ) -> None:
        """Prefer ``of`` and ``from_bytes``, which take the bytes from eos ids."""
        self.offsets = offsets
        self.data = data
        self.eos_ids = tuple(sorted(set(eos_ids)))
        self.size = len(offsets) - 1
        self._transducers: dict[Pushdown, Transducer] = {}
        self._finishes: dict[Pushdown, Finishes] = {}
        self.split: Split | None = None
        self._check()
        for array in (offsets, data):
            array.setflags(write=False)

    @classmethod
    def of(
        cls, tokenizer: Any, eos_token_ids: Iterable[int] | None = None
    ) -> Vocabulary:
        """The vocabulary of a tokenizer.

        ``tokenizer``: an mlx-lm TokenizerWrapper, a fast transformers tokenizer, a
        ``tokenizers.Tokenizer`` (which needs ``eos_token_ids``), or a Vocabulary,
        which is returned.  ``eos_token_ids`` goes before what the tokenizer says.
        Raises VocabularyError where token bytes or the end cannot be told.
        """
        if isinstance(tokenizer, Vocabulary):
            return tokenizer._with_end(eos_token_ids)
        backend = huggingface.find_backend(tokenizer)
        eos_ids = huggingface.find_eos_ids(tokenizer, eos_token_ids)
        added = huggingface.read_added(backend)
        stamp = huggingface.stamp(backend, eos_ids, added)
        try:
            known = _known.get(tokenizer)
        except TypeError:  # an object without weak references or hash
            return _read(backend, eos_ids, added)
        if known is not None and known[0] == stamp:
            return known[1]
        vocabulary = _read(backend, eos_ids, added)
        _known[tokenizer] = (stamp, vocabulary)
        return vocabulary

    @classmethod
    def from_bytes(
        cls, tokens: Sequence[bytes | None], eos_ids: Iterable[int]
    ) -> Vocabulary:
        """The vocabulary whose token ``t`` has the bytes ``tokens[t]``.

        None and the eos ids are never text.
        """
        ends = set(eos_ids)
        if not all(isinstance(token, (int, np.integer)) for token in ends):
            raise VocabularyError(f"end tokens are whole numbers, not {ends!r}")
        usable = [
            b"" if text is None or token in ends else text
            for token, text in enumerate(tokens)
        ]
        offsets = np.zeros(len(usable) + 1, np.int32)
        offsets[1:] = np.cumsum(np.array([len(text) for text in usable], np.int32))
        return cls(offsets, np.frombuffer(b"".join(usable), np.uint8), ends)

    def token_bytes(self, token: int) -> bytes:
        """The bytes the token adds to an output; b"" for one that is no text."""
        if not 0 <= token < self.size:
            return b""
        return self.data[self.offsets[token] : self.offsets[token + 1]].tobytes()

    def is_text(self, token: int) -> bool:
        """Whether the token has bytes: no special, eos or unknown id has."""
        return 0 <= token < self.size and bool(
            self.offsets[token] < self.offsets[token + 1]
        )

    def decode(self, tokens: Iterable[int]) -> bytes:
        """The bytes of the tokens in a row, what is no text left out."""
        return b"".join(map(self.token_bytes, tokens))

    @cached_property
    def fingerprint(self) -> str:
        """32 hex digits; the same on every machine."""
        content = blake2b(b"stcon vocabulary 1", digest_size=16)
        content.update(np.array([self.size, *self.eos_ids], "<i8").tobytes())
        content.update(self.offsets.astype("<i4").tobytes())
        content.update(self.data.tobytes())
        return content.hexdigest()

    @cached_property
    def trie(self) -> Trie:
        """The prefix tree of all text tokens; kept in the cache folder."""
        if self.size < _KEPT:
            return build_trie(self.offsets, self.data)
        kept = cache.load("trie-1", self.fingerprint)
        if kept is not None:
            return Trie(**kept)
        trie = build_trie(self.offsets, self.data)
        cache.store("trie-1", self.fingerprint, vars(trie))
        return trie

    @cached_property
    def fewest(self) -> Fewest:
        """In how few tokens texts can be written."""
        return Fewest(self.trie)

    def transducer(self, machine: Pushdown) -> Transducer:
        """The transducer of a machine that many formats share; one of each."""
        from stcon.tokens.standard_hops import stocked
        from stcon.tokens.transducer import Transducer

        known = self._transducers.get(machine)
        if known is None:
            with _lock:
                known = self._transducers.get(machine)
                if known is None:
                    known = Transducer(machine, self.trie)
                    if self.size >= _KEPT:
                        stocked(machine, known, self.fingerprint)
                    self._transducers[machine] = known
        return known

    def finishes(self, machine: Pushdown) -> Finishes:
        """The finishes of a machine that many formats share; one of each."""
        from stcon.tokens.finishes import Finishes

        masks = self.transducer(machine)
        with _lock:
            known = self._finishes.get(machine)
            if known is None:
                known = self._finishes[machine] = Finishes(machine, masks)
            return known

    def has(self, data: bytes) -> bool:
        """Whether a token has the bytes ``data``, one or more."""
        node = self._node_of(data)
        return node is not None and bool((self.trie.node_of_token == node).any())

    def _node_of(self, data: bytes) -> int | None:
        """The trie's node after ``data``."""
        trie, node = self.trie, 0
        for byte in data:
            first = int(trie.first_child[node])
            children = trie.byte[first : first + int(trie.child_count[node])]
            place = int(np.searchsorted(children, byte))
            if place == len(children) or children[place] != byte:
                return None
            node = first + place
        return node

    def has_longer(self, data: bytes, following: Collection[int]) -> bool:
        """Whether a token begins with ``data`` and one of the bytes ``following``."""
        trie, node = self.trie, self._node_of(data)
        if node is None:
            return False
        first = int(trie.first_child[node])
        below = trie.byte[first : first + int(trie.child_count[node])].tolist()
        return not set(following).isdisjoint(below)

    @cached_property
    def byte_tokens(self) -> npt.NDArray[np.int32]:
        """int32 [256]: the lowest id whose bytes are this one byte; -1 for none."""
        single = np.flatnonzero(np.diff(self.offsets) == 1)[::-1]
        tokens = np.full(256, -1, np.int32)
        tokens[self.data[self.offsets[single]]] = single
        tokens.setflags(write=False)
        return tokens

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays, the trie's included once it is built."""
        trie = self.__dict__.get("trie")
        own = self.offsets.nbytes + self.data.nbytes
        return own + (trie.nbytes if trie is not None else 0)

    def __repr__(self) -> str:
        return f"<Vocabulary of {self.size} tokens, eos {list(self.eos_ids)}>"

    def _with_end(self, eos_token_ids: Iterable[int] | None) -> Vocabulary:
        if eos_token_ids is None or set(eos_token_ids) == set(self.eos_ids):
            return self
        raise VocabularyError(
            f"this Vocabulary ends with {list(self.eos_ids)}, not with other ids",
            hint="Give the eos ids where the Vocabulary is made.",
        )

    def _check(self) -> None:
        for token in self.eos_ids:
            if not 0 <= token < self.size:
                raise VocabularyError(
                    f"the eos id {token} is none of the {self.size} token ids",
                    hint="Give the ids that end an output: eos_token_ids=[...].",
                )
        longest = int(np.diff(self.offsets).max(initial=0))
        if longest > _MAX_TOKEN_BYTES:
            raise VocabularyError(
                f"a token has {longest:,} bytes; the limit is {_MAX_TOKEN_BYTES:,}",
                hint="Give None for tokens that are not to be used.",
            )


def _read(
    backend: Any, eos_ids: tuple[int, ...], added: huggingface.AddedTokens
) -> Vocabulary:
    rule = read_rule(huggingface.read_decoder(backend))
    surfaces = huggingface.read_surfaces(backend, added)
    known = {token: b"" for token in eos_ids if 0 <= token < len(surfaces)}
    columns = (added.tokens, added.surfaces, added.are_special)
    for token, surface, is_special in zip(*columns, strict=True):
        if token not in known:
            known[token] = b"" if is_special else rule.bytes_of(surface)
    offsets, data = rule.bytes_of_all(surfaces, known)
    vocabulary = Vocabulary(offsets, data, eos_ids)
    vocabulary.split = Split(backend, vocabulary.token_bytes)
    return vocabulary
