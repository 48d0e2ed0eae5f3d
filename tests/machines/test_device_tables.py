"""A stack in arrays, against the pushdown's own configurations, exhaustively."""

from __future__ import annotations

import pytest

from stcon.errors import LimitError
from stcon.machines.device_tables import (
    DeviceState,
    DeviceTables,
    NotDeterministic,
    device_tables,
)
from stcon.machines.limits import Limits, Meter
from stcon.machines.pushdown import Config, compile_pushdown
from stcon.syntax import rules as r
from stcon.syntax.json_schema import compile_schema
from tests.machines.test_counted import COUNTED
from tests.machines.test_pushdown import GRAMMARS

TREE = {
    "type": "object",
    "properties": {
        "v": {"enum": [1, 2]},
        "c": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["v"],
    "additionalProperties": False,
}
SCHEMAS: dict[str, object] = {
    "tree": TREE,
    "anything": True,
    "open": {"type": "object", "properties": {"a": {"maxLength": 2, "type": "string"}}},
    "counts": {
        "type": "array",
        "minItems": 1,
        "maxItems": 2,
        "items": {"type": "string", "minLength": 1, "maxLength": 2},
    },
}
WORDS = [
    b'{"',
    b'":',
    b'"v"',
    b'":1',
    b'"}',
    b"}]",
    b'},{"v":2',
    b'"c":[',
    b"[[",
    b"]]",
]
TOKENS = [*(bytes([b]) for b in b'{}[]",:avc12\\'), *WORDS]


def walks(rules: r.Rules, tokens: list[bytes], depth: int, most: int) -> int:
    """Compares every configuration that tokens lead to, stacks of ``depth``
    entries; how many there were."""
    machine = compile_pushdown(rules, depth=depth, one_stack=True)
    tables = device_tables(machine)
    todo: list[tuple[Config, DeviceState]] = [(machine.start, DeviceState(tables))]
    seen = {machine.start}
    while todo and len(seen) < most:
        config, state = todo.pop(0)
        assert state.is_complete is machine.is_complete(config)
        for token in tokens:
            try:
                want = machine.run(config, token)
            except LimitError:
                want = frozenset()
            have = state.read(token)
            assert (have.top >= 0) is bool(want), (config, token)
            if want and want not in seen:
                seen.add(want)
                todo.append((want, have))
    return len(seen)


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_configuration_of_a_schema(name: str) -> None:
    rules = compile_schema(SCHEMAS[name]).rules
    assert walks(rules, TOKENS, depth=4, most=3_000) > 10


DETERMINISTIC = {
    **{k: GRAMMARS[k] for k in ("nested", "list", "right", "two", "hopeless branch")},
    **{k: COUNTED[k] for k in ("string", "no end", "exactly", "list", "one kind")},
}


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_every_configuration_of_rules(name: str) -> None:
    rules = r.Rules(DETERMINISTIC[name], "s")
    tokens = [b"a", b"b", b"c", b"ab", b"ca", b"bb", b"aab", b"acb"]
    assert walks(rules, tokens, depth=4, most=2_000) > 1


@pytest.mark.parametrize("name", ["palindromes", "shared start"])
def test_what_may_be_read_in_two_ways_is_refused(name: str) -> None:
    machine = compile_pushdown(r.Rules(GRAMMARS[name], "s"))
    with pytest.raises(NotDeterministic, match="byte"):
        device_tables(machine)


def test_one_stack_and_several_agree() -> None:
    for schema in SCHEMAS.values():
        rules = compile_schema(schema).rules
        one, more = (
            compile_pushdown(rules, depth=250, one_stack=x) for x in (True, False)
        )
        todo = [(one.start, more.start)]
        seen = set(todo)
        while todo and len(seen) < 1_000:
            left, right = todo.pop(0)
            assert one.live(left) == more.live(right)
            assert one.is_complete(left) is more.is_complete(right)
            assert len(left) == 1
            for token in TOKENS:
                pair = one.run(left, token), more.run(right, token)
                assert bool(pair[0]) is bool(pair[1])
                if pair[0] and pair not in seen:
                    seen.add(pair)
                    todo.append(pair)


HEIGHTS = [
    (TREE, None),
    (True, None),
    ({"type": "string", "minLength": 1, "maxLength": 3}, 1),
    (SCHEMAS["counts"], 3),
]


@pytest.mark.parametrize(("schema", "want"), HEIGHTS)
def test_height(schema: object, want: int | None) -> None:
    rules = compile_schema(schema).rules
    tables = device_tables(compile_pushdown(rules, depth=250, one_stack=True))
    assert tables.height(250) == want
    if want:
        assert tables.height(want) == want and tables.height(want - 1) is None
        assert tallest(tables) == want


def tallest(tables: DeviceTables) -> int:
    """The most entries met, by reading every letter in every stack."""
    todo = [DeviceState(tables)]
    met = {todo[0].entries.tobytes()}
    highest = 0
    while todo:
        state = todo.pop()
        highest = max(highest, state.top + 1)
        for letter in b'"[],a':
            after = state.read(bytes([letter]))
            key = bytes([after.top + 1]) + after.entries[: after.top + 1].tobytes()
            if after.top >= 0 and key not in met:
                met.add(key)
                todo.append(after)
    return highest


def test_too_many_states() -> None:
    rules = compile_schema(SCHEMAS["open"]).rules
    machine = compile_pushdown(rules, one_stack=True)
    with pytest.raises(LimitError, match="more than 5 states"):
        device_tables(machine, Meter(Limits(states=5)))


def test_tables_are_small() -> None:
    tables = device_tables(compile_pushdown(compile_schema(True).rules))
    assert tables.nbytes < 100_000
