"""A trie of dicts, one token at a time: slow, obvious, for tests only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Node = dict[int, "Node"]


def levels_of(tokens: Sequence[bytes]) -> list[list[bytes]]:
    """The distinct prefixes of the tokens by length, each level in order."""
    root: Node = {}
    for token in tokens:
        node = root
        for byte in token:
            node = node.setdefault(byte, {})
    levels: dict[int, list[bytes]] = {}
    for prefix in _prefixes(root, b""):
        levels.setdefault(len(prefix), []).append(prefix)
    return [levels[depth] for depth in sorted(levels)]


def _prefixes(node: Node, prefix: bytes) -> Iterator[bytes]:
    yield prefix
    for byte in sorted(node):
        yield from _prefixes(node[byte], prefix + bytes([byte]))
