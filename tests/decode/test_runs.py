"""The state is a function of the history: both processors, any order of calls."""

from __future__ import annotations

import random
from collections.abc import Iterator

import mlx.core as mx
import numpy as np
import pytest

from stcon.constraints.constraint import Constraint, LogitsProcessor
from stcon.decode.processor import make_processor
from stcon.errors import HistoryError, StconError
from stcon.machines.dfa import DEAD
from stcon.syntax import rules as r
from tests.worlds import EOS, SPECIAL, constraint, digits, record, token

WIDTH = 140
PATHS = ["host", "traced", "classes", "walk"]


def tokens(text: str) -> list[int]:
    return [token(c) for c in text]


def open_after(processor: LogitsProcessor, history: list[int]) -> set[int]:
    masked = processor(mx.array(history), mx.zeros((1, WIDTH)))
    return set(np.flatnonzero(np.array(masked[0]) == 0).tolist())


def want(machine: Constraint, output: list[int]) -> set[int]:
    state = machine.advance_all(output)
    assert state != DEAD
    return set(np.flatnonzero(machine.allowed(state)).tolist())


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def machine() -> Constraint:
    return constraint(record())


PROMPT = [7, 8, 9]
OUTPUT = tokens('{"a":12,"b":x}')


@pytest.mark.parametrize("prompt", [PROMPT, PROMPT[-1:]])
def test_one_run(machine: Constraint, path: str, prompt: list[int]) -> None:
    processor = make_processor(machine, path)
    for n in range(len(OUTPUT) + 1):
        have = open_after(processor, prompt + OUTPUT[:n])
        assert have == want(machine, OUTPUT[:n])
    assert have == {EOS}
    assert open_after(processor, [*prompt, *OUTPUT, EOS]) == {EOS}
    assert open_after(processor, [*prompt, *OUTPUT, EOS, EOS]) == {EOS}


def test_reuse_in_sequence(machine: Constraint, path: str) -> None:
    processor = make_processor(machine, path)
    for prompt in ([7, 8], [7, 8], [9], [7, 8, 9, 10], [8]):
        for n in range(len(OUTPUT) + 1):
            have = open_after(processor, prompt + OUTPUT[:n])
            assert have == want(machine, OUTPUT[:n])


def test_prompt_one_token_longer_than_the_first_run(
    machine: Constraint, path: str
) -> None:
    processor = make_processor(machine, path)
    for n in range(6):
        open_after(processor, PROMPT + OUTPUT[:n])
    longer = [11] * (len(PROMPT) + 5 + 1)
    assert open_after(processor, longer) == want(machine, [])
    assert open_after(processor, [*longer, OUTPUT[0]]) == want(machine, OUTPUT[:1])


def test_prompt_one_token_longer_than_the_first_prompt(
    machine: Constraint, path: str
) -> None:
    """A prompt that ends in a full stop, after the same prompt without one."""
    processor = make_processor(machine, path)
    for _ in range(3):
        for n in range(5):
            open_after(processor, PROMPT + OUTPUT[:n])
        for n in range(4):
            have = open_after(processor, [*PROMPT, 40, *OUTPUT[:n]])
            assert have == want(machine, OUTPUT[:n])


def test_prompt_that_continues_a_finished_run(machine: Constraint, path: str) -> None:
    processor = make_processor(machine, path)
    for n in range(len(OUTPUT) + 1):
        open_after(processor, PROMPT + OUTPUT[:n])
    assert open_after(processor, [*PROMPT, *OUTPUT, 40]) == want(machine, [])
    open_after(processor, [*PROMPT, *OUTPUT, EOS])
    assert open_after(processor, [*PROMPT, *OUTPUT, EOS, 41]) == want(machine, [])


def test_jumps_back_and_forth(machine: Constraint, path: str) -> None:
    processor = make_processor(machine, path)
    one = tokens('{"a":12345')
    two = tokens('{"a":19,"b')
    for n in range(len(one) + 1):
        open_after(processor, PROMPT + one[:n])
    for n in (7, 6, 8, 3, 9, 7):
        assert open_after(processor, PROMPT + one[:n]) == want(machine, one[:n])
    for n in range(6, len(two) + 1):
        assert open_after(processor, PROMPT + two[:n]) == want(machine, two[:n])
    assert open_after(processor, PROMPT + one) == want(machine, one)


