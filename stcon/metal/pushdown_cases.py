"""Cases of the pushdown kernels: JSON that nests, after random beginnings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import mlx.core as mx
import numpy as np

from stcon.machines.device_tables import DeviceState, DeviceTables, device_tables
from stcon.machines.pushdown import compile_pushdown
from stcon.metal.kernel import Case
from stcon.metal.pushdown_twin import checked_advance, checked_mask, cost_of
from stcon.metal.samples import BATCHES, FLOATS, int32, some_logits
from stcon.metal.stacks import DEAD_TOP, DEPTH, ENDED_TOP, Stacks, StackTables
from stcon.metal.tables import NO_GRAMMAR, NO_LIMIT
from stcon.syntax import rules as r
from stcon.syntax.json_schema import compile_schema
from stcon.tokens.vocabulary import Vocabulary

_ITEM = {"type": "string", "minLength": 1, "maxLength": 2}
_TREE = {
    "type": "object",
    "properties": {
        "v": {"enum": [1, 22]},
        "c": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["v"],
    "additionalProperties": False,
}
_FREE: tuple[Any, ...] = (
    _TREE,
    True,
    {"type": "array", "items": {"$ref": "#"}},
    {"type": "object", "properties": {"a": {"type": "integer"}}},
)
_COUNTED: tuple[Any, ...] = (
    {"type": "array", "minItems": 2, "maxItems": 3, "items": _ITEM},
    {"type": "object", "properties": {"a": _ITEM}},
    {"type": "string", "minLength": 2, "maxLength": 9},
)
_WORDS = (
    *(b'{"', b'":', b'"v"', b'":1', b'"}', b"}]", b'},{"v":2', b"[[", b"]]]", b"22"),
    *(b"aaaa", b'aaa"', b'aa","', b'["ac","v', b'"]', b'"a":"', b"caca", b"[[[[[[]"),
    *(
        b'["a"]',
        b'["a","c"]',
        b'["a","a","a"]',
        b'["a","a","a","a"]',
        b'["a",""',
        b'[""',
    ),
    *(b'"a"', b'"aa"', b'"aaaaaaaaa"', b'"aaaaaaaaaa"', b'{"a":"', b'{"a":""', b"vaa2"),
    *(b'{"a":"aac', b'{"a":"ac"}', b"[[[]]]", b"[]]", b"vaaa2", b"vaaaaa2", b"22a"),
    *(b"caa2", b"caaaa2", b"caaaaa", b"aa2", b"aa", b"aaa"),
)
_LETTERS = b'{}[]",:vac12\\u0'
_LETTER = r.concat(r.TICK, r.union(r.literal("a"), r.literal("c")))
_TICKED = r.star(_LETTER)
_PAIRS = r.star(r.concat(_LETTER, _LETTER))
_RULES = (
    r.counted(_TICKED, 2, 5),
    r.concat(r.literal("v"), r.counted(_TICKED, 3, None, r.literal("2"))),
    r.concat(r.literal("c"), r.counted(_PAIRS, 0, 5, r.literal("2"))),
)


@cache
def words() -> Vocabulary:
    """Two end tokens, a special one, every byte, and pieces of JSON."""
    pairs = (bytes([a, b]) for a in _LETTERS for b in _LETTERS)
    single = (bytes([byte]) for byte in range(256))
    texts = [None, *single, None, *_WORDS, *pairs, None]
    return Vocabulary.from_bytes(texts, [0, len(texts) - 1])


@cache
def machine(number: int, depth: int = DEPTH) -> DeviceTables:
    """One of the machines of the cases, counted ones last."""
    schemas = (*_FREE, *_COUNTED)
    if number < len(schemas):
        rules = compile_schema(schemas[number]).rules
    else:
        rules = r.Rules({"s": _RULES[number - len(schemas)]}, "s")
    return device_tables(compile_pushdown(rules, depth=depth, one_stack=True))


@cache
def some_stack_tables(with_counts: bool) -> StackTables:
    """The machines without counts, with limits; or all, one of 5 entries among them."""
    if not with_counts:
        free = [machine(number) for number in range(len(_FREE))]
        return StackTables(free, words(), limits=True)
    count = len(_FREE) + len(_COUNTED) + len(_RULES)
    every = [machine(number) for number in range(count)]
    return StackTables([*every, machine(1, 5), machine(2, 3)], words())


def some_stacks(tables: StackTables, rows: int, seed: int) -> tuple[mx.array, Stacks]:
    """Grammars and stacks after random beginnings, dead and ended ones among them."""
    rng = np.random.default_rng(seed)
    grammar = rng.integers(0, tables.grammars, rows)
    entries = rng.integers(0, 3, (rows, DEPTH, 3)).astype(np.int32)
    top, cost = np.zeros(rows, np.int32), np.zeros(rows, np.int32)
    for row, number in enumerate(grammar):
        state = _somewhere(tables.machines[number], rng)
        entries[row, : state.top + 1] = state.entries[: state.top + 1]
        top[row], cost[row] = state.top, cost_of(state, tables.costs[number])
    for place, chance in ((DEAD_TOP, 0.08), (ENDED_TOP, 0.08)):
        chosen = rng.random(rows) < chance
        top[chosen], cost[chosen] = place, 0
    grammar = np.where(rng.random(rows) < 0.15, NO_GRAMMAR, grammar)
    return int32(grammar), Stacks(mx.array(top), mx.array(entries), mx.array(cost))


def _somewhere(tables: DeviceTables, rng: np.random.Generator) -> DeviceState:
    """A stack that some bytes lead to: few, many, or many of them brackets."""
    state = DeviceState(tables)
    letters = [bytes([byte]) for byte in _LETTERS + b"[" * int(rng.integers(0, 60))]
    for _ in range(int(rng.choice((0, 0, 1, 2, 5, 40, 90)))):
        choices = [after for x in letters if (after := state.read(x)).top >= 0]
        if not choices:
            break
        state = choices[int(rng.integers(len(choices)))]
    return state


def mask_cases() -> Iterator[Case]:
    """Every dtype and batch; limits that are tight where nothing is counted."""
    for seed, rows in enumerate((*BATCHES, 33, 33, 33)):
        for at, kind in enumerate(FLOATS):
            has_limits = (min(seed, 5) + at) % 2 == 0
            tables = some_stack_tables(not has_limits)
            grammar, stacks = some_stacks(tables, rows, 10 * seed + at)
            left = some_limits(stacks, seed) if has_limits else None
            width = tables.tokens + 3 * min(seed, 5) - 4
            logits = some_logits(rows, width, kind, seed, is_sliced=at == 1)
            name = f"{rows} rows, {str(kind)[9:]}, {width} logits"
            name += ", limits" if has_limits else ", counts"
            yield Case(name, checked_mask(tables, grammar, stacks, left, logits))


def some_limits(stacks: Stacks, seed: int) -> mx.array:
    """int32 [rows]: a little less to a little more than is needed, or no limit."""
    rng = np.random.default_rng(seed)
    more = rng.integers(-1, 4, stacks.cost.shape)
    left = np.maximum(np.array(stacks.cost) + more, 0)
    return int32(np.where(rng.random(left.shape) < 0.2, NO_LIMIT, left))


def advance_cases() -> Iterator[Case]:
    """Tokens of every kind, allowed ones more often, some beyond the vocabulary."""
    for seed, rows in enumerate((*BATCHES, 600)):
        for kind in (mx.uint32, mx.int32):
            has_limits = (seed + (kind == mx.int32)) % 2 == 0
            tables = some_stack_tables(not has_limits)
            grammar, stacks = some_stacks(tables, rows, 10 * seed)
            left = some_limits(stacks, seed) if has_limits else None
            rng = np.random.default_rng(seed)
            ids = rng.integers(0, tables.tokens + 2, rows)
            letters = 1 + np.frombuffer(_LETTERS, np.uint8)[ids % len(_LETTERS)]
            ends = (0, tables.tokens - 1, tables.tokens) * 3
            closing = [1 + letter for letter in b']}",'] * 5
            odd = (*ends, *closing, *range(258, 258 + len(_WORDS)))
            chosen = np.where(rng.random(rows) < 0.4, letters, rng.choice(odd, rows))
            chosen = np.where(rng.random(rows) < 0.2, ids, chosen)
            token = mx.array(chosen, kind)
            name = f"{rows} rows, {str(kind)[9:]}"
            name += ", limits" if has_limits else ", counts"
            yield Case(name, checked_advance(tables, grammar, stacks, left, token))
