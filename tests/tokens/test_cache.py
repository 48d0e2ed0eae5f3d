"""A damaged, foreign or missing file is no entry; processes may write together."""

from __future__ import annotations

import json
import mmap
import multiprocessing
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from stcon.tokens import cache

ARRAYS: dict[str, npt.NDArray[Any]] = {
    "next": np.arange(12, dtype=np.int32).reshape(3, 4),
    "byte": np.arange(7, dtype=np.uint8),
    "is_end": np.array([True, False, True]),
    "cost": np.array([[0.5, np.inf]], np.float32),
    "none": np.zeros((0, 3), np.int64),
    "one": np.array(7, np.uint16),
}


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STCON_CACHE_DIR", str(tmp_path))
    return tmp_path


def only_file(folder: Path) -> Path:
    (path,) = folder.glob("*/*")
    return path


def assert_same(have: dict[str, npt.NDArray[Any]] | None) -> None:
    assert have is not None
    assert list(have) == list(ARRAYS)
    for name, want in ARRAYS.items():
        assert have[name].dtype == want.dtype
        assert have[name].shape == want.shape
        assert np.array_equal(have[name], want)


def test_round_trip() -> None:
    assert cache.load("table-1", "key") is None
    assert cache.store("table-1", "key", ARRAYS)
    assert_same(cache.load("table-1", "key"))


def test_loaded_arrays_are_read_only_and_aligned() -> None:
    cache.store("table-1", "key", ARRAYS)
    for array in (cache.load("table-1", "key") or {}).values():
        assert not array.flags.writeable
        assert array.flags.aligned


def test_layout_of_the_source_does_not_matter() -> None:
    base = np.arange(12, dtype=np.int32).reshape(3, 4)
    cache.store("t", "k", {"turned": base.T, "swapped": base.astype(">i4")})
    have = cache.load("t", "k") or {}
    assert np.array_equal(have["turned"], base.T)
    assert np.array_equal(have["swapped"], base)
    assert have["swapped"].dtype.isnative


def test_kinds_and_keys_are_apart() -> None:
    cache.store("t", "a", {"x": np.array([1])})
    cache.store("t", "b", {"x": np.array([2])})
    cache.store("u", "a", {"x": np.array([3])})
    have = [cache.load(*entry) for entry in (("t", "a"), ("t", "b"), ("u", "a"))]
    assert [int(arrays["x"][0]) for arrays in have if arrays] == [1, 2, 3]


def test_a_later_store_replaces() -> None:
    cache.store("t", "k", {"x": np.array([1])})
    cache.store("t", "k", ARRAYS)
    assert_same(cache.load("t", "k"))


def test_every_truncation_is_no_entry(own_folder: Path) -> None:
    cache.store("t", "k", ARRAYS)
    path = only_file(own_folder)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert cache.load("t", "k") is None, length
    path.write_bytes(whole)
    assert_same(cache.load("t", "k"))


def test_every_flipped_bit_is_no_entry(own_folder: Path) -> None:
    cache.store("t", "k", ARRAYS)
    path = only_file(own_folder)
    whole = path.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        assert cache.load("t", "k") is None, place


@pytest.mark.parametrize(
    "header",
    [b"", b"\n", b"[]\n", b"null\n", b"{}\n", b"\xff\xfe\n", b"[" * 60_000 + b"\n"],
)
def test_foreign_files_are_no_entry(own_folder: Path, header: bytes) -> None:
    cache.store("t", "k", ARRAYS)
    only_file(own_folder).write_bytes(header)
    assert cache.load("t", "k") is None
    assert cache.store("t", "k", ARRAYS)
    assert_same(cache.load("t", "k"))


