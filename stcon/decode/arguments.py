"""What a loop hands a logits processor, checked before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stcon.decode.forgotten import WIDTH
from stcon.errors import HistoryError, StconError

if TYPE_CHECKING:
    from stcon.tokens.vocabulary import Vocabulary

_LEAST, _MOST, _PADDING = 0.9, 2, 4096


def check_logits(logits: Any, vocabulary: Vocabulary) -> int:
    """The width of ``logits``, floats of shape [width] or [1, width], of a model that
    may belong to ``vocabulary``.

    Raises TypeError for anything else: -inf has no integer form, and several
    rows need several histories.
    """
    import mlx.core as mx

    if not isinstance(logits, mx.array) or not mx.issubdtype(logits.dtype, mx.floating):
        raise TypeError(f"logits are a floating mlx array, not {_describe(logits)}")
    if logits.ndim not in (1, 2) or logits.size != logits.shape[-1] or not logits.size:
        raise TypeError(
            f"logits have the shape [1, width] or [width], not {logits.shape}"
        )
    check_width(logits.shape[-1], vocabulary)
    return int(logits.shape[-1])


def check_width(width: int, vocabulary: Vocabulary) -> None:
    """Nothing; raises StconError when a model cannot be the one whose tokenizer the
    constraint was made for.

    Models pad their logits, and some tokenizers have a few tokens that their model
    has not; more than that is another model.
    """
    size = vocabulary.size
    if not _LEAST * size <= width <= _MOST * size + _PADDING:
        raise StconError(
            f"the model has {width:,} logits and the constraint's vocabulary {size:,} "
            "tokens: they do not belong together",
            hint="make the constraint with the tokenizer of this model",
        )


def _describe(value: Any) -> str:
    kind = type(value).__name__
    return f"{kind} of {value.dtype}" if hasattr(value, "dtype") else kind


def read_history(tokens: Any) -> bytes:
    """A history (mlx array, numpy array or list of ids) as ``Runs`` takes it.

    Waits for the value of a lazy array.  Raises HistoryError for other shapes,
    and for an empty history.
    """
    try:
        history = np.asarray(tokens)
    except ValueError:  # rows of unequal lengths
        history = np.array(None)
    if history.ndim != 1 or not history.size or history.dtype.kind not in "iu":
        raise HistoryError(
            "a history must be one row of token ids, the prompt first; got "
            f"shape {history.shape}, dtype {history.dtype}",
            position=0,
            hint="pass constraints to mlx_lm, which calls them with one row each",
        )
    if history.itemsize != WIDTH:
        # One reduction instead of two, 4 µs each: the union of all bits.
        if not 0 <= int(np.bitwise_or.reduce(history)) < 1 << 31:
            raise HistoryError(
                "a history holds numbers that are no token ids", position=0
            )
        history = history.astype(np.uint32)
    return history.tobytes()
