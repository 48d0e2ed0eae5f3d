"""The output head of a model: logits only where, and of what, they are needed.

mlx-lm's models compute logits after every token they are fed.  Behind a forced span
only the last place is sampled from, and where the format leaves few tokens open only
their logits matter: with 248k tokens and a tied 4-bit head that is 250 MB which need
not be read.  So the layers below the head are called alone, and the head afterwards.
A model whose head is not found, or does more than multiply, is called as a whole.
Source: few-paths paper, mechanism 5, the sparse head.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

_PROBES = ([0, 1], [1])


@dataclass(frozen=True)
class Head:
    """How to call the layers of a model and its head apart.

    ``owner``: the attributes that lead to the module with both.  ``is_tied``: whether
    the head is the matrix of the input embeddings.
    """

    owner: tuple[str, ...]
    is_tied: bool

    def hidden(self, model: Any, tokens: Any, layers: Any) -> Any:
        """What the head is given, [rows, n, size], for ids [rows, n]; ``layers``: the
        cache of each."""
        return self._owner(model).model(tokens, cache=layers)

    def logits(self, model: Any, hidden: Any) -> Any:
        """Logits, [..., width], of hidden vectors [..., size]."""
        layer = self._layer(model)
        return layer.as_linear(hidden) if self.is_tied else layer(hidden)

    def logits_of(self, model: Any, hidden: Any, ids: Any) -> Any:
        """The logits of the tokens ``ids``, int [k], alone: [..., k].

        Reads k rows of the matrix, dense or quantised.
        """
        import mlx.core as mx

        layer = self._layer(model)
        weight = layer["weight"][ids]
        if "scales" not in layer:
            found = hidden @ weight.T
        else:
            biases = layer.get("biases")
            found = mx.quantized_matmul(
                hidden,
                weight,
                scales=layer["scales"][ids],
                biases=None if biases is None else biases[ids],
                transpose=True,
                group_size=layer.group_size,
                bits=layer.bits,
                mode=layer.mode,
            )
        return found + layer["bias"][ids] if "bias" in layer else found

    def width(self, model: Any) -> int:
        """How many logits a place has."""
        return int(self._layer(model)["weight"].shape[0])

    def _owner(self, model: Any) -> Any:
        for name in self.owner:
            model = getattr(model, name)
        return model

    def _layer(self, model: Any) -> Any:
        owner = self._owner(model)
        return owner.model.embed_tokens if self.is_tied else owner.lm_head


class Heads:
    """The heads of models met so far; forgotten with their models."""

    def __init__(self) -> None:
        self._met: dict[int, tuple[Callable[[], Any], Head | None]] = {}

    def __len__(self) -> int:
        return len(self._met)

    def of(self, model: Any) -> Head | None:
        """The head of ``model``, looked for once."""
        key = id(model)  # a module of mlx cannot be hashed
        met = self._met.get(key)
        if met is not None and met[0]() is model and _still_fits(model, met[1]):
            return met[1]
        alive = weakref.ref(model, lambda _: self._met.pop(key, None))
        heads = _candidates(model)
        found = next((head for head in heads if _is_right(model, head)), None)
        self._met[key] = alive, found
        return found


@cache
def shared_heads() -> Heads:
    """Those that all generations of this process share."""
    return Heads()


def head_of(model: Any) -> Head | None:
    """The head of an mlx-lm model; None where none is found that gives the model's
    own logits bit for bit on a few tokens.

    Costs four short runs of the model, once.
    """
    if not isinstance(model, _nn().Module):
        return None  # a wrapper of the user's, which wants to see each call
    return shared_heads().of(model)


def _candidates(model: Any) -> list[Head]:
    """The places where mlx-lm's models keep a head; none in classes of others, which
    may do more when they are called."""
    found = []
    for owner in ((), ("language_model",)):
        head = Head(owner, is_tied=False)
        try:
            module = head._owner(model)
            inner = module.model
        except AttributeError:
            continue
        if not (_is_stock(model) and _is_stock(module)):
            continue
        if "lm_head" in module:
            found.append(head)
        elif hasattr(inner, "embed_tokens"):
            found.append(Head(owner, is_tied=True))
    return [head for head in found if _multiplies(head._layer(model))]


def _still_fits(model: Any, head: Head | None) -> bool:
    """Whether no adapter was put around a head meanwhile."""
    return head is None or _multiplies(head._layer(model))


def _is_stock(module: Any) -> bool:
    """Whether a module is called as mlx-lm wrote it."""
    return str(type(module).__call__.__module__).startswith("mlx_lm.models.")


def _multiplies(layer: Any) -> bool:
    """Whether a layer is nothing but a matrix: adapters around one are not."""
    nn = _nn()
    kinds = (nn.Linear, nn.QuantizedLinear, nn.Embedding, nn.QuantizedEmbedding)
    return type(layer) in kinds


def _is_right(model: Any, head: Head) -> bool:
    """Whether ``head`` gives what the model gives; some scale or cap their logits."""
    import mlx.core as mx
    from mlx_lm.models.cache import make_prompt_cache

    mine, whole = make_prompt_cache(model), make_prompt_cache(model)
    for probe in _PROBES:
        tokens = mx.array([probe])
        want = model(tokens, cache=whole)
        try:
            have = head.logits(model, head.hidden(model, tokens, mine))
        except (TypeError, AttributeError, ValueError):
            return False
        if have.shape != want.shape or not mx.array_equal(have, want).item():
            return False
    return True


def _nn() -> Any:
    """mlx.nn, whose names type checkers do not see."""
    return import_module("mlx.nn")


class Fed:
    """What a model made of the tokens of one run; lazy.

    ``values``: hidden vectors [n, size] if there is a ``head``, else logits
    [n, width].
    """

    def __init__(self, values: Any, model: Any = None, head: Head | None = None):
        self.values = values
        self._model = model
        self._head = head

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def behind(self, others: Sequence[Fed]) -> Fed:
        """These places behind those of other runs of the same model."""
        import mlx.core as mx

        values = mx.concatenate([*(fed.values for fed in others), self.values])
        return Fed(values, self._model, self._head)

    @property
    def width(self) -> int:
        """How many logits a place has."""
        if self._head is None:
            return int(self.values.shape[-1])
        return self._head.width(self._model)

    @property
    def is_sparse(self) -> bool:
        """Whether logits of a few tokens cost less than all."""
        return self._head is not None

    def logits(self, start: int, stop: int) -> Any:
        """Logits, [places, width], after the tokens from ``start`` to ``stop``."""
        values = self.values[start:stop]
        if self._head is None:
            return values
        return self._head.logits(self._model, values)

    def logits_of(self, place: int, ids: Any) -> Any:
        """Logits, [1, width], after one token; -inf for all tokens but ``ids``, int32
        [k]."""
        import mlx.core as mx

        assert self._head is not None
        hidden = self.values[place : place + 1]
        few = self._head.logits_of(self._model, hidden, ids)
        row = mx.full((1, self.width), -float("inf"), few.dtype)
        row[:, ids] = few
        return row
