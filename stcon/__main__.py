"""``python -m stcon``: the commands, each a module with ``run(arguments)``."""

from __future__ import annotations

import sys
from importlib import import_module

from stcon import __version__

_COMMANDS = {
    "show": ("stcon.show.command", "an output with its forced tokens, or an automaton"),
    "serve": ("stcon.server.command", "mlx-lm's server, with response_format"),
    "doctor": ("stcon.doctor.command", "whether all works on this machine"),
    "bench": ("stcon.bench.command", "speed and memory, beside other engines"),
}


def main(arguments: list[str]) -> int:
    """The exit status of the command named first."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_help())
        return 0
    name, *rest = arguments
    if name == "--version":
        print(__version__)
        return 0
    if name not in _COMMANDS:
        print(f"stcon: no command {name!r}\n\n{_help()}", file=sys.stderr)
        return 2
    try:
        status: int = import_module(_COMMANDS[name][0]).run(rest)
    except KeyboardInterrupt:
        print("\nstcon: interrupted", file=sys.stderr)
        return 130
    return status


def _help() -> str:
    lines = "".join(f"  {name:8} {what}\n" for name, (_, what) in _COMMANDS.items())
    return (
        "usage: python -m stcon COMMAND [OPTIONS]\n\n"
        f"{lines}\n"
        "python -m stcon COMMAND --help says more."
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
