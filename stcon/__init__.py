"""stcon: language models on mlx-lm write exactly the format asked for.

    from stcon import constrain
    person = constrain(tokenizer, Person)
    mlx_lm.generate(model, tokenizer, prompt, logits_processors=[person])

Names are imported when they are first used, so that ``import stcon`` is free.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stcon.api import constrain, constrain_tools, load
    from stcon.constraints.constraint import Constraint
    from stcon.decode.patch import patch, unpatch
    from stcon.decode.stream import partial_json, stream
    from stcon.errors import (
        ConstraintFileError,
        EngineError,
        GrammarError,
        HistoryError,
        LimitError,
        RegexError,
        SchemaError,
        StconError,
        VocabularyError,
    )
    from stcon.machines.limits import Limits
    from stcon.show.trace import trace
    from stcon.tokens.vocabulary import Vocabulary

__version__ = "0.1.0"

__all__ = [
    "Constraint",
    "ConstraintFileError",
    "EngineError",
    "GrammarError",
    "HistoryError",
    "LimitError",
    "Limits",
    "RegexError",
    "SchemaError",
    "StconError",
    "Vocabulary",
    "VocabularyError",
    "constrain",
    "constrain_tools",
    "load",
    "partial_json",
    "patch",
    "stream",
    "trace",
    "unpatch",
]

_HOME = {
    "Constraint": "stcon.constraints.constraint",
    "Limits": "stcon.machines.limits",
    "Vocabulary": "stcon.tokens.vocabulary",
    "constrain": "stcon.api",
    "constrain_tools": "stcon.api",
    "load": "stcon.api",
    "partial_json": "stcon.decode.stream",
    "patch": "stcon.decode.patch",
    "stream": "stcon.decode.stream",
    "trace": "stcon.show.trace",
    "unpatch": "stcon.decode.patch",
}


def __getattr__(name: str) -> Any:
    """The public name ``name``, imported at its first use."""
    if name not in __all__:
        raise AttributeError(f"module 'stcon' has no attribute {name!r}")
    value = getattr(import_module(_HOME.get(name, "stcon.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return [*__all__, "__version__"]
