"""XGrammar on one token of each class: the masks are those without classes."""

from __future__ import annotations

import random
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from numpy.typing import NDArray

from stcon import EngineError, GrammarError, HistoryError, Vocabulary, grammars
from stcon.bench.grammars import texts_of
from stcon.engines import CompressedXgrammar, compressed_xgrammar
from tests import assets, tiny
from tests.engines import fake_xgrammar
from tests.worlds import vocabulary

NAMES = ["json", "arithmetic", "smiles", "xml"]
NESTED = 'root ::= "(" root ")" | [ab]+ | "if " root'
TINY = vocabulary(b"((", b"))", b"ab", b"ba", b"b)", b"(a", b"if (", b"if")
END, PROMPT = 0, [5, 6, 7]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STCON_CACHE_DIR", str(tmp_path))


@pytest.fixture(params=["fake", "xgrammar"])
def module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """XGrammar, and what stands in for it where it is not installed."""
    if request.param == "fake":
        monkeypatch.setitem(sys.modules, "xgrammar", fake_xgrammar)
        return fake_xgrammar
    return installed()


def installed() -> Any:
    if find_spec("xgrammar") is None:
        pytest.skip("xgrammar is not installed")
    return pytest.importorskip("xgrammar")


class Whole:
    """An engine on the whole vocabulary, one output."""

    def __init__(self, module: Any, words: Vocabulary, grammar: str) -> None:
        texts = [words.token_bytes(token) for token in range(words.size)]
        info = module.TokenizerInfo(
            texts, vocab_size=words.size, stop_token_ids=list(words.eos_ids)
        )
        compiled = module.GrammarCompiler(info).compile_grammar(grammar)
        self._matcher = module.GrammarMatcher(compiled)
        self._size = words.size

    def advance(self, token: int) -> None:
        assert self._matcher.accept_token(token)

    def mask(self) -> NDArray[np.bool_]:
        packed = np.full((1, (self._size + 31) // 32), -1, np.int32)
        self._matcher.fill_next_token_bitmask(packed)
        bits = np.unpackbits(packed.view(np.uint8), bitorder="little")
        return bits[: self._size].astype(np.bool_)


def row(engine: CompressedXgrammar, history: list[int]) -> NDArray[np.bool_]:
    return np.array(engine.row(history, engine.vocabulary.size))[0]


def check(module: Any, words: Vocabulary, grammar: str, samples: list[Any]) -> None:
    """Equal masks, end tokens too, before each token of ``samples`` and after all."""
    engine = compressed_xgrammar(words, grammar)
    for sample in samples:
        whole, history = Whole(module, words, grammar), [*PROMPT]
        engine = engine.fresh()
        for token in [*sample, None]:
            assert np.array_equal(row(engine, history), whole.mask()), history
            if token is not None:
                whole.advance(token)
                history.append(token)


@pytest.mark.parametrize("name", NAMES)
def test_masks_are_those_of_the_whole_vocabulary(module: Any, name: str) -> None:
    backend = tiny.tokenizer()
    words = Vocabulary.of(backend, [tiny.end_id()])
    samples = [
        backend.encode(text, add_special_tokens=False).ids[:150]
        for text in texts_of(name)[:3]
    ]
    check(module, words, getattr(grammars, name.upper()), samples)


@pytest.mark.parametrize("name", NAMES)
def test_masks_on_a_real_vocabulary(name: str) -> None:
    """Reserved tokens and two ends included; XGrammar alone takes 20 ms a step."""
    module = installed()
    real = assets.tokenizer("llama-3.1")
    words = Vocabulary.of(real.tokenizer, real.eos_ids)
    start = random.Random(name).randrange(2)
    text = texts_of(name)[start]
    sample = real.tokenizer.encode(text, add_special_tokens=False).ids[:40]
    check(module, words, getattr(grammars, name.upper()), [sample])


DIALECT = [
    r'root ::= [^a-c\n] root | "é"',
    r'root ::= "\u00e9" root | [à-ü]+ | "\x41\t"',
    r'root ::= [ab]{2,3} "c"{2} root? "d"{1,}',
    r'root ::= ("" | "a") root "b" | "" # empty',
    r'root ::= root "a" | root root | "(" root ")" | "b"',
    r'root ::= [\]\-\^\\] root | ["] | [^"\\] "b" | "\""',
    r'root ::= x* "a"' + "\n" + r'x ::= "a" | "" | x "b"',
]
LETTERS = vocabulary(
    *(bytes([byte]) for byte in range(128, 256)),
    *("é".encode(), "éé".encode(), "aé".encode(), "ü\n".encode()),
    *(b"ab", b"abc", b"cc", b"cd", b"aa", b"bb", b"a\n", b"a\nb", b"A\t", b"b)"),
)


@pytest.mark.parametrize("text", DIALECT)
def test_both_engines_read_a_grammar_alike(module: Any, text: str) -> None:
    """If not, classes would be too coarse: random outputs, masks at each step."""
    engine = compressed_xgrammar(LETTERS, text)
    for seed in range(6):
        rng, whole, history = random.Random(seed), Whole(module, LETTERS, text), [5]
        engine = engine.fresh()
        for _ in range(15):
            mask = whole.mask()
            assert np.array_equal(row(engine, history), mask), history
            token = rng.choice(np.flatnonzero(mask).tolist())
            if token == END:
                break
            whole.advance(token)
            history.append(token)


def walked(words: Vocabulary, module: Any, seed: int, most: int) -> list[int]:
    """Random tokens that the engine lets through, to the end or ``most``."""
    rng, found = random.Random(seed), list[int]()
    whole = Whole(module, words, NESTED)
    while len(found) < most:
        token = rng.choice(np.flatnonzero(whole.mask()).tolist())
        if token == END:
            break
        whole.advance(token)
        found.append(token)
    return found


def test_masks_are_a_function_of_the_history(module: Any) -> None:
    """Rows take turns and histories jump back: masks as in one straight run."""
    engine = compressed_xgrammar(TINY, NESTED)
    rows = [[9 + seed, *walked(TINY, module, seed, 20)] for seed in range(12)]
    rng = random.Random(1)
    reached = [1] * len(rows)
    for _ in range(600):
        at = rng.randrange(len(rows))
        length = reached[at]
        whole = Whole(module, TINY, NESTED)
        for token in rows[at][1:length]:
            whole.advance(token)
        assert np.array_equal(row(engine, rows[at][:length]), whole.mask())
        if rng.random() < 0.2:
            reached[at] = rng.randint(1, length)
        else:
            reached[at] = min(length + 1, len(rows[at]))


def test_one_run_needs_one_matcher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xgrammar", fake_xgrammar)
    engine = compressed_xgrammar(TINY, NESTED)
    before = fake_xgrammar.GrammarMatcher.made
    tokens = walked(TINY, fake_xgrammar, 3, 30)
    alone = fake_xgrammar.GrammarMatcher.made - before
    for length in range(len(tokens) + 1):
        row(engine, [9, *tokens[:length]])
    assert fake_xgrammar.GrammarMatcher.made - before == 2 * alone == 2


def test_only_the_end_follows_the_end(module: Any) -> None:
    engine = compressed_xgrammar(TINY, NESTED)
    history = [9, TINY.size - 6]  # "ab"
    row(engine, [9])
    assert row(engine, history)[END]
    for _ in range(3):
        history.append(END)
        assert np.flatnonzero(row(engine, history)).tolist() == [END]


def test_logits(module: Any) -> None:
    engine = compressed_xgrammar(TINY, NESTED)
    wide = mx.zeros((1, TINY.size + 6), mx.float16)
    out = engine([9], wide)
    assert out.dtype == mx.float16 and out.shape == wide.shape
    is_open = np.array(out)[0] == 0
    assert np.array_equal(is_open[: TINY.size], row(engine, [9]))
    assert not is_open[TINY.size :].any()
    assert np.array_equal(np.array(engine([9], wide[0])), np.array(out)[0])


def test_a_wrong_history(module: Any) -> None:
    engine = compressed_xgrammar(TINY, NESTED)
    open_bracket, close_bracket = 2 + ord("("), 2 + ord(")")
    row(engine, [9])
    row(engine, [9, open_bracket])
    with pytest.raises(HistoryError, match=r"'\)'.* a right continuation would be 'a"):
        row(engine, [9, open_bracket, close_bracket])
    with pytest.raises(HistoryError, match="not text"):
        row(engine, [9, open_bracket, 1])  # a special token


def sums() -> CompressedXgrammar:
    return compressed_xgrammar(
        tiny.tokenizer(), grammars.ARITHMETIC, eos_token_ids=[tiny.end_id()]
    )


def generated(engine: CompressedXgrammar, kind: str, prompt: list[int]) -> list[int]:
    from mlx_lm.generate import generate_step

    steps = generate_step(
        mx.array(prompt),
        tiny.model(kind),
        max_tokens=24,
        logits_processors=[engine],
    )
    return [int(token) for token, _ in steps]


@pytest.mark.parametrize("kind", ["llama", "qwen3_5"])
def test_in_generate(module: Any, kind: str) -> None:
    engine = sums()
    tokens = generated(engine, kind, [300, 301])
    whole = Whole(module, engine.vocabulary, grammars.ARITHMETIC)
    for token in tokens:
        assert whole.mask()[token]
        if token == tiny.end_id():
            break
        whole.advance(token)
    assert tokens


def test_in_a_batch(module: Any) -> None:
    """One object for all rows, which are what each is alone."""
    from mlx_lm.generate import BatchGenerator

    engine, prompts = sums(), [[300, 301], [302, 303, 304], [305]]
    batch = BatchGenerator(tiny.model("llama"))
    uids = batch.insert(prompts, [24] * 3, logits_processors=[[engine]] * 3)
    rows: dict[int, list[int]] = {uid: [] for uid in uids}
    while found := batch.next_generated():
        for response in found:
            rows[response.uid].append(response.token)
    batch.close()
    for uid, prompt in zip(uids, prompts, strict=True):
        assert rows[uid] == generated(sums(), "llama", prompt)


def test_with_a_draft_model(module: Any) -> None:
    from mlx_lm.generate import speculative_generate_step

    steps = speculative_generate_step(
        mx.array([300, 301]),
        tiny.model("llama"),
        tiny.model("llama", seed=2),
        num_draft_tokens=3,
        max_tokens=24,
        logits_processors=[sums()],
    )
    tokens = [int(token) for token, *_ in steps]
    assert tokens == generated(sums(), "llama", [300, 301])


def test_report(module: Any) -> None:
    engine = compressed_xgrammar(TINY, NESTED)
    facts = engine.report()
    assert facts["kind"] == "xgrammar" and facts["tokens"] == TINY.size
    assert 5 < facts["classes"] < 25


def test_xgrammar_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xgrammar", None)
    with pytest.raises(EngineError, match="pip install xgrammar"):
        compressed_xgrammar(TINY, NESTED)


def test_xgrammar_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xgrammar", fake_xgrammar)
    with pytest.raises(EngineError, match="XGrammar refuses the grammar: too easy"):
        compressed_xgrammar(TINY, 'root ::= "a"')


def test_what_only_stcon_reads() -> None:
    installed()
    with pytest.raises(EngineError, match=r"XGrammar refuses .*line 1"):
        compressed_xgrammar(TINY, 'root ::= "a" . root | "b"')


def test_stcon_refuses(module: Any) -> None:
    with pytest.raises(GrammarError, match="no text"):
        compressed_xgrammar(TINY, 'root ::= "a" root')
    with pytest.raises(GrammarError, match="line 1"):
        compressed_xgrammar(TINY, 'root ::= "a')
    with pytest.raises(TypeError, match="the text of a grammar"):
        compressed_xgrammar(TINY, 5)  # type: ignore[arg-type]
