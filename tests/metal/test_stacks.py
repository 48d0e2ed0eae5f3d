"""Formats with a stack on the device: against the host's machine, and their limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from stcon import constrain
from stcon.bench.cases import cases
from stcon.bench.recursive_cases import recursive_cases
from stcon.constraints.constraint import Constraint
from stcon.constraints.pushdown import PushdownConstraint
from stcon.machines.device_tables import DeviceState, DeviceTables, device_tables
from stcon.machines.pushdown import compile_pushdown
from stcon.metal.kernel import Kernel
from stcon.metal.pushdown import ADVANCE, MASK, advance_stacks, mask_stacks
from stcon.metal.pushdown_cases import machine, some_stack_tables, words
from stcon.metal.pushdown_twin import checked_advance, checked_mask
from stcon.metal.samples import int32
from stcon.metal.stacks import DEAD_TOP, ENDED_TOP, Stacks, StackTables, fitted
from stcon.metal.tables import NO_GRAMMAR, NO_LIMIT
from stcon.syntax.json_schema import compile_schema
from stcon.tokens.vocabulary import Vocabulary
from tests import assets
from tests.mslshim.runner import CpuKernel, need_text

TREE = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "size": {"type": "integer", "minimum": 0},
        "parts": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["name", "parts"],
    "additionalProperties": False,
}
SCHEMAS: dict[str, Any] = {
    "tree": TREE,
    "anything": True,
    "open object": {"type": "object", "properties": {"id": {"type": "integer"}}},
    "counted": {
        "type": "array",
        "maxItems": 4,
        "items": {"type": "string", "minLength": 2, "maxLength": 20},
    },
    "nested lists": {"type": "array", "items": {"$ref": "#"}},
}
TEXTS = {
    "tree": '{"name":"engine","size":3,"parts":[{"name":"piston","parts":[]}]}',
    "anything": '{"a":[1,-2.5e3,{"b":null}],"c d":"x\\n\\u00e9"}',
    "open object": '{"id":17,"other":{"deep":[[true]]}}',
    "counted": '["two","three words here"]',
    "nested lists": "[[[],[[]]],[]]",
}


@pytest.fixture(scope="module")
def real() -> Vocabulary:
    """The vocabulary of Qwen3.5, 248,070 tokens."""
    found = assets.tokenizer("qwen3.5")
    return Vocabulary.of(found.tokenizer, found.eos_ids)


def on_cpu(kernel: Kernel[Any], arguments: Any) -> list[mx.array]:
    return kernel.on(CpuKernel(kernel.for_metal(), schedules=1), arguments)


def test_every_token_as_on_the_host(real: Vocabulary) -> None:
    """A batch of five grammars along texts of theirs: the masks of every step over the
    whole vocabulary are those of the host's machine, which may keep several stacks."""
    need_text()
    machines = [
        device_tables(compile_pushdown(compile_schema(x).rules, one_stack=True))
        for x in SCHEMAS.values()
    ]
    hosts = [constrain(real, schema) for schema in SCHEMAS.values()]
    follow(machines, hosts, list(TEXTS.values()), real)


def test_large_formats_as_on_the_host(real: Vocabulary) -> None:
    """The machines of the constraints themselves: forms, typed tools, recursion; at
    every 17th step, and once at every one (docs/kernels.md)."""
    need_text()
    chosen = [
        case
        for case in (*cases(), *recursive_cases())
        if constrain(real, case.schema).kind == "pushdown"
    ]
    hosts = [constrain(real, case.schema) for case in chosen]
    machines = []
    for host in hosts:
        assert isinstance(host, PushdownConstraint)
        machines.append(fitted(host.machine))
    assert len(machines) > 6 and {x.depth for x in machines} == {64}
    texts = [case.texts()[0] for case in chosen]
    follow(machines, hosts, texts, real, every=17)


