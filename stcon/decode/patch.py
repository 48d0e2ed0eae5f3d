"""One line that teaches mlx-lm's own loops about constraints, and one that undoes it.

``patch()`` puts a wrapper in the place of each function of mlx-lm that runs a model,
and of some methods of its batches; a call without a constraint goes to the original.
``unpatch()`` puts every attribute back as it was.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import cache, partial, wraps
from inspect import signature
from types import ModuleType
from typing import Any

from stcon.errors import StconError

_OLDEST = (0, 31, 3)
_STOCK = "__stcon_stock__"
_FUNCTIONS = ("generate_step", "speculative_generate_step")
_METHODS = (
    ("GenerationBatch", "_step"),
    ("GenerationBatch", "filter"),
    ("PromptProcessingBatch", "filter"),
    ("BatchGenerator", "insert_segments"),
)
_OF_ROWS = ("logits_processors", "samplers")


class _State:
    """How mlx-lm is patched.  ``blocks``: calls of ``patch`` that were not undone."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.blocks = 0
        self.pipelined: bool | None = None


@cache
def _state() -> _State:
    """That of this process."""
    return _State()


class Patched:
    """What ``patch`` gives: undoes it at the end of a ``with``, unless another call of
    it still stands."""

    def __enter__(self) -> None:
        """Nothing; mlx-lm is patched already."""

    def __exit__(self, *_: object) -> None:
        state = _state()
        with state.lock:
            state.blocks = max(state.blocks - 1, 0)
            is_last = state.blocks == 0
        if is_last:
            unpatch()


def patch(pipelined: bool | None = None) -> Patched:
    """From now on mlx-lm's loops feed the text that a constraint forces without a
    run of the model for it; ``with stcon.patch(): ...`` for a while only.

    ``pipelined``: whether a run may be enqueued before its token is known, and undone
    where forced text follows; None: where mlx computes on a GPU.  Outputs are the same.

    Patching twice is patching once.  Raises StconError when mlx-lm is missing, older
    than 0.31.3, not built as this release knows it, or patched with another value of
    ``pipelined``; then nothing is changed.
    """
    state = _state()
    with state.lock:
        module = _mlx_lm_generate()
        if hasattr(module.generate_step, _STOCK):
            _refuse_other(state.pipelined, pipelined)
        else:
            functions, methods = _wrappers(module, pipelined)
            for stock, wrapper in functions:
                _replace(stock, wrapper)
            for owner, name, wrapper in methods:
                setattr(owner, name, wrapper)
            state.pipelined, state.blocks = pipelined, 0
        state.blocks += 1
        return Patched()


def _refuse_other(have: bool | None, wanted: bool | None) -> None:
    if wanted is not None and wanted != have:
        raise StconError(
            f"mlx-lm is patched already, with pipelined={have}",
            hint="call stcon.unpatch() first",
        )


def unpatch() -> None:
    """Nothing; every attribute that ``patch`` replaced is what it was."""
    state = _state()
    with state.lock:
        state.blocks = 0
        module = sys.modules.get("mlx_lm.generate")
        if not hasattr(getattr(module, "generate_step", None), _STOCK):
            return
        for name in _FUNCTIONS:
            wrapper = getattr(module, name)
            _replace(wrapper, getattr(wrapper, _STOCK))
        for kind, name in _METHODS:
            owner = getattr(module, kind)
            setattr(owner, name, getattr(vars(owner)[name], _STOCK))


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


