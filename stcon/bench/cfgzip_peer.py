"""CFGzip around XGrammar: the package of the token-space-compression paper.

Its preprocessor is a program that asks a model hub for a tokenizer; here it finds one
in a folder laid out as the hub's cache.  Then XGrammar fills a mask of classes, and
CFGzip's translator makes one of all tokens of it: timed apart.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from stcon.bench.engines import PeerMissing, Refused
from stcon.bench.grammar_engines import GrammarEngine, Message, Row
from stcon.bench.tokenizer import Tokens

_PROGRAM = "cfgzip-preprocess"
_NAME = "bench/tokenizer"
_MAX_WORDS = 200


class CfgzipEngine(GrammarEngine):
    """``XgrammarProcessor`` of cfgzip, one thread, one row."""

    name = "cfgzip"

    def __init__(self, tokens: Tokens, limit_seconds: float, limit_bytes: int) -> None:
        self._cfgzip = import_module("cfgzip")
        self._torch = import_module("torch")
        self._tokens = tokens
        self._seconds, self._bytes = limit_seconds, limit_bytes
        self._like_theirs = SimpleNamespace(eos_token_id=tokens.vocabulary.eos_ids[0])
        self._program = _program()

    def compile(self, text: str) -> Message:
        """``helper_mb``: of the preprocessor."""
        with tempfile.TemporaryDirectory() as folder:
            grammar, out = Path(folder, "grammar.gbnf"), Path(folder, "classes")
            grammar.write_text(text, "utf-8")
            _as_hub_cache(Path(folder, "hub"), self._tokens)
            command = [self._program, "--model-id", _NAME, "--no-progress"]
            command += ["--cache-dir", str(Path(folder, "hub"))]
            command += ["--grammar-file", str(grammar), "--output", str(out)]
            command += ["--n-logits", str(self._tokens.vocabulary.size)]
            peak = _run(command, self._seconds, self._bytes)
            self._made = self._load(str(out), text)
        processor = self._made
        self._translator = processor.mask_translator
        shape = (1, self._translator.n_tokens)
        self._logits = self._torch.zeros(shape)
        return {"classes": self._translator.n_classes, "helper_mb": peak / 1e6}

    def _load(self, folder: str, text: str) -> Any:
        kind = self._cfgzip.XgrammarProcessor
        try:
            self._parts = kind.load_and_compile(
                folder, self._like_theirs, text, max_threads=1
            )
        except (RuntimeError, ValueError) as error:
            raise Refused(str(error)) from error
        return kind.from_compiled(*self._parts, self._like_theirs, max_threads=1)

    def reset(self) -> None:
        kind = self._cfgzip.XgrammarProcessor
        self._made = kind.from_compiled(*self._parts, self._like_theirs, max_threads=1)
        self._logits.zero_()
        self._translator.class_mask.fill_(1.0)

    def fill(self) -> None:
        self._made.update_class_mask_inplace()

    def translate(self) -> None:
        self._translator.mask_logits_inplace(self._logits)

    def row(self) -> Row:
        found = (self._logits[0, : self._tokens.vocabulary.size] == 0).numpy()
        self._logits.zero_()
        return np.asarray(found, np.bool_)

    def advance(self, token: int) -> bool:
        return bool(self._made.accept_tokens(self._torch.tensor([[token]])))


def _program() -> str:
    found = shutil.which(_PROGRAM, path=str(Path(sys.executable).parent))
    found = found or shutil.which(_PROGRAM)
    if found is None:
        hint = "pip install 'cfgzip[xgrammar]'"
        raise PeerMissing(f"{_PROGRAM} is not on the path", hint=hint)
    return found


def _as_hub_cache(folder: Path, tokens: Tokens) -> None:
    """Nothing; ``folder`` has the tokenizer as a hub's client would have put it."""
    entry = folder / f"models--{_NAME.replace('/', '--')}"
    snapshot = entry / "snapshots" / "0"
    snapshot.mkdir(parents=True)
    (entry / "refs").mkdir()
    (entry / "refs" / "main").write_text("0")
    shutil.copy(tokens.file, snapshot / "tokenizer.json")
    end = tokens.tokenizer.id_to_token(tokens.vocabulary.eos_ids[0])
    (snapshot / "tokenizer_config.json").write_text(json.dumps({"eos_token": end}))


def _run(command: list[str], seconds: float, most_bytes: int) -> int:
    """The most bytes that were resident.  Raises Refused when the program fails, or
    takes more."""

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))

    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command, stdout=said, stderr=said, preexec_fn=bounded
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Refused(f"classes: more than {seconds:g} s") from None
        if process.returncode:
            said.seek(0)
            words = said.read().decode("utf-8", "replace").strip()
            words = words.splitlines()[0][:_MAX_WORDS] if words else ""
            how = f"classes: exit status {process.returncode}"
            raise Refused(f"{how}: {words}" if words else how)
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
