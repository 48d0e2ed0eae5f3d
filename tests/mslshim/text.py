"""The text that mlx writes around a kernel's body, from mlx itself.

A Metal kernel cannot be called on Linux, but while a function is exported the call is
only recorded, and mlx prints the whole text (since 0.32.0).
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import mlx.core as mx

_TEXT = re.compile(r"```\n(.*)\n```", re.DOTALL)
_HEAD = re.compile(r"\[\[kernel\]\] void (\w+)\(\n(.*?)\) \{\n", re.DOTALL)
_TEMPLATE = re.compile(r"template <([^>]*)>\n")
_INSTANCE = re.compile(r"\ntemplate \[\[host_name\(.*decltype\(\w+(<.*?>)\)", re.DOTALL)


class NoText(RuntimeError):
    """This mlx does not print the text of a kernel."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of the function: ``const device float* logits [[buffer(0)]]``."""

    kind: str
    name: str
    mark: str

    @property
    def is_buffer(self) -> bool:
        """Whether it is memory; else it is a thread's place."""
        return self.mark.startswith("buffer")


@dataclass(frozen=True)
class Text:
    """A kernel as mlx writes it; ``whole``: everything, in the language of Metal."""

    whole: str

    @cached_property
    def function(self) -> str:
        """The function, its template line included, without the instance after it."""
        return self.whole[: self._instance.start()] if self._instance else self.whole

    @cached_property
    def name(self) -> str:
        """The name of the function."""
        return self._head[1]

    @cached_property
    def body(self) -> str:
        """What stands between the braces."""
        return self.function[self._head.end() : self.function.rindex("\n}")]

    @cached_property
    def parameters(self) -> list[Parameter]:
        """In their order."""
        found = re.findall(r" *(.+?) ?(\w+) \[\[(.+?)\]\]", self._head[2])
        return [Parameter(*parts) for parts in found]

    @cached_property
    def constants(self) -> list[tuple[str, str, str]]:
        """Of each constant of the template: its kind, name and value."""
        if not self._instance:
            return []
        line = _TEMPLATE.search(self.whole)
        assert line is not None
        values = self._instance[1].strip("<>").split(", ")
        pairs = zip(line[1].split(", "), values, strict=True)
        return [(*one.split(" "), value) for one, value in pairs]  # type: ignore[misc]

    @cached_property
    def _head(self) -> re.Match[str]:
        found = _HEAD.search(self.whole)
        assert found is not None, self.whole
        return found

    @cached_property
    def _instance(self) -> re.Match[str] | None:
        return _INSTANCE.search(self.whole)


def text_of(built: Callable[..., Any], launch: dict[str, Any]) -> Text:
    """The text of ``built``, an mlx Metal kernel, for one launch; 3 ms.

    ``launch``: the keyword arguments of the call.  Raises NoText for an mlx that
    does not print it.
    """
    inputs = launch["inputs"]

    def call(*arrays: mx.array) -> Any:
        return built(**{**launch, "inputs": list(arrays), "verbose": True})

    with tempfile.TemporaryDirectory() as folder:
        export = Path(folder, "kernel.mlxfn")
        try:
            printed = _printed(lambda: mx.export_function(str(export), call, *inputs))
        except RuntimeError as error:
            raise NoText(str(error)) from error
    found = _TEXT.search(printed)
    if found is None:
        raise NoText(f"mlx {mx.__version__} printed {printed[:80]!r}")
    return Text(found[1])


def _printed(act: Callable[[], object]) -> str:
    """What ``act`` writes to the process's standard output, from C++ too."""
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            act()
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        return file.read().decode()