def _wrappers(
    module: ModuleType, pipelined: bool | None
) -> tuple[
    list[tuple[Any, Callable[..., Any]]], list[tuple[Any, str, Callable[..., Any]]]
]:
    """What takes the place of functions, and of methods by their class and name.

    Raises StconError where mlx-lm has none of that name.
    """
    from stcon.decode.generate_step import constrained_generate_step
    from stcon.decode.speculative import constrained_speculative_step

    ours: tuple[Callable[..., Any], ...] = (
        partial(constrained_generate_step, pipelined=pipelined),
        constrained_speculative_step,
    )
    functions = [
        (stock := _part(module, name), _of_calls(stock, our))
        for name, our in zip(_FUNCTIONS, ours, strict=True)
    ]
    makers: tuple[Callable[..., Any], ...] = (
        partial(_of_batches, pipelined=pipelined),
        _of_filters,
        _of_filters,
        _of_inserts,
    )
    methods = [
        (owner := _part(module, kind), name, make(_part(owner, name)))
        for (kind, name), make in zip(_METHODS, makers, strict=True)
    ]
    return functions, methods


def _part(owner: Any, name: str) -> Any:
    """What ``owner``, a module or a class of mlx-lm, has of that name."""
    found = vars(owner).get(name)
    if found is None:
        import mlx_lm

        raise StconError(
            f"mlx-lm {getattr(mlx_lm, '__version__', '')} has no {name} in "
            f"{owner.__name__}, so this release of stcon does not fit it",
            hint="stcon.patch() works with mlx-lm 0.31.3 to 0.32; without it "
            "constraints work in logits_processors= of any version",
        )
    return found


def _is_constrained(processors: Any) -> bool:
    from stcon.constraints.constraint import Constraint

    if isinstance(processors, Constraint):
        raise TypeError("logits_processors is a list: pass [constraint]")
    return any(isinstance(item, Constraint) for item in processors or ())


def _of_calls(
    stock: Callable[..., Any], ours: Callable[[dict[str, Any]], Any]
) -> Callable[..., Any]:
    """``stock``, or ``ours`` for calls with a constraint."""
    shape = signature(stock)

    @wraps(stock)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not _is_constrained(kwargs.get("logits_processors")):
            return stock(*args, **kwargs)
        bound = shape.bind(*args, **kwargs)
        bound.apply_defaults()
        return ours(dict(bound.arguments))

    setattr(wrapper, _STOCK, stock)
    return wrapper


def _of_batches(
    stock: Callable[[Any], Any], pipelined: bool | None
) -> Callable[..., Any]:
    """One step of a ``GenerationBatch``."""
    from stcon.decode.batch import constrained_batch_step, rows_of

    @wraps(stock)
    def step(self: Any) -> Any:
        rows = rows_of(self)
        if not any(row is not None for row in rows):
            return stock(self)
        return constrained_batch_step(self, rows, pipelined)

    setattr(step, _STOCK, stock)
    return step


def _of_filters(stock: Callable[..., Any]) -> Callable[..., Any]:
    """``filter`` of a batch: each row keeps its own processors and sampler.

    Up to mlx-lm 0.31 lists that are all empty are not filtered, so a row that joins
    after plain rows have left is given those of another row, or none.
    """

    @wraps(stock)
    def filter(self: Any, keep: Any) -> Any:
        before = {name: getattr(self, name) for name in _OF_ROWS}
        found = stock(self, keep)
        for name, values in before.items():
            if values and len(getattr(self, name)) != len(self.uids):
                setattr(self, name, [values[place] for place in keep])
        return found

    setattr(filter, _STOCK, stock)
    return filter


def _of_inserts(stock: Callable[..., Any]) -> Callable[..., Any]:
    """``BatchGenerator.insert_segments``."""
    from stcon.decode.batch import insert_rows

    shape = signature(stock)

    @wraps(stock)
    def insert_segments(self: Any, *args: Any, **kwargs: Any) -> Any:
        bound = shape.bind(self, *args, **kwargs)
        options = dict(bound.arguments)
        options.pop("self")
        rows = options.get("logits_processors") or [self.logits_processors]
        if not any(_is_constrained(row) for row in rows):
            return stock(self, *args, **kwargs)
        return insert_rows(self, stock, options)

    setattr(insert_segments, _STOCK, stock)
    return insert_segments