def follow(
    machines: Sequence[DeviceTables],
    hosts: Sequence[Constraint],
    texts: Sequence[str],
    real: Vocabulary,
    every: int = 1,
) -> None:
    """Compares the masks of kernels and host at every so many steps along ``texts``,
    and their ends."""
    count = len(machines)
    tables = StackTables(machines, real)
    encode = assets.tokenizer("qwen3.5").tokenizer.encode
    tokens = [[*encode(text).ids, *real.eos_ids[:1] * 2] for text in texts]
    grammar, stacks = int32(range(count)), tables.starts
    states = [host.start for host in hosts]
    logits = mx.zeros((count, real.size), mx.float16)
    for step in range(max(map(len, tokens))):
        if step % every == 0:
            found = checked_mask(tables, grammar, stacks, None, logits)
            have = np.array(on_cpu(MASK, found)[0]) == 0
            want = np.stack([x.allowed(y) for x, y in zip(hosts, states, strict=True)])
            assert np.array_equal(have, want), step
        chosen = [ids[min(step, len(ids) - 1)] for ids in tokens]
        states = [
            host.advance(state, token)
            for host, state, token in zip(hosts, states, chosen, strict=True)
        ]
        step_of = checked_advance(tables, grammar, stacks, None, int32(chosen))
        stacks = Stacks(*ADVANCE.twin(step_of)[:3])
        assert (np.array(stacks.top) != DEAD_TOP).all()
    assert (np.array(stacks.top) == ENDED_TOP).all()


def test_a_limit_is_kept_by_any_sampler() -> None:
    """Every grammar, from its least on: there is always a token, and every output is
    valid within the limit."""
    rng = np.random.default_rng(0)
    tables = some_stack_tables(False)
    rows = 3 * tables.grammars
    grammar = np.arange(rows) % tables.grammars
    stacks = Stacks(*(array[int32(grammar)] for array in tables.starts))
    limits = np.array(stacks.cost) + np.arange(rows) // tables.grammars * 4
    outputs: list[list[int]] = [[] for _ in range(rows)]
    left, logits = int32(limits), mx.zeros((rows, tables.tokens))
    for _ in range(int(limits.max())):
        masked = mask_stacks(tables, int32(grammar), stacks, left, logits)
        allowed = np.array(masked) == 0
        chosen = [int(rng.choice(np.flatnonzero(row))) for row in allowed]
        for row, token in enumerate(chosen):
            if len(outputs[row]) < limits[row]:
                outputs[row].append(token)
        stacks, left = advance_stacks(
            tables, int32(grammar), stacks, left, int32(chosen)
        )
    for row, output in enumerate(outputs):
        text = words().decode(output)
        end = tables.machines[grammar[row]]
        assert is_valid(end, text), (row, text)


def is_valid(tables: Any, text: bytes) -> bool:
    return DeviceState(tables).read(text).is_complete


def test_room_to_spare_changes_nothing() -> None:
    tables = some_stack_tables(False)
    grammar, logits = int32(range(tables.grammars)), mx.zeros((4, tables.tokens))
    masks = [
        np.array(mask_stacks(tables, grammar, tables.starts, left, logits))
        for left in (None, int32([NO_LIMIT] * 4), int32([500] * 4))
    ]
    assert np.array_equal(masks[0], masks[1]) and np.array_equal(masks[0], masks[2])


def test_rows_without_grammar_pass() -> None:
    tables = some_stack_tables(False)
    logits = mx.random.normal((4, tables.tokens))
    free = int32([NO_GRAMMAR] * 4)
    assert mx.array_equal(
        mask_stacks(tables, free, tables.starts, None, logits), logits
    )
    stacks, _ = advance_stacks(tables, free, tables.starts, None, int32([5, 6, 7, 8]))
    for have, want in zip(stacks, tables.starts, strict=True):
        assert mx.array_equal(have, want)


def test_what_is_refused() -> None:
    counted = machine(5)
    with pytest.raises(ValueError, match="one machine at least"):
        StackTables([], words())
    with pytest.raises(ValueError, match="on the host for formats with maxLength"):
        StackTables([counted], words(), limits=True)
    with pytest.raises(ValueError, match="64 entries here, not 65"):
        StackTables([machine(1, 65)], words())
    nests = compile_pushdown(compile_schema(True).rules, depth=65, one_stack=True)
    with pytest.raises(ValueError, match="more than 64 entries"):
        fitted(nests)
    few = Vocabulary.from_bytes([None, b"[", b"]"], [0])
    with pytest.raises(ValueError, match="is no token"):
        StackTables([machine(2)], few, limits=True)
    tables = StackTables([counted], words())
    logits, one = mx.zeros((1, 9)), int32([0])
    with pytest.raises(ValueError, match="without limits=True"):
        mask_stacks(tables, one, tables.starts, int32([5]), logits)
    with pytest.raises(ValueError, match=r"stacks.top is int32 \[2\]"):
        two = mx.zeros((2, 9))
        mask_stacks(tables, int32([0, 0]), tables.starts, None, two)


def test_a_grammar_takes_little() -> None:
    tables = StackTables([machine(number) for number in range(4)], words())
    assert tables.nbytes < 200_000
