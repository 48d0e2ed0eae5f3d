"""``bench decode``: what is counted, on tiny random models; never how long it takes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import mlx.core as mx
import numpy as np
import pytest

from stcon.__main__ import main
from stcon.bench.agreement import agreement, completed, found_in
from stcon.bench.bitmasks import unpacked
from stcon.bench.cases import Case, record
from stcon.bench.chart import chart
from stcon.bench.decode import measure, open_decoders, report
from stcon.bench.decoders import Decoder, Free, StconDecoder, follow
from stcon.bench.engines import Refused
from stcon.bench.machine import installed
from stcon.bench.model import Loaded, Meter, Prompt
from stcon.bench.prompts import asked_cases, request
from stcon.bench.recursive_cases import recursive_cases
from stcon.bench.table import Progress
from stcon.bench.tokenizer import Tokens
from stcon.decode.processor import HostProcessor
from stcon.tokens.vocabulary import Vocabulary
from tests import tiny

SMALL = record(
    {
        "name": {"type": "string", "maxLength": 4},
        "age": {"type": "integer", "minimum": 0, "maximum": 99},
        "unit": {"enum": ["celsius", "kelvin"]},
        "list": {"type": "array", "items": {"type": "boolean"}, "maxItems": 2},
    }
)
CASE = Case(
    "person",
    SMALL,
    ({"name": "Zoë", "age": 7, "unit": "kelvin", "list": [True]},) * 2,
)
LIMIT = 200
PEERS = ["llguidance"] if installed("llguidance") else []
OURS = ("stcon patched", "stcon unpatched")
THEIRS = ("llguidance masks", "llguidance fast-forward")
FORCING = ("stcon patched", "llguidance fast-forward")


@pytest.fixture(scope="module")
def tokens() -> Tokens:
    vocabulary = Vocabulary.of(tiny.tokenizer(), [tiny.end_id()])
    return Tokens(tiny.tokenizer(), Path(), vocabulary)


@pytest.fixture(params=["llama", "qwen3_5"])
def loaded(request: pytest.FixtureRequest, tokens: Tokens) -> Loaded:
    """A model with attention alone, and one with recurrent layers."""
    return Loaded(tiny.model(request.param), tokens, lambda t: tokens.encode(t[-1]))


def decoder(loaded: Loaded, name: str) -> Decoder:
    """The decoder of this name; the test is skipped where it cannot be."""
    if name in THEIRS and not PEERS:
        pytest.skip("llguidance is not installed")
    peers = PEERS if name in THEIRS else []
    return {each.name: each for each in open_decoders(loaded, peers)}[name]


def decoded(loaded: Loaded, name: str, limit: int = LIMIT) -> tuple[Meter, list[int]]:
    """One answer and the meter that it ran on."""
    one = decoder(loaded, name)
    meter = Meter(Prompt(loaded.model, loaded.encode(["name"])))
    return meter, one.decode(one.compile(SMALL), meter, limit)


def sampled_places(meter: Meter) -> list[int]:
    """The places in the answer whose tokens were sampled, by the sizes of runs."""
    ends = np.cumsum(meter.sizes) - 1  # the first run has one token of the prompt
    return [int(end) for end in ends]


@pytest.mark.parametrize("name", [*OURS, *THEIRS])
def test_answers_end_and_are_in_the_format(loaded: Loaded, name: str) -> None:
    meter, out = decoded(loaded, name)
    assert out[-1] == tiny.end_id() and out.count(tiny.end_id()) == 1
    text = loaded.tokens.vocabulary.decode(out[:-1])
    assert StconDecoder(loaded.tokens).compile(SMALL).matches(text)
    assert len(meter.runs) == len(meter.sizes) > 0


@pytest.mark.parametrize("name", [OURS[1], THEIRS[0]])
def test_without_forced_text_each_token_is_a_run(loaded: Loaded, name: str) -> None:
    meter, out = decoded(loaded, name)
    assert meter.sizes == [1] * len(out)


@pytest.mark.parametrize("name", FORCING)
def test_forced_text_is_fed_and_not_sampled(loaded: Loaded, name: str) -> None:
    meter, out = decoded(loaded, name)
    assert len(meter.runs) < len(out)
    assert meter.sizes[0] > 1, "the prompt's run carries the forced beginning"
    assert sampled_places(meter)[-1] < len(out)
    for limit in range(1, len(out) + 2):
        assert decoded(loaded, name, limit)[1] == out[:limit]


@pytest.mark.parametrize("name", [*OURS, *THEIRS])
def test_sampled_tokens_are_the_likeliest_allowed(loaded: Loaded, name: str) -> None:
    """One run over the whole answer, and the masks met on the way."""
    meter, out = decoded(loaded, name)
    prompt = loaded.encode(["name"])
    logits = loaded.model(mx.array([[*prompt, *out]]))[0][len(prompt) - 1 :]
    masks = (_their_masks if name in THEIRS else _our_masks)(loaded, out)
    assert masks[range(len(out)), out].all()
    if name == "stcon unpatched":
        masks = _pinned_masks(loaded, prompt, out)
    for place in sampled_places(meter):
        row = np.array(logits[place])[: masks.shape[1]]
        row = np.where(masks[place], row, -np.inf)
        is_likeliest = row[out[place]] > row.max() - 1e-4
        assert is_likeliest or name == "stcon patched"  # may be healed, or cover
    assert masks[range(len(out)), out].all()


def _our_masks(loaded: Loaded, out: list[int]) -> Any:
    """bool [tokens, vocabulary size]: what may come at each place."""
    constraint = StconDecoder(loaded.tokens).compile(SMALL)
    states = [constraint.start]
    for token in out[:-1]:
        states.append(constraint.advance(states[-1], token))
    return np.stack([constraint.allowed(state) for state in states])


def _pinned_masks(loaded: Loaded, prompt: list[int], out: list[int]) -> Any:
    """The same as the drop-in processor gives it: forced text in one split alone."""
    processor = HostProcessor(StconDecoder(loaded.tokens).compile(SMALL))
    size = loaded.tokens.vocabulary.size
    histories = [[*prompt, *out[:n]] for n in range(len(out))]
    return np.stack([np.array(processor.row(each, size)[0]) for each in histories])


def _their_masks(loaded: Loaded, out: list[int]) -> Any:
    from stcon.bench.llguidance_peer import LlguidanceEngine

    engine = LlguidanceEngine(loaded.tokens, lambda: 0)
    run = engine.matcher(engine.compile(SMALL))
    size = loaded.tokens.vocabulary.size
    rows = [unpacked(run.fill(), size)[0].copy()]
    for token in out[:-1]:
        assert run.advance(token)
        rows.append(unpacked(run.fill(), size)[0].copy())
    return np.stack(rows)


@pytest.mark.parametrize("name", THEIRS)
def test_llguidance_allows_no_more_than_stcon(loaded: Loaded, name: str) -> None:
    """It allows less where text is forced: one split of it alone."""
    _, out = decoded(loaded, name)
    ours, theirs = _our_masks(loaded, out), _their_masks(loaded, out)
    assert not (theirs & ~ours).any()
    assert (theirs == ours).all(axis=1).any()


def test_runs_nobody_samples_from_are_not_counted(loaded: Loaded) -> None:
    meter = Meter(Prompt(loaded.model, [5, 6, 7]))
    meter.run(meter.prompt.last)
    assert meter.runs == []
    logits = meter.run(mx.array([8, 9]))
    assert int(meter.sample(logits[-1:]).item()) == int(mx.argmax(logits[-1]).item())
    assert meter.sizes == [2] and len(meter.runs) == 1
    whole = loaded.model(mx.array([[5, 6, 7, 8, 9]]))[0]
    assert np.allclose(np.array(whole[-1]), np.array(logits[-1]), atol=1e-4)


def test_the_free_answer_is_greedy(loaded: Loaded) -> None:
    prompt = [5, 6, 7]
    out = follow(Free(), Meter(Prompt(loaded.model, prompt)), 6, (tiny.end_id(),))
    logits = loaded.model(mx.array([[*prompt, *out]]))[0][2:]
    assert out == mx.argmax(logits, axis=-1).tolist()[: len(out)]


def test_measured(loaded: Loaded) -> None:
    decoders = open_decoders(loaded, PEERS)
    result = measure(loaded, decoders, [CASE], 2, 60, Progress())
    [row] = result["schemas"]
    assert row["prompt_tokens"] == len(loaded.encode(request(CASE)))
    assert row["free"].keys() >= {"text", "tokens", "value", "control_us"}
    assert row["free"]["runs"] == row["free"]["tokens"] <= 2 * 60
    names = [*OURS, *THEIRS] if PEERS else [*OURS]
    assert list(row["engines"]) == list(result["overall"]) == names
    for name, have in row["engines"].items():
        assert have.keys() == {
            *("tokens", "runs", "runs_per_token", "forced", "forced_share", "fed"),
            *("run_ms", "total_ms", "control_us", "sampling_us"),
            *("is_finished", "agreement", "text"),
        }
        assert have["tokens"] == have["runs"] + have["forced"] <= 60
        assert have["run_ms"]["count"] == 2 * have["runs"] == 2 * len(have["fed"])
        assert have["runs_per_token"] + have["forced_share"] == pytest.approx(1)
        assert result["overall"][name]["runs"] == have["runs"]
    json.dumps(result)
    shown = report(result)
    assert "stcon patched" in shown and shown.count("no constraint") == 1


@pytest.mark.parametrize("reuse", [False, True])
def test_how_it_is_measured_changes_no_answer(loaded: Loaded, reuse: bool) -> None:
    decoders, counts = open_decoders(loaded, []), [0]
    compiled = decoders[0].compile

    def counted(schema: Any) -> Any:
        counts[0] += 1
        return compiled(schema)

    decoders[0].compile = counted  # type: ignore[method-assign]
    plain = measure(loaded, decoders, [CASE], 1, 60, Progress())["schemas"][0]
    counts[0] = 0
    found = measure(loaded, decoders, [CASE], 2, 60, Progress(), reuse)["schemas"][0]
    assert counts == [1 if reuse else 2]
    for name, have in found["engines"].items():
        assert have["text"] == plain["engines"][name]["text"]
        assert have["fed"] == plain["engines"][name]["fed"]
        assert have["run_ms"]["count"] == 2 * have["runs"]


def test_a_refusal_is_told(loaded: Loaded) -> None:
    one = decoder(loaded, OURS[0])

    def refuse(schema: Any) -> None:
        raise Refused("not this one")

    one.compile = refuse  # type: ignore[method-assign]
    result = measure(loaded, [one], [CASE], 1, 5, Progress())
    assert result["schemas"][0]["engines"] == {OURS[0]: {"refused": "not this one"}}
    assert result["overall"] == {OURS[0]: {"schemas": 0}}
    assert "person, stcon patched: refused: not this one" in report(result)
    ElementTree.fromstring(chart(result))
    with pytest.raises(Refused):
        decoder(loaded, OURS[1]).compile({"type": "nothing"})


LEAVES: list[tuple[Any, Any, float | None]] = [
    # The free value, the constrained one, the share.
    ({"a": 1, "b": "x"}, {"a": 1, "b": "y"}, 0.5),
    ({"a": 1}, {"a": True}, 0.0),
    ({"a": 34.0}, {"a": 34}, 1.0),
    ({"a": [1, 2], "b": []}, {"a": [1, 3], "b": []}, 2 / 3),
    ({"a": {"b": "x"}}, {"b": "x"}, 0.0),
    ({}, {"a": 1}, 0.0),
    (None, {"a": 1}, None),
    ({"a": 1}, None, None),
]


@pytest.mark.parametrize(("free", "answer", "want"), LEAVES)
def test_agreement(free: Any, answer: Any, want: float | None) -> None:
    assert agreement(free, answer) == want


FREE = [
    ('Sure:\n```json\n{"a": [1]}\n```', {"a": [1]}),
    ('{"a": 1} and {"b": 2}', {"a": 1}),
    ('{"a": 1, "b"', None),
    ("I do not know.", None),
]


@pytest.mark.parametrize(("text", "want"), FREE)
def test_the_object_in_a_free_answer(text: str, want: Any) -> None:
    assert found_in(text) == want


def test_an_answer_that_was_cut_off_is_completed(tokens: Tokens) -> None:
    constraint = StconDecoder(tokens).compile(SMALL)
    whole = completed(constraint, b'{"name":"Zo')
    assert whole["name"] == "Zo" and set(whole) == set(SMALL["properties"])
    assert completed(constraint, b'{"nome"') is None


def test_prompts_have_an_example_with_its_answer() -> None:
    cases = asked_cases()
    assert [case.is_extraction for case in cases] == [True] * 6 + [False] * 4
    for case in cases:
        example, answer, text = request(case)
        assert answer == case.texts()[1] and example != text
        assert case.texts()[0] not in text


@pytest.mark.parametrize("case", recursive_cases(), ids=lambda case: case.name)
def test_the_recursive_cases(case: Case, tokens: Tokens) -> None:
    constraint = StconDecoder(tokens).compile(case.schema)
    assert constraint.kind == "pushdown"
    for instance, text in zip(case.instances, case.texts(), strict=True):
        jsonschema.Draft202012Validator(case.schema).validate(instance)
        assert constraint.matches(text)
    assert not constraint.matches(case.texts()[0].replace('"', "'"))


@pytest.mark.parametrize("kind", ["llama", "qwen3_5"])
def test_a_prompt_is_read_once_for_all(kind: str) -> None:
    model = tiny.model(kind)
    prompt = Prompt(model, [5, 6, 7])
    outs = []
    for tail in ([8, 9], [9], [8, 9]):
        logits = Meter(prompt).run(mx.array([7, *tail]))
        whole = model(mx.array([[5, 6, 7, *tail]]))[0][2:]
        assert np.allclose(np.array(logits), np.array(whole), atol=1e-4)
        outs.append(np.array(logits))
    assert np.array_equal(outs[0], outs[2])


RESULT: dict[str, Any] = {
    "schemas": [
        {
            "name": "a<b",
            "engines": {"one & two": {"runs_per_token": 0.5}, "x": {"refused": "no"}},
        },
    ],
    "overall": {"one & two": {"runs_per_token": 1.0}, "x": {"schemas": 0}},
}


def test_the_chart_is_xml_with_a_bar_for_each_number() -> None:
    root = ElementTree.fromstring(chart(RESULT))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    bars = [part for part in root.iter() if part.find("{*}title") is not None]
    bars = [part for part in bars if part.tag.endswith("rect")]
    titles = [bar.findtext("{*}title") for bar in bars]
    assert titles == ["a<b, one & two: 0.50", "all, one & two: 1.00"]
    low, high = (float(bar.attrib["height"]) for bar in bars)
    assert high == pytest.approx(2 * low)
    width = float(root.attrib["width"])
    assert all(float(bar.attrib["x"]) < width for bar in bars)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model as mlx-lm reads it."""
    from mlx.utils import tree_flatten

    made = tmp_path_factory.mktemp("model")
    model = tiny.model("llama")
    weights = dict(tree_flatten(model.parameters()))
    mx.save_safetensors(str(made / "model.safetensors"), weights, {"format": "mlx"})
    config = {**tiny.CONFIGS["llama"], "vocab_size": 640, "eos_token_id": tiny.end_id()}
    (made / "config.json").write_text(json.dumps(config))
    tiny.tokenizer().save(str(made / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<end>"}
    (made / "tokenizer_config.json").write_text(json.dumps(settings))
    return made


def test_from_arguments_to_files(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, drawn = tmp_path / "out.json", tmp_path / "out.svg"
    options = ["--model", str(folder), "--schema", "tool_call", "--max-tokens", "30"]
    options += [part for peer in PEERS for part in ("--peer", peer)]
    status = main(
        ["bench", "decode", *options, "--json", str(out), "--chart", str(drawn)]
    )
    assert status == 0
    result = json.loads(out.read_text("utf-8"))
    assert result["bench"] == "decode" and result["max_tokens"] == 30
    assert result["versions"]["mlx-lm"] and result["model"] == folder.name
    [row] = result["schemas"]
    assert row["name"] == "tool_call"
    ElementTree.parse(drawn)
    shown = capsys.readouterr().out
    assert "runs/token" in shown and re.search(r"^all +stcon patched", shown, re.M)


WRONG: dict[str, tuple[Callable[[Path], list[str]], str]] = {
    "no model": (lambda folder: [], "examples/smollm2.py"),
    "no such folder": (lambda folder: ["--model", "nowhere"], "nowhere"),
    "a folder without one": (lambda folder: ["--model", str(folder)], "no model in"),
    "no tokens": (lambda folder: ["--max-tokens", "0"], "at least 1"),
    "no such peer": (lambda folder: ["--peer", "xgrammar"], "xgrammar"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options, want = WRONG[name]
    with pytest.raises(SystemExit) as left:
        main(["bench", "decode", *options(tmp_path)])
    assert left.value.code == 2
    assert want in re.sub(r"\s+", " ", capsys.readouterr().err)