def test_another_version_is_no_entry(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(cache, "_FORMAT", 0)
        cache.store("t", "k", ARRAYS)
        assert_same(cache.load("t", "k"))
    assert json.loads(only_file(own_folder).read_bytes().split(b"\n")[0])["format"] == 0
    assert cache.load("t", "k") is None


def test_an_entry_moved_to_another_key_is_no_entry(own_folder: Path) -> None:
    cache.store("t", "a", ARRAYS)
    first = only_file(own_folder)
    cache.store("t", "b", {"x": np.array([1])})
    (second,) = {*own_folder.glob("*/*")} - {first}
    second.write_bytes(first.read_bytes())
    assert cache.load("t", "b") is None


LARGE = 400_000
"""Numbers of four bytes that are kept in a mapped file."""


def test_a_large_file_is_mapped_and_outlives_what_replaces_it(own_folder: Path) -> None:
    numbers = np.arange(LARGE, dtype=np.int32)
    cache.store("t", "k", {"x": numbers, **ARRAYS})
    have = cache.load("t", "k") or {}
    base = have["x"]
    while isinstance(base.base, np.ndarray):
        base = base.base
    assert isinstance(base.base, memoryview) and isinstance(base.base.obj, mmap.mmap)
    assert have["x"].flags.aligned and not have["x"].flags.writeable
    cache.store("t", "k", {"x": numbers[::-1]})
    only_file(own_folder).unlink()
    assert np.array_equal(have["x"], numbers)
    assert_same({name: have[name] for name in ARRAYS})


def test_a_header_of_any_length_gives_aligned_arrays(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = np.arange(LARGE, dtype=np.int32)
    for align in (1, 3, 64):
        monkeypatch.setattr(cache, "_ALIGN", align)
        cache.store("t", "k" * align, {"x": numbers})
        have = cache.load("t", "k" * align) or {}
        assert have["x"].flags.aligned and not have["x"].flags.writeable
        assert memoryview(have["x"].data).format == "i"
        assert np.array_equal(have["x"], numbers)


def test_a_large_file_that_is_damaged_is_no_entry(own_folder: Path) -> None:
    cache.store("t", "k", {"x": np.arange(LARGE, dtype=np.int32)})
    file = only_file(own_folder)
    whole = file.read_bytes()
    for damaged in (whole[:-1], whole[:-1] + b"x", whole[: len(whole) // 2]):
        file.write_bytes(damaged)
        assert cache.load("t", "k") is None


def write_often(folder: str, seed: int) -> None:
    os.environ["STCON_CACHE_DIR"] = folder
    for turn in range(40):
        numbers = np.full(LARGE if turn % 4 == 0 else 20_000, seed, np.int32)
        assert cache.store("t", "k", {"x": numbers})
        found = cache.load("t", "k")
        assert found is not None and len(np.unique(found["x"])) == 1


def test_concurrent_writers_leave_whole_files(own_folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    jobs = [
        context.Process(target=write_often, args=(str(own_folder), seed))
        for seed in range(3)
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join(60)
    assert [job.exitcode for job in jobs] == [0, 0, 0]
    assert [path.suffix for path in own_folder.glob("*/*")] == [".stcon"]


def test_no_folder_means_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("STCON_CACHE_DIR", str(blocked))
    assert not cache.store("t", "k", ARRAYS)
    assert cache.load("t", "k") is None


def test_a_failing_move_leaves_nothing(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("read-only file system")

    monkeypatch.setattr(os, "replace", refuse)
    assert not cache.store("t", "k", ARRAYS)
    assert list(own_folder.glob("*/*")) == []


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_read_only_folder(own_folder: Path) -> None:
    own_folder.chmod(0o500)
    assert not cache.store("t", "k", ARRAYS)
    own_folder.chmod(0o700)


@pytest.mark.parametrize("kind", ["", "../x", "a/b", ".", "a b"])
def test_kinds_that_are_no_names(kind: str) -> None:
    with pytest.raises(ValueError, match="kind"):
        cache.load(kind, "k")


def test_only_numbers_are_stored() -> None:
    for array in (np.array([object()]), np.array(["text"])):
        with pytest.raises(ValueError, match="cannot store"):
            cache.store("t", "k", {"x": array})


def test_the_oldest_go_first_and_other_files_stay(own_folder: Path) -> None:
    foreign = own_folder / "assets" / "tokenizer.json"
    foreign.parent.mkdir()
    foreign.write_bytes(bytes(10_000))
    for key in "abc":
        cache.store("t", key, {"x": np.zeros(1000, np.uint8)})
        os.utime(cache._path("t", key) or "", (ord(key), ord(key)))
    cache.load("t", "a")  # used now, so "b" is the oldest
    cache._prune(own_folder, 3000)
    have = [cache.load("t", key) is not None for key in "abc"]
    assert have == [True, False, True]
    assert foreign.exists()


@pytest.mark.parametrize(
    ("platform", "xdg", "want"),
    [
        ("darwin", "/x", "Library/Caches/stcon"),
        ("linux", "", ".cache/stcon"),
        ("linux", "/x", "/x/stcon"),
    ],
)
def test_folder(
    platform: str, xdg: str, want: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STCON_CACHE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", xdg)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache.folder() == tmp_path / want