def random_walk(machine: Constraint, rng: random.Random) -> Iterator[list[int]]:
    output: list[int] = []
    while True:
        yield list(output)
        open_ids = sorted(want(machine, output))
        if open_ids == [EOS]:
            return
        output.append(rng.choice(open_ids))


@pytest.mark.parametrize("same_prompt", [True, False])
def test_rows_of_a_batch_share_one_object(path: str, same_prompt: bool) -> None:
    machine = constraint(r.concat(digits(6), r.literal("."), digits(3)))
    processor = make_processor(machine, path)
    rng = random.Random(0)
    rows = [random_walk(machine, rng) for _ in range(8)]
    prompts = [[5, 6] if same_prompt else [5, 6 + i] for i in range(8)]
    alive = list(range(8))
    while alive:
        for i in list(alive):
            output = next(rows[i], None)
            if output is None:
                alive.remove(i)
                continue
            have = open_after(processor, prompts[i] + output)
            assert have == want(machine, output)


def test_both_paths_agree_on_random_calls() -> None:
    machine = constraint(r.concat(digits(4), r.literal("-"), digits(2)), b"12", b"1-")
    host, *others = (make_processor(machine, p) for p in PATHS)
    rng = random.Random(1)
    known = [[9], [3, 9], [4]]
    for _ in range(80):
        history = list(rng.choice(known))
        for _ in range(3):
            one = open_after(host, history)
            assert one
            for other in others:
                assert open_after(other, history) == one, history
            history = [*history, rng.choice(sorted(one))]
            if history not in known and len(known) < 60:
                known.append(history[:-1] if history[-1] == EOS else history)


@pytest.mark.parametrize("wrong", [token("x"), SPECIAL, EOS, 139, token('"')])
def test_a_token_that_is_not_allowed(machine: Constraint, wrong: int) -> None:
    processor = make_processor(machine, "host")
    open_after(processor, PROMPT)
    with pytest.raises(HistoryError, match="position 3") as error:
        open_after(processor, [*PROMPT, wrong])
    assert error.value.position == 3
    # the run is not poisoned
    assert open_after(processor, [*PROMPT, OUTPUT[0]]) == want(machine, OUTPUT[:1])


def test_the_last_token_handed_in_twice() -> None:
    machine = constraint(record())
    processor = make_processor(machine, "host")
    first = token("{")
    open_after(processor, [9])
    open_after(processor, [9, first])
    with pytest.raises(HistoryError):
        open_after(processor, [9, first, first])


def test_traced_flags_a_wrong_token_and_ends_the_run(machine: Constraint) -> None:
    processor = make_processor(machine, "traced")
    history = [*PROMPT]
    open_after(processor, history)
    history.append(token("x"))
    assert open_after(processor, history) == {EOS}
    with pytest.raises(HistoryError, match="position 3"):
        for _ in range(8):
            history.append(EOS)
            open_after(processor, history)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16])
@pytest.mark.parametrize("shape", [(1, 130), (130,), (1, 512), (512,), (1, 120)])
def test_shapes_and_dtypes(path: str, dtype: mx.Dtype, shape: tuple[int, ...]) -> None:
    machine = constraint(record())
    logits = mx.random.normal(shape).astype(dtype)
    have = make_processor(machine, path)(mx.array(PROMPT), logits)
    assert have.shape == logits.shape and have.dtype == dtype
    mask = np.zeros(shape[-1], bool)
    if shape[-1] > token("{"):
        mask[token("{")] = True
    flat = np.array(have.astype(mx.float32)).reshape(-1)
    wanted = np.array(logits.astype(mx.float32)).reshape(-1)
    assert np.array_equal(flat, np.where(mask, wanted, -np.inf))


@pytest.mark.parametrize("path", PATHS)
def test_lists_arrays_and_integer_widths(machine: Constraint, path: str) -> None:
    history = PROMPT + OUTPUT[:2]
    logits = mx.zeros((1, WIDTH))
    seen = []
    for given in (
        history,
        np.array(history),
        np.array(history, np.uint16),
        mx.array(history, mx.uint32),
        mx.array(history, mx.int32) + 0,
    ):
        processor = make_processor(machine, path)
        for n in (3, 4):
            processor(given[:n], logits)
        seen.append(np.array(processor(given, logits)[0] == 0))
    assert all((mask == seen[0]).all() for mask in seen)
    assert set(np.flatnonzero(seen[0]).tolist()) == want(machine, OUTPUT[:2])


