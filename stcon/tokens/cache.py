"""Named arrays kept on disk between processes, never trusted unread.

A file is a line of JSON (format, kind, key, the arrays' names, types and
shapes, a BLAKE2b checksum of their bytes), then the arrays.  It is written aside
and moved into place, so that a reader sees a whole file or none; what is damaged,
of another version or under another key counts as absent and is rebuilt by the
caller.  A folder that cannot be written means no cache, not an error.
Cost of a load: one read and one hash, about 2 ms a MB.  Files of a MiB and more are
mapped into memory, so that processes share them.

The folder is ``$STCON_CACHE_DIR``, else ``~/Library/Caches/stcon`` on macOS, else
``$XDG_CACHE_HOME/stcon`` or ``~/.cache/stcon``.  The oldest entries go when it
holds more than 1 GiB.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_FORMAT = 1
_MAX_BYTES = 1 << 30
_MAX_HEADER = 1 << 16
_ALIGN = 64
_MAPPED = 1 << 20


def folder() -> Path | None:
    """The cache folder (it may not exist yet), or None without a home folder."""
    if chosen := os.environ.get("STCON_CACHE_DIR"):
        return Path(chosen)
    try:
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "stcon"
        base = os.environ.get("XDG_CACHE_HOME")
        return (Path(base) if base else Path.home() / ".cache") / "stcon"
    except RuntimeError:
        return None


def load(kind: str, key: str) -> dict[str, Array] | None:
    """The arrays stored under ``kind`` and ``key``, read-only, or None.

    ``kind`` names the table and its version (``"classes-1"``), ``key`` is a
    hash of all it was made from.  Never raises for what is on the disk.
    """
    path = _path(kind, key)
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            header = file.readline(_MAX_HEADER)
            body = _rest(file)
        os.utime(path)  # recently used entries are the last to go
    except OSError:
        return None
    return _unpack(header, body, kind, key)


def _rest(file: BinaryIO) -> bytes | memoryview:
    """What follows in the file."""
    if os.fstat(file.fileno()).st_size < _MAPPED:
        return file.read()
    whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return memoryview(whole)[file.tell() :]


def store(kind: str, key: str, arrays: Mapping[str, Array]) -> bool:
    """Whether the arrays (numbers or booleans only) are now on the disk."""
    path = _path(kind, key)
    if path is None:
        return False
    header, parts = _pack(kind, key, arrays)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".stcon.part")
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines([header, *parts])
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        return False
    _prune(path.parent.parent, _MAX_BYTES)
    return True


def _path(kind: str, key: str) -> Path | None:
    if not kind.replace("-", "").replace("_", "").isalnum():
        raise ValueError(f"kind {kind!r}: letters, digits, - and _ only")
    name = blake2b(key.encode(), digest_size=16).hexdigest()
    base = folder()
    return None if base is None else base / kind / f"{name}.stcon"


def _pack(
    kind: str, key: str, arrays: Mapping[str, Array]
) -> tuple[bytes, list[bytes]]:
    parts, table = [], []
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{name}: cannot store {array.dtype}")
        table.append([name, array.dtype.newbyteorder("<").str, list(array.shape)])
        raw = array.astype(array.dtype.newbyteorder("<")).tobytes()
        parts.append(raw + bytes(-len(raw) % _ALIGN))
    facts = {"format": _FORMAT, "kind": kind, "key": key, "arrays": table}
    header = json.dumps({**facts, "sum": _checksum(facts, b"".join(parts))}).encode()
    return header + b" " * (-(len(header) + 1) % _ALIGN) + b"\n", parts


def _unpack(
    header: bytes, body: bytes | memoryview, kind: str, key: str
) -> dict[str, Array] | None:
    try:
        facts = json.loads(header)
        checksum = facts.pop("sum")
        wanted = {"format": _FORMAT, "kind": kind, "key": key}
        if any(facts[name] != value for name, value in wanted.items()):
            return None
        if checksum != _checksum(facts, body):
            return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return dict(_views(facts["arrays"], body))


def _views(table: list[Any], body: bytes | memoryview) -> Iterator[tuple[str, Array]]:
    at = 0
    for name, dtype, shape in table:
        count = math.prod(shape)
        flat = np.frombuffer(body, np.dtype(dtype), count, at)
        at += flat.nbytes + -flat.nbytes % _ALIGN
        native = flat.astype(flat.dtype.newbyteorder("="), copy=False)
        aligned = np.require(native, requirements="A").reshape(shape)
        aligned.flags.writeable = False
        yield name, aligned


def _checksum(facts: Mapping[str, Any], body: bytes | memoryview) -> str:
    """Covers the header too: a changed shape is damage like a changed number."""
    whole = blake2b(json.dumps(facts).encode(), digest_size=16)
    whole.update(body)
    return whole.hexdigest()


def _prune(base: Path, limit: int) -> None:
    """Remove the files used longest ago until ``limit`` bytes are left."""
    with suppress(OSError):
        found = [(path, path.stat()) for path in base.glob("*/*.stcon*")]
        total = sum(stat.st_size for _, stat in found)
        for path, stat in sorted(found, key=lambda item: item[1].st_mtime):
            if total <= limit:
                return
            path.unlink(missing_ok=True)
            total -= stat.st_size
