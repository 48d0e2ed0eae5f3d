"""One token taken back from the caches of a model.

A run that was enqueued before its token was known is undone when the token turns out
to be followed by forced text, or to be another one.  Key-value caches are trimmed: what
lies beyond their offset is never read.  Recurrent caches hold plain arrays that a run
replaces, so the old ones are put back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Undo = Callable[[], None]


def checkpoint(caches: list[Any]) -> Undo | None:
    """What takes back the one token that ``caches`` are fed next; None where one of
    them cannot take it back, as a rotating one that is full.

    Costs about a microsecond a cache.
    """
    undos = [_undo(cache) for cache in caches]
    if any(undo is None for undo in undos):
        return None
    before = list(caches)

    def undo_all() -> None:
        caches[:] = before  # a cache may have been replaced by a quantised one
        for undo in undos:
            assert undo is not None
            undo()

    return undo_all


def _undo(cache: Any) -> Undo | None:
    from mlx_lm.models import cache as kinds

    if isinstance(cache, kinds.CacheList):
        return _undo_list(cache)
    if isinstance(cache, kinds.ArraysCache):
        return _undo_arrays(cache)
    plain = (kinds.KVCache, kinds.QuantizedKVCache, kinds.BatchKVCache)
    if isinstance(cache, plain):
        return lambda: _trim(cache)
    if isinstance(cache, kinds.RotatingKVCache):
        has_room = cache.offset + 1 < cache.max_size
        return (lambda: _trim(cache)) if has_room else None
    return None


def _trim(cache: Any) -> None:
    if cache.trim(1) != 1:
        raise RuntimeError(f"a {type(cache).__name__} did not take back a token")


def _undo_list(cache: Any) -> Undo | None:
    undos: Sequence[Undo | None] = [_undo(each) for each in cache.caches]
    if any(undo is None for undo in undos):
        return None

    def undo_each() -> None:
        for undo in undos:
            assert undo is not None
            undo()

    return undo_each


def _undo_arrays(cache: Any) -> Undo:
    """A run puts other arrays into the list, but counts paddings down in place."""
    arrays = list(cache.cache)
    left_padding, lengths = _copied(cache.left_padding), _copied(cache.lengths)

    def put_back() -> None:
        cache.cache[:] = arrays
        cache.left_padding, cache.lengths = left_padding, lengths

    return put_back


def _copied(array: Any) -> Any:
    return None if array is None else array + 0
