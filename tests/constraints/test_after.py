"""A format after a mark: free before it, exact after it."""

from __future__ import annotations

import random
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import stcon
from stcon import HistoryError, LimitError, VocabularyError, constrain
from stcon.constraints.after import AfterConstraint, Free, Gap, Mark
from stcon.constraints.constraint import Constraint, State
from stcon.machines.dfa import DEAD
from tests import tiny
from tests.worlds import EOS, SPECIAL, constraint, digits, record, token

TEXTS = (
    b"<a",
    b"</",
    b"b>",
    b"</b>",
    b"</b>\n",
    b"</b>\n\n{",
    b"x</b>1",
    b"\n\n",
    b"\n{",
    b"12",
)
MARKS = {
    "bytes": Mark(b"</b>", None),
    "one token": Mark(b"</b>", 2 + 128 + 3),
    "special": Mark(b"</b>", SPECIAL),
    "repeating": Mark(b"aab", None),
}
FORMATS = {"record": record(), "number": digits(3)}


def made(mark: str, name: str = "record") -> AfterConstraint:
    return AfterConstraint(constraint(FORMATS[name], *TEXTS), MARKS[mark])


def reference(machine: AfterConstraint, text: bytes) -> bool:
    """Whether a text without special tokens is whole, said plainly."""
    mark = machine.mark.text
    place = text.find(mark)
    if place < 0:
        return False
    rest = text[place + len(mark) :]
    for newlines in range(3):
        if rest[:newlines] == b"\n" * newlines and machine.inner.matches(
            rest[newlines:]
        ):
            return True
    return False


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("name", FORMATS)
def test_masks_are_what_can_be_read(mark: str, name: str) -> None:
    machine = made(mark, name)
    vocabulary = machine.vocabulary
    rng = random.Random(0)
    for _ in range(6):
        state: State = machine.start
        for step in range(25):
            row = machine.allowed(state)
            for one in range(vocabulary.size):
                data = vocabulary.token_bytes(one)
                if one == EOS:
                    want = machine.is_complete(state)
                elif one == machine.mark.token and isinstance(state, Free):
                    want = True
                elif not data:
                    want = isinstance(state, Free)
                else:
                    want = machine.read(state, data) != DEAD
                assert row[one] == want, (state, one, data)
                assert (machine.advance(state, one) != DEAD) == want
            choice = rng.choice(np.flatnonzero(row).tolist())
            if step == 5 and isinstance(state, Free):
                text = machine.mark.text[state.matched :]
                state = machine.read(state, text)
                continue
            if choice == EOS:
                break
            state = machine.advance(state, choice)


@pytest.mark.parametrize("mark", ["bytes", "repeating"])
def test_texts(mark: str) -> None:
    machine = made(mark)
    end = machine.mark.text
    good = b'{"a":1,"b":x}'
    for text in (
        *(end + good, b"thinks " + end + b"\n" + good, end + b"\n\n" + good),
        *(end + b"\n\n\n" + good, good, end + end + good, b"<" + end[:1] + end + good),
        *(end[:-1] + end + good, b"aa" + end + good, end + b" " + good, end),
    ):
        assert machine.matches(text) is reference(machine, text), text


def test_a_format_that_begins_with_a_newline_has_no_gap() -> None:
    from stcon.syntax import rules as r

    inner = constraint(r.concat(r.literal("\n"), digits(2)), *TEXTS)
    machine = AfterConstraint(inner, MARKS["bytes"])
    assert machine.matches(b"</b>\n12") and not machine.matches(b"</b>\n\n12")


def test_prompts() -> None:
    machine = AfterConstraint(
        constraint(record(), *TEXTS), Mark(b"</b>", SPECIAL, token("<"))
    )
    opens, closes, other = token("<"), SPECIAL, token("q")
    for prompt, want in (
        ([other, other], Free(0)),
        ([other, opens], Free(0)),
        ([opens, other, closes, other], Gap(2)),
        ([opens, closes, other, opens, other], Free(0)),
        ([closes], Gap(2)),
    ):
        assert machine.start_after(prompt) == want
    by_bytes = made("bytes")
    assert by_bytes.start_after([token(c) for c in "a</b>"]) == Gap(2)
    assert by_bytes.start_after([token(c) for c in "a</b"]) == Free(0)


def test_in_the_processor() -> None:
    machine = made("special")
    prompt = [token("q"), token("r")]
    width = machine.vocabulary.size
    free = np.array(machine(mx.array(prompt), mx.zeros((1, width)))[0])
    assert np.isneginf(free[EOS]) and free[SPECIAL] == 0 and free[token("z")] == 0
    closed = np.array(
        machine(mx.array([*prompt, SPECIAL, token("s")]), mx.zeros((1, width)))[0]
    )
    assert (
        np.flatnonzero(closed == 0).tolist()
        == np.flatnonzero(machine.inner.allowed(machine.inner.start)).tolist()
    )
    with pytest.raises(HistoryError, match="only the last token"):
        made("special")(mx.array([SPECIAL]), mx.zeros((1, width)))


@pytest.mark.parametrize("mark", ["bytes", "one token"])
def test_a_limit_counts_the_thinking(mark: str) -> None:
    machine = made(mark)
    with pytest.raises(LimitError):
        machine.within(5)
    limited = machine.within(40)
    rng = random.Random(1)
    for _ in range(20):
        state, output = limited.start, b""
        for _ in range(40):
            allowed = np.flatnonzero(limited.allowed(state)).tolist()
            if not allowed:
                break
            choice = rng.choice(allowed)
            if choice == EOS:
                break
            output += limited.vocabulary.token_bytes(choice)
            state = limited.advance(state, choice)
        assert machine.matches(output), output


def test_the_patched_loop_thinks_first() -> None:
    import importlib
    import sys

    importlib.import_module("mlx_lm.generate")
    end = tiny.tokenizer().encode("old", add_special_tokens=False).ids
    schema = {"enum": ["celsius", "kelvin"]}
    machine: Constraint = constrain(
        tiny.tokenizer(), schema, after="old", eos_token_ids=[tiny.end_id()]
    )
    drawn: list[int] = []

    def sampler(logprobs: Any) -> Any:
        thinking = [90, 91, 92, *end]
        place = len(drawn)
        drawn.append(place)
        if place < len(thinking):
            assert mx.isfinite(logprobs[0, thinking[place]]).item()
            return mx.array([thinking[place]])
        return mx.argmax(logprobs, axis=-1)

    with stcon.patch():
        steps = sys.modules["mlx_lm.generate"].generate_step(
            mx.array([5, 6, 7]),
            tiny.model("llama"),
            max_tokens=40,
            sampler=sampler,
            logits_processors=[machine],
        )
        tokens = [int(t) for t, _ in steps]
    assert tokens[:3] == [90, 91, 92] and tokens[-1] == tiny.end_id()
    text = tiny.tokenizer().decode(tokens[:-1])
    assert text.partition("old")[2].strip() in ('"celsius"', '"kelvin"')


def test_marks_of_tokenizers() -> None:
    with pytest.raises(VocabularyError, match="no text that ends thinking"):
        constrain(tiny.tokenizer(), True, after=True, eos_token_ids=[tiny.end_id()])
    machine = constrain(
        tiny.tokenizer(), {"enum": [1]}, after="</think>", eos_token_ids=[tiny.end_id()]
    )
    assert machine.report()["after"] == "</think>"
    assert machine.matches("well</think>\n\n1") and not machine.matches("1")
