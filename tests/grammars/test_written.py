"""A real model writes programs, other parsers read them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.grammars.written import JUDGES, PROMPTS, written


@pytest.mark.real
@pytest.mark.parametrize("name", PROMPTS)
@pytest.mark.parametrize("seed", range(2))
def test_smollm2_writes_programs(
    smollm2: tuple[Any, Any], name: str, seed: int
) -> None:
    text = written(smollm2, name, seed)
    assert text.strip() and JUDGES[name](text), text
