"""What of mlx-lm's server is wrapped, so that requests may ask for a format.

The handler reads the format and refuses what cannot be enforced with status 400; the
thread that generates compiles it for the model's tokenizer and adds the constraint to
the request's logits processors.  ``stcon.patch()`` does the rest.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any

from stcon.decode.patch import patch
from stcon.errors import StconError
from stcon.server.constraints import Constraints, check, check_bias, check_limit
from stcon.server.formats import Format, asked_tools, wanted
from stcon.server.tool_reader import tool_reader

_FORMAT, _CONSTRAINT = "stcon_format", "stcon_constraint"


@contextmanager
def patched_server() -> Iterator[Any]:
    """mlx-lm's server module, which understands formats until the block ends.

    Raises StconError when mlx-lm is not built as this release knows it.
    """
    module = import_module("mlx_lm.server")
    wrappers = _Wrappers()
    parts = [
        (module.APIHandler, "validate_model_parameters", wrappers.validate),
        (module.APIHandler, "do_POST", _answered),
        (module.ResponseGenerator, "generate", wrappers.generate),
        (module.ResponseGenerator, "_tokenize", wrappers.tokenize),
        (module, "_make_logits_processors", wrappers.processors),
        (module.ToolCallFormatter, "__init__", _reading_by_schema),
    ]
    for owner, name, _ in parts:
        if name not in vars(owner):
            raise StconError(
                f"mlx-lm's server has no {name}",
                hint="python -m stcon serve works with mlx-lm 0.31.3 to 0.32",
            )
    stock = [vars(owner)[name] for owner, name, _ in parts]
    with patch():
        try:
            for (owner, name, wrap), was in zip(parts, stock, strict=True):
                setattr(owner, name, wraps(was)(wrap(was)))
            yield module
        finally:
            for (owner, name, _), was in zip(parts, stock, strict=True):
                setattr(owner, name, was)


class RefusedFormat(ValueError):
    """A request asks for a format that is not known or cannot be enforced."""


def _answered(stock: Callable[..., Any]) -> Callable[..., Any]:
    """A refused format is status 400; mlx-lm answers so itself from 0.32 on."""

    def do_POST(handler: Any) -> None:
        try:
            stock(handler)
        except RefusedFormat as error:
            handler._set_completion_headers(400)
            handler.end_headers()
            handler.wfile.write(json.dumps({"error": str(error)}).encode())

    return do_POST


def _reading_by_schema(stock: Callable[..., Any]) -> Callable[..., Any]:
    """Calls are read as their schemas say, as far as stcon knows their form."""

    def __init__(
        formatter: Any, parser: Any, tools: Any, *rest: Any, **more: Any
    ) -> None:
        stock(formatter, tool_reader(parser), tools, *rest, **more)

    return __init__


class _Wrappers:
    """The wrappers of one server, with the constraints they have made.

    The handler and ``generate`` run in the thread of the request, ``tokenize`` and
    ``processors`` in the one that generates; what is handed over rides on the request's
    own arguments.
    """

    def __init__(self) -> None:
        self._request = threading.local()
        self._constraints = Constraints()

    def validate(self, stock: Callable[..., Any]) -> Callable[..., Any]:
        """Reads the format of a request; raises RefusedFormat, which is status 400."""

        def validate_model_parameters(handler: Any) -> None:
            stock(handler)
            self._request.format = None
            try:
                format, tools = wanted(handler.body), asked_tools(handler.body)
                for asked in (tools, format):  # what is left to blame is the format
                    if asked is not None:
                        check(asked)
                if format is not None:
                    check_bias(handler.logit_bias)
            except ValueError as error:
                raise RefusedFormat(str(error)) from error
            self._request.format = format

        return validate_model_parameters

    def generate(self, stock: Callable[..., Any]) -> Callable[..., Any]:
        """Hands the format over to the thread that generates."""

        def generate(generator: Any, request: Any, args: Any, **more: Any) -> Any:
            setattr(args, _FORMAT, getattr(self._request, "format", None))
            return stock(generator, request, args, **more)

        return generate

    def tokenize(self, stock: Callable[..., Any]) -> Callable[..., Any]:
        """Compiles the format for the tokenizer of the model that answers.

        What it raises goes to the client.
        """

        def _tokenize(generator: Any, tokenizer: Any, request: Any, args: Any) -> Any:
            found = stock(generator, tokenizer, request, args)
            format: Format | None = getattr(args, _FORMAT, None)
            if format is not None:
                constraint = self._constraints.get(tokenizer, format)
                if constraint is None:
                    return found
                check_limit(constraint, found[0], args.max_tokens)
                setattr(args, _CONSTRAINT, constraint)
            return found

        return _tokenize

    def processors(self, stock: Callable[..., Any]) -> Callable[..., Any]:
        """The request's logits processors, its constraint last."""

        def _make_logits_processors(args: Any) -> list[Any]:
            constraint = getattr(args, _CONSTRAINT, None)
            own = [] if constraint is None else [constraint]
            return [*stock(args), *own]

        return _make_logits_processors


def serve(arguments: list[str]) -> int:
    """Runs the server until it is interrupted; the exit status.

    ``arguments``: those of ``python -m mlx_lm.server``.
    """
    with patched_server() as module:
        before = sys.argv
        sys.argv = ["python -m stcon serve", *arguments]
        try:
            module.main()
        finally:
            sys.argv = before
    return 0
