"""What patching changes, and that it is undone."""

from __future__ import annotations

import importlib
import sys

import pytest

import stcon
from stcon import StconError


def test_blocks_of_several_threads_end_with_the_last() -> None:
    module = importlib.import_module("mlx_lm.generate")
    stock = module.generate_step
    one, other = stcon.patch(), stcon.patch()
    with one:
        pass
    assert module.generate_step is not stock
    with other:
        pass
    assert module.generate_step is stock
    stcon.patch()
    with stcon.patch():
        pass
    assert module.generate_step is not stock
    with pytest.raises(StconError, match="patched already"):
        stcon.patch(pipelined=True)
    stcon.unpatch()
    assert module.generate_step is stock


def everything() -> dict[tuple[str, str], object]:
    """Every attribute of every module of mlx-lm, and of the classes in them."""
    found: dict[tuple[str, str], object] = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] != "mlx_lm":
            continue
        for attribute, value in vars(module).items():
            found[name, attribute] = value
            if isinstance(value, type) and value.__module__.startswith("mlx_lm"):
                found |= {
                    (f"{name}.{attribute}", inner): part
                    for inner, part in vars(value).items()
                    if inner != "__slotnames__"  # made by copy.deepcopy
                }
    return found


def test_unpatch_restores_every_attribute() -> None:
    importlib.import_module("mlx_lm.generate")
    importlib.import_module("mlx_lm.cache_prompt")
    before = everything()
    with stcon.patch():
        with stcon.patch():
            pass
        changed = {k for k, v in everything().items() if v is not before.get(k)}
        assert ("mlx_lm.generate", "generate_step") in changed
        assert ("mlx_lm.cache_prompt", "generate_step") in changed
        assert ("mlx_lm.generate", "speculative_generate_step") in changed
        assert ("mlx_lm.generate.GenerationBatch", "_step") in changed
        assert ("mlx_lm.generate.BatchGenerator", "insert_segments") in changed
    after = everything()
    assert before.keys() == after.keys()
    assert all(after[key] is value for key, value in before.items())
    stcon.unpatch()
    assert {k for k, v in everything().items() if v is not before[k]} == set()


def test_an_mlx_lm_of_another_build_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("mlx_lm.generate")
    monkeypatch.delattr(module.GenerationBatch, "_step")
    before = everything()
    with pytest.raises(StconError, match="has no _step in GenerationBatch"):
        stcon.patch()
    assert everything() == before


def test_an_old_mlx_lm_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import mlx_lm

    before = everything()
    monkeypatch.setattr(mlx_lm, "__version__", "0.28.1")
    with pytest.raises(StconError, match=r"mlx-lm 0\.28\.1 is not supported"):
        stcon.patch()
    monkeypatch.undo()
    assert everything() == before
