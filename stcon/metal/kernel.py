"""A kernel: one text, launched on Metal or CUDA, with a twin in plain operations.

The text is the body of a function; mlx writes the head (docs/kernels.md has the
rules).  It is compiled at the first launch and for each new set of types, and
again when an input goes from 7 entries to 8, since mlx then moves it to another
address space.  So sizes that change between steps (rows, allowed tokens) are read
from the grid and never compiled in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import mlx.core as mx

Arguments = TypeVar("Arguments")
Size = tuple[int, int, int]


@dataclass(frozen=True)
class Call:
    """What one launch is given.

    ``inputs``: arrays in the order of the kernel's input names.
    ``template``: constants of the text, each a bool, an int or a dtype.
    ``grid``: threads, of which ``threadgroup`` run together.
    ``shapes``, ``dtypes``: those of the outputs.
    """

    inputs: Sequence[mx.array]
    template: Sequence[tuple[str, Any]]
    grid: Size
    threadgroup: Size
    shapes: Sequence[tuple[int, ...]]
    dtypes: Sequence[mx.Dtype]


class Case(NamedTuple):
    """Arguments to try a kernel on; ``name`` says what is special about them."""

    name: str
    arguments: Any


@dataclass(frozen=True)
class Kernel(Generic[Arguments]):
    """A text and all that belongs to it.

    ``plan``: from arguments, already checked, to a launch.  ``twin``: the outputs
    in plain operations.  ``cases``: arguments for tests and for the doctor.
    ``ulp``: by how many units in the last place outputs may differ from the twin's;
    0 where they are the same bits.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    source: str
    plan: Callable[[Arguments], Call]
    twin: Callable[[Arguments], list[mx.array]]
    cases: Callable[[], Iterator[Case]]
    ulp: int = field(default=0)

    def __call__(self, arguments: Arguments) -> list[mx.array]:
        """The outputs, not computed yet: by the kernel where mlx's default device is
        a GPU, by the twin elsewhere."""
        if mx.default_device() == mx.gpu:
            return self.launch(arguments)
        return self.twin(arguments)

    def launch(self, arguments: Arguments) -> list[mx.array]:
        """The outputs by the kernel; raises RuntimeError where there is no GPU."""
        return self.on(self._built, arguments)

    def on(self, built: Callable[..., Any], arguments: Arguments) -> list[mx.array]:
        """The outputs by ``built``, which has the signature of mlx's kernels."""
        call = self.plan(arguments)
        outputs: list[mx.array] = built(
            inputs=list(call.inputs),
            template=list(call.template) or None,
            grid=call.grid,
            threadgroup=call.threadgroup,
            output_shapes=list(call.shapes),
            output_dtypes=list(call.dtypes),
        )
        return outputs

    @cached_property
    def _built(self) -> Callable[..., Any]:
        if mx.metal.is_available():
            return self.for_metal()
        from stcon.cuda.text import cuda_kernel

        built: Callable[..., Any] = cuda_kernel(
            self.name, self.inputs, self.outputs, self.source
        )
        return built

    def for_metal(self) -> Callable[..., Any]:
        """mlx's Metal kernel of the text; it can be made, not run, on any machine."""
        built: Any = mx.fast.metal_kernel(
            name=self.name,
            input_names=list(self.inputs),
            output_names=list(self.outputs),
            source=self.source,
        )
        found: Callable[..., Any] = built
        return found


def check(name: str, array: mx.array, shape: tuple[int, ...], *kinds: mx.Dtype) -> None:
    """Nothing; raises ValueError unless ``array`` has this shape (-1 for any size)
    and one of these dtypes."""
    fits = array.ndim == len(shape) and all(
        want in (-1, have) for want, have in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype not in kinds:
        sizes = ", ".join("any" if size < 0 else str(size) for size in shape)
        types = " or ".join(str(kind).removeprefix("mlx.core.") for kind in kinds)
        have = str(array.dtype).removeprefix("mlx.core.")
        raise ValueError(f"{name} is {types} [{sizes}], not {have} {list(array.shape)}")
