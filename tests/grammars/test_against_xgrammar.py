"""Masks of all shipped grammars are XGrammar's; on whole programs and a real tokenizer
``python -m tests.grammars.against_xgrammar`` shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stcon.bench.grammars import NAMES
from stcon.bench.machine import installed
from stcon.bench.tokenizer import load_tokens
from tests import tiny
from tests.grammars.against_xgrammar import compare, samples


@pytest.mark.parametrize("name", NAMES)
def test_there_are_enough_samples(name: str) -> None:
    assert len(samples(name)) >= 22


@pytest.mark.skipif(not installed("xgrammar"), reason="xgrammar is not installed")
@pytest.mark.parametrize("name", NAMES)
def test_masks(name: str, tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    tiny.tokenizer().save(str(file))
    steps, wrong = compare(load_tokens(str(file), [tiny.end_id()]), name, most=60)
    assert steps > 500 and wrong == 0
