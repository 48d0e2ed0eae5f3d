"""Constraints on disk: one file, checked whole before anything is believed.

Layout: a line with the SHA-256 of the rest, a line of JSON (format number, kind,
vocabulary fingerprint, notes), a numpy ``.npz``.  A file is written beside its
place and moved there, so a reader never meets half of one.  The seal tells
damage from what stcon wrote, not who wrote it: load files you trust.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stcon.errors import ConstraintFileError

FORMAT = 1


@dataclass(frozen=True)
class Saved:
    """What a file held: kind, vocabulary fingerprint, arrays by name, notes."""

    kind: str
    fingerprint: str
    arrays: dict[str, NDArray[Any]]
    notes: dict[str, Any]


def write(
    path: Path,
    kind: str,
    fingerprint: str,
    arrays: dict[str, NDArray[Any]],
    notes: dict[str, Any],
) -> None:
    """Nothing; writes ``path``, or leaves what was there as it was."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    body = buffer.getvalue()
    head = {"stcon": FORMAT, "kind": kind, "vocabulary": fingerprint, "notes": notes}
    whole = json.dumps(head).encode() + b"\n" + body
    seal = f"stcon {hashlib.sha256(whole).hexdigest()}\n".encode()
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} for {path.name}")
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(seal + whole)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def read(path: Path, fingerprint: str) -> Saved:
    """What ``path`` holds, for the vocabulary with this fingerprint.

    Raises ConstraintFileError when the file is damaged, of another format or
    for another vocabulary, and OSError when it cannot be read.
    """
    seal, _, whole = path.read_bytes().partition(b"\n")
    if not seal.startswith(b"stcon "):
        raise ConstraintFileError(f"{path} is not a saved constraint")
    if hashlib.sha256(whole).hexdigest().encode() != seal[6:]:
        raise ConstraintFileError(f"{path} is damaged", hint="compile anew")
    head_line, _, body = whole.partition(b"\n")
    head = json.loads(head_line)
    if head["stcon"] != FORMAT:
        raise ConstraintFileError(
            f"{path} has format {head['stcon']}, this stcon reads format {FORMAT}",
            hint="compile anew, or install the stcon that wrote it",
        )
    if head["vocabulary"] != fingerprint:
        raise ConstraintFileError(
            f"{path} was saved for another vocabulary",
            hint="load it with the tokenizer it was made with, or compile anew",
        )
    with np.load(io.BytesIO(body), allow_pickle=False) as arrays:
        return Saved(head["kind"], fingerprint, dict(arrays), head["notes"])
