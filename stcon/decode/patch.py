"""One line that teaches mlx-lm's own loops about constraints, and one that undoes it.

``patch()`` puts a wrapper in the place of ``generate_step`` wherever mlx-lm holds it;
a call without a constraint goes to the original.  ``unpatch()`` puts every attribute
back as it was.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import wraps
from inspect import signature
from types import ModuleType
from typing import Any

from stcon.errors import StconError

_OLDEST = (0, 31, 3)
_STOCK = "__stcon_stock__"
_lock = threading.Lock()


class Patched:
    """What ``patch`` gives: undoes it at the end of a ``with``, if it did anything."""

    def __init__(self, did: bool) -> None:
        self._did = did

    def __enter__(self) -> None:
        """Nothing; mlx-lm is patched already."""

    def __exit__(self, *_: object) -> None:
        if self._did:
            unpatch()


def patch() -> Patched:
    """From now on mlx-lm's loops feed the text that a constraint forces without a
    run of the model for it; ``with stcon.patch(): ...`` for a while only.

    Patching twice is patching once.  Raises StconError when mlx-lm is missing or
    older than 0.31.3; then nothing is changed.
    """
    with _lock:
        stock = _mlx_lm_generate().generate_step
        if hasattr(stock, _STOCK):
            return Patched(False)
        _replace(stock, _wrapper(stock))
        return Patched(True)


def unpatch() -> None:
    """Nothing; every attribute that ``patch`` replaced is what it was."""
    with _lock:
        module = sys.modules.get("mlx_lm.generate")
        patched = getattr(module, "generate_step", None)
        stock = getattr(patched, _STOCK, None)
        if stock is not None:
            _replace(patched, stock)


def _mlx_lm_generate() -> ModuleType:
    """The module; ``mlx_lm.generate`` names a function in the package."""
    try:
        import mlx_lm
        import mlx_lm.generate
    except ImportError as error:
        raise StconError(
            f"mlx-lm cannot be imported: {error}", hint="pip install mlx-lm"
        ) from error
    found = str(getattr(mlx_lm, "__version__", "an unknown version"))
    digits = tuple(int(part) for part in found.split(".")[:3] if part.isdigit())
    if digits < _OLDEST:
        raise StconError(
            f"mlx-lm {found} is not supported",
            hint="stcon.patch() works with mlx-lm 0.31.3 and newer: "
            "pip install -U mlx-lm",
        )
    return sys.modules["mlx_lm.generate"]


def _replace(old: object, new: object) -> None:
    """Nothing; ``new`` stands wherever a module of mlx-lm has ``old``."""
    for name, module in list(sys.modules.items()):
        if module is None or name.partition(".")[0] != "mlx_lm":
            continue
        for attribute, value in list(vars(module).items()):
            if value is old:
                setattr(module, attribute, new)


def _wrapper(stock: Callable[..., Any]) -> Callable[..., Any]:
    from stcon.constraints.constraint import Constraint
    from stcon.decode.generate_step import constrained_generate_step

    shape = signature(stock)

    @wraps(stock)
    def generate_step(*args: Any, **kwargs: Any) -> Any:
        processors = kwargs.get("logits_processors") or ()
        if not any(isinstance(item, Constraint) for item in processors):
            return stock(*args, **kwargs)
        bound = shape.bind(*args, **kwargs)
        bound.apply_defaults()
        return constrained_generate_step(bound.arguments)

    setattr(generate_step, _STOCK, stock)
    return generate_step
