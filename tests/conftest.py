"""What all tests share: the real model, loaded once."""

from __future__ import annotations

from typing import Any

import pytest

from tests import assets


@pytest.fixture(scope="session")
def smollm2() -> tuple[Any, Any]:
    """SmolLM2-135M-Instruct and its tokenizer, as mlx-lm loads them."""
    folder = assets.smollm2_folder()
    from mlx_lm import load

    model, tokenizer = load(str(folder))
    return model, tokenizer
