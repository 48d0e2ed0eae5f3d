"""Grammars in mlx-lm's loops: plain, patched, within a limit, after a mark."""

from __future__ import annotations

import mlx.core as mx
import pytest
from mlx_lm.generate import generate_step

import stcon
from stcon import constrain
from stcon.constraints.constraint import Constraint
from tests import tiny

SUMS = r"""
root ::= "sum:" sum
sum ::= sum [+\-] item | item
item ::= [0-9]{1,3} | "(" sum ")" | "celsius"
"""


def made(**options: object) -> Constraint:
    return constrain(
        tiny.tokenizer(),
        grammar=SUMS,
        eos_token_ids=[tiny.end_id()],
        **options,  # type: ignore[arg-type]
    )


def written(constraint: Constraint, limit: int) -> list[int]:
    """The tokens of a greedy run, its end included."""
    found: list[int] = []
    steps = generate_step(
        mx.array([5, 6, 7]),
        tiny.model("llama"),
        max_tokens=limit,
        logits_processors=[constraint],
    )
    for token, _ in steps:
        found.append(int(token))
        if token == tiny.end_id():
            break
    return found


def text_of(constraint: Constraint, tokens: list[int]) -> bytes:
    vocabulary = constraint.vocabulary
    return b"".join(vocabulary.token_bytes(t) for t in tokens if t != tiny.end_id())


@pytest.mark.parametrize("limit", [6, 15, 30])
def test_within_a_limit(limit: int) -> None:
    constraint = made(max_tokens=limit)
    text = text_of(constraint, written(constraint, limit))
    assert made().matches(text), text


def test_a_run_that_is_cut_is_a_beginning() -> None:
    constraint = made()
    text = text_of(constraint, written(constraint, 12))
    assert text.startswith(b"sum:")
    assert constraint.read(constraint.start, text) != 0


def test_patched_and_plain_write_the_same() -> None:
    import mlx_lm

    def run() -> str:
        from mlx_lm.tokenizer_utils import TokenizerWrapper
        from transformers import PreTrainedTokenizerFast

        fast = PreTrainedTokenizerFast(
            tokenizer_object=tiny.tokenizer(), eos_token="<end>"
        )
        wrapper = TokenizerWrapper(fast)
        found: str = mlx_lm.generate(
            tiny.model("llama"),
            wrapper,
            [5, 6, 7],
            max_tokens=20,
            logits_processors=[made(max_tokens=20)],
        )
        return found

    plain = run()
    with stcon.patch():
        patched = run()
    assert made().matches(plain) and made().matches(patched)
    assert patched == plain


def test_after_a_mark() -> None:
    constraint = made(after="</think>")
    state = constraint.start_after([5])
    state = constraint.read(state, b"let me see</think>\nsum:1")
    assert constraint.is_complete(state)
    assert set(constraint.live(state)) == set(b"0123456789+-")