BAD_HISTORIES = [[], [[1, 2]], [1.5], [[1], [1, 2]], None, "abc", [2**40], [-1]]


@pytest.mark.parametrize("bad", BAD_HISTORIES, ids=repr)
def test_bad_histories(machine: Constraint, path: str, bad: object) -> None:
    with pytest.raises(HistoryError, match="token ids"):
        make_processor(machine, path)(bad, mx.zeros((1, WIDTH)))
    if bad in ([], [[1, 2]], [1.5]):
        with pytest.raises(HistoryError, match="token ids"):
            make_processor(machine, path)(mx.array(bad), mx.zeros((1, WIDTH)))


@pytest.mark.parametrize(
    "bad",
    [
        *(None, mx.array(0.0), mx.zeros((2, 5)), mx.zeros((1, 1, 5))),
        *(mx.zeros((1, 0)), mx.zeros((1, 5), mx.int32), [1.0, 2.0]),
    ],
)
def test_bad_logits(machine: Constraint, path: str, bad: object) -> None:
    with pytest.raises(TypeError, match="logits"):
        make_processor(machine, path)([1, 2], bad)


def test_fresh_forgets(machine: Constraint) -> None:
    for n in range(4):
        machine(mx.array(PROMPT + OUTPUT[:n]), mx.zeros((1, WIDTH)))
    again = machine.fresh()
    have = again(mx.array([*PROMPT, *OUTPUT[:3]]), mx.zeros((1, WIDTH)))
    assert set(np.flatnonzero(np.array(have[0]) == 0).tolist()) == want(machine, [])


def test_old_runs_go_when_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stcon.decode.runs._MAX_BYTES", 400)
    machine = constraint(record())
    processor = make_processor(machine, "host")
    for i in range(50):
        open_after(processor, [i, *PROMPT])
    assert len(processor._runs._runs) == 25  # type: ignore[attr-defined]
    assert open_after(processor, [49, *PROMPT, OUTPUT[0]]) == want(machine, OUTPUT[:1])


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both processors remember 100 tokens."""
    monkeypatch.setattr("stcon.decode.runs._MAX_BYTES", 400)
    monkeypatch.setattr("stcon.decode.traced._REMEMBERED", 3)
    monkeypatch.setattr("stcon.decode.traced._REMEMBERED_TOKENS", 100)


@pytest.mark.usefixtures("forgetful")
def test_a_forgotten_row_that_goes_on_is_an_error(path: str) -> None:
    machine = constraint(record())
    processor = make_processor(machine, path)
    for i in range(50):
        open_after(processor, [i, *PROMPT])
    with pytest.raises(HistoryError, match="had to be forgotten") as caught:
        open_after(processor, [0, *PROMPT, OUTPUT[0]])
    assert caught.value.position == len(PROMPT) + 1
    assert open_after(processor, [0, *PROMPT]) == want(machine, [])
    assert open_after(processor, [0, *PROMPT, OUTPUT[0]]) == want(machine, OUTPUT[:1])
    assert open_after(processor, [60, 61]) == want(machine, [])


@pytest.mark.usefixtures("forgetful")
def test_a_run_goes_on_while_its_beginning_is_forgotten(path: str) -> None:
    machine = constraint(record())
    processor = make_processor(machine, path)
    for _ in range(3):
        for n in range(len(OUTPUT) + 1):
            have = open_after(processor, [*PROMPT * 5, *OUTPUT[:n]])
            assert have == want(machine, OUTPUT[:n])
    assert open_after(processor, [*PROMPT * 5, 1]) == want(machine, [])


@pytest.mark.usefixtures("forgetful")
def test_what_was_forgotten_is_bounded(
    monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr("stcon.decode.forgotten._MAX_FORGOTTEN", 5)
    processor = make_processor(constraint(record()), path)
    for i in range(60):
        open_after(processor, [i, *PROMPT])
    holder = getattr(processor, "_runs", processor)
    assert len(holder._forgotten) == 5  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [20, 100, 100_000])
def test_logits_of_another_model(machine: Constraint, path: str, width: int) -> None:
    with pytest.raises(StconError, match="do not belong together"):
        make_processor(machine, path)(mx.array([1, 2]), mx.zeros((1, width)))
