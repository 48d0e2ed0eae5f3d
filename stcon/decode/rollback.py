"""A run taken back from the caches of a model.

A run that was enqueued before its token was known is undone when the token turns out
to be followed by forced text, or to be another one; and a run with forced text, when an
output is left in the midst of it.  Key-value caches are trimmed: what lies beyond their
offset is never read.  Recurrent caches hold plain arrays that a run replaces, so the
old ones are put back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Undo = Callable[[], None]


def checkpoint(caches: list[Any], count: int = 1) -> Undo | None:
    """What takes back the ``count`` tokens, at most, that ``caches`` are fed next; None
    where one of them cannot take them back, as a rotating one that would be full.

    Costs about a microsecond a cache.
    """
    undos = [_undo(cache, count) for cache in caches]
    if any(undo is None for undo in undos):
        return None
    before = list(caches)

    def undo_all() -> None:
        caches[:] = before  # a cache may have been replaced by a quantised one
        for undo in undos:
            assert undo is not None
            undo()

    return undo_all


def _undo(cache: Any, count: int) -> Undo | None:
    from mlx_lm.models import cache as kinds

    if isinstance(cache, kinds.CacheList):
        return _undo_list(cache, count)
    if isinstance(cache, kinds.ArraysCache):
        return _undo_arrays(cache)
    if isinstance(cache, kinds.BatchKVCache):
        return _trimming(cache, "_idx")
    if isinstance(cache, (kinds.KVCache, kinds.QuantizedKVCache)):
        return _trimming(cache, "offset")
    if isinstance(cache, kinds.RotatingKVCache):
        has_room = cache.offset + count < cache.max_size
        return _trimming(cache, "offset") if has_room else None
    return None


def _trimming(cache: Any, place: str) -> Undo:
    before = getattr(cache, place)

    def trim() -> None:
        count = getattr(cache, place) - before
        if cache.trim(count) != count:
            raise RuntimeError(f"a {type(cache).__name__} did not take back tokens")

    return trim


def _undo_list(cache: Any, count: int) -> Undo | None:
    undos: Sequence[Undo | None] = [_undo(each, count) for each in cache.caches]
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
