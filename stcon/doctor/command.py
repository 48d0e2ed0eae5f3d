"""``python -m stcon doctor``: whether everything works on the machine at hand."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path


def run(arguments: Sequence[str]) -> int:
    """The exit status: 0 if everything passed, 1 if something failed."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        import mlx.core  # noqa: F401
    except ImportError as error:
        hint = "on Linux mlx needs a backend: pip install 'stcon[cpu]'"
        parser.exit(1, f"stcon doctor: mlx cannot be imported: {error}\n{hint}\n")
    from stcon.doctor.report import report

    found, text = report()
    sys.stdout.write(text)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return 1 if found["failed"] else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m stcon doctor",
        description="Run every kernel against its twin in plain operations, on this "
        "machine; where there is no GPU, the twins alone.",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the report there, for an issue"
    )
    return parser
