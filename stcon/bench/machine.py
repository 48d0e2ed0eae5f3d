"""Where numbers were measured: machine, Python and versions."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from stcon import __version__


def machine() -> dict[str, Any]:
    """Processor, its cores, operating system and Python."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions(packages: Iterable[str]) -> dict[str, str | None]:
    """The installed version of each package, None for one that is missing."""
    return {"stcon": __version__} | {name: installed(name) for name in packages}


def installed(package: str) -> str | None:
    """The version of ``package``, or None when it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def resident_bytes(process: int | None = None) -> int:
    """The resident memory, in bytes, of a process by its id, or of this one; 0
    for one that is gone."""
    process = os.getpid() if process is None else process
    try:
        with open(f"/proc/{process}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # macOS has no /proc; ps gives KiB
        return int(_output("ps", "-o", "rss=", "-p", str(process)) or 0) << 10


def give_back_free_memory() -> None:
    """Nothing; what the C allocator holds unused goes back to the system, so that
    later growth is growth of what is kept.  Where it cannot, nothing happens."""
    library = ctypes.CDLL(None)
    with suppress(AttributeError):  # glibc
        library.malloc_trim(0)
    with suppress(AttributeError):  # macOS
        library.malloc_zone_pressure_relief(None, 0)


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.partition(":")[2] for line in file if "model name" in line]
        return names[0].strip() if names else platform.processor()
    except OSError:
        return _output("sysctl", "-n", "machdep.cpu.brand_string")


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()
