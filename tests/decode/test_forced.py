"""Forced text against the tokenizer's own split of the finished output.

A model that writes as its tokenizer would must never be disturbed: at each place
the planned tokens are those of the whole text, and the token that the split has
next is allowed.
"""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stcon import constrain
from stcon.constraints.constraint import Constraint
from stcon.decode.forced import Planner
from stcon.tokens.vocabulary import Vocabulary
from tests import assets, tiny

KEYS = st.text(
    st.sampled_from('ab1 29_-.:"/éñ中😀\u00a0\u0301{}[],'), min_size=1, max_size=7
)
VALUES: list[Any] = [
    {"type": "string", "maxLength": 4},
    {"type": "integer", "minimum": 0, "maximum": 120},
    {"enum": ["celsius", "été", "10 000", " x", "..."]},
    {"type": "boolean"},
    {"type": "array", "items": {"enum": [1, 22, "a b"]}, "maxItems": 2},
]


@cache
def vocabulary(name: str) -> Vocabulary:
    if name == "tiny":
        return Vocabulary.of(tiny.tokenizer(), [tiny.end_id()])
    real = assets.tokenizer(name)
    return Vocabulary.of(real.tokenizer, real.eos_ids)


def some_text(constraint: Constraint, rng: random.Random) -> str:
    """A random valid text."""
    state, out = constraint.start, b""
    for _ in range(200):
        if constraint.is_complete(state) and rng.random() < 0.5:
            break
        live = constraint.live(state)
        if not live:
            break
        printable = [b for b in live if 0x20 <= b < 0x7F] or list(live)
        byte = bytes([rng.choice(printable)])
        out += byte
        state = constraint.read(state, byte)
    return (out + constraint.shortest(state)).decode()


def check(constraint: Constraint, text: str) -> tuple[int, int]:
    """Walks the split of ``text``; how many tokens were forced, of how many."""
    split = constraint.vocabulary.split
    assert split is not None
    want = split.encode(text)
    if constraint.vocabulary.decode(want) != text.encode():
        return 0, 0  # the tokenizer changes the text: it has no split of it
    planner = Planner(constraint, split)
    lengths = constraint.vocabulary.offsets[1:] - constraint.vocabulary.offsets[:-1]
    plan, at, forced = planner.start(constraint.start), 0, 0
    while True:
        have = list(plan.tokens)
        if plan.heals:
            at -= 1
        assert have == want[at : at + len(have)], (text, have, want[at:])
        forced += len(have) - plan.heals
        at += len(have)
        state = plan.state
        if at == len(want):
            assert constraint.is_complete(state)
            return forced, len(want)
        token = want[at]
        assert constraint.allowed(state)[token], (text, text[:10], token)
        assert lengths[token] >= plan.cover, (text, token, plan)
        plan = planner.after(token, constraint.advance(state, token))
        at += 1


@pytest.mark.parametrize("name", ["tiny", *assets.PARAMS])
def test_the_tokenizers_own_split(name: str) -> None:
    @settings(max_examples=25, deadline=None)
    @given(
        st.lists(st.tuples(KEYS, st.sampled_from(VALUES)), min_size=1, max_size=4),
        st.integers(0, 1000),
        st.booleans(),
    )
    def run(fields: list[tuple[str, Any]], seed: int, is_open: bool) -> None:
        properties = dict(fields)
        schema = {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": is_open,
        }
        constraint = constrain(vocabulary(name), schema)
        rng = random.Random(seed)
        for _ in range(3):
            check(constraint, some_text(constraint, rng))

    run()


@pytest.mark.parametrize("name", ["tiny", *assets.PARAMS])
@pytest.mark.parametrize(
    "pattern", [r"\d{4}-\d\d-\d\d", r"(ab|a b) {2}c", r"[A-Z]{2}\n\n!"]
)
def test_patterns(name: str, pattern: str) -> None:
    constraint = constrain(vocabulary(name), regex=pattern)
    rng = random.Random(1)
    for _ in range(8):
        check(constraint, some_text(constraint, rng))


@pytest.mark.parametrize("name", [n for n in assets.PARAMS if n != "gemma-3"])
def test_keys_are_forced(name: str) -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "occupation": {"type": "string"}},
        "required": ["name", "occupation"],
        "additionalProperties": False,
    }
    constraint = constrain(vocabulary(name), schema)
    text = json.dumps({"name": "Ann", "occupation": "cook"}, separators=(",", ":"))
    forced, whole = check(constraint, text)
    assert forced >= whole / 3, (forced, whole)


def test_added_tokens_are_forced_whole() -> None:
    """A tokenizer finds them before it cuts the text around them."""
    constraint = constrain(
        vocabulary("qwen3.5"), regex=r"<tool_call>\n[a-z]{1,3}\n</tool_call>"
    )
    split = constraint.vocabulary.split
    assert split is not None
    plan = Planner(constraint, split).start(constraint.start)
    real = assets.tokenizer("qwen3.5").tokenizer
    assert plan.tokens[0] == real.token_to_id("<tool_call>")
    assert check(constraint, "<tool_call>\nab\n</tool_call>")[0] >= 2
