"""References inside of one schema, for the order of keys."""

from __future__ import annotations

from typing import Any

import pytest

from stcon.bench.local_refs import resolve

_LEAF: dict[str, Any] = {"type": "string"}
_NAMED = {"$id": "http://x.example/leaf", "properties": {"a": _LEAF}}
_ANCHORED = {"$anchor": "here"}
_ROOT = {
    "$id": "http://x.example/whole",
    "$defs": {"a/b": _LEAF, "c~d": [_LEAF, _NAMED], "e f": _ANCHORED},
}
_CASES = [
    ("#", _ROOT),
    ("", _ROOT),
    ("#/$defs/a~1b", _LEAF),
    ("#/$defs/c~0d/1", _NAMED),
    ("#/$defs/e%20f", _ANCHORED),
    ("#here", _ANCHORED),
    ("http://x.example/leaf", _NAMED),
    ("leaf", _NAMED),
    ("leaf#/properties/a", _LEAF),
    ("#/$defs/none", None),
    ("#/$defs/c~0d/7", None),
    ("#/$defs/c~0d/x", None),
    ("#nowhere", None),
    ("other.json#/a", None),
    (5, None),
]


@pytest.mark.parametrize(("reference", "want"), _CASES)
def test_resolve(reference: Any, want: Any) -> None:
    assert resolve(_ROOT, reference) is want
