"""``python -m stcon serve``: mlx-lm's server, with formats."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from stcon.errors import StconError


def run(arguments: Sequence[str]) -> int:
    """The exit status.  ``arguments``: those of mlx-lm's own server."""
    from stcon.server.patched import serve

    try:
        return serve(list(arguments))
    except StconError as error:
        print(f"stcon serve: {error}", file=sys.stderr)
        return 2
