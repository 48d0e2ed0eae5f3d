"""What lies below free text, and hops from the disk, against plain walks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stcon.machines.pushdown import Config, Pushdown, compile_pushdown
from stcon.syntax.json_schema import compile_schema
from stcon.tokens.hops import NOTHING, PARTS, ROOT
from stcon.tokens.standard_hops import stocked
from stcon.tokens.transducer import Transducer
from stcon.tokens.vocabulary import Vocabulary

PAIRS = [
    b'"","":"","a',
    b'"","":"","',
    b'"","b":"x","":"","k',
    b'","',
    b'":"',
    b'","a"',
]
WORDS = [
    b"name",
    b"names",
    b"namespace",
    b"na\xc3",
    b"\xc3\xa9",
    b'name":"',
    b'a"',
    b'"a',
]
WORDS += [
    b'e":1,"n',
    b'","name',
    b"\\n",
    b"\\u00",
    b'\\"',
    b"1,",
    b'1,"k":2,"',
    b"}]",
    b"[{",
]
WORDS += [b'nb":"x']
WORDS += [bytes([a, b]) for a in b'nam"\\' for b in b'ame"u:,']
SCHEMAS: dict[str, Any] = {
    "open": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "names": {}, "na": {"type": "null"}},
    },
    "a demand on a value": {
        "type": "object",
        "minProperties": 1,
        "not": {"additionalProperties": {"type": "integer"}},
    },
    "strings": {"type": "array", "items": {"type": "string", "maxLength": 9}},
    "patterns": {
        "type": "object",
        "patternProperties": {"^n": {"type": "integer"}},
        "additionalProperties": {"type": "string"},
    },
    "odd keys": {"type": "object", "properties": {"é": {}, 'n"a': {}, "\\": {}}},
}
TEXTS = [
    b"",
    b"{",
    b'{"',
    b'{"n',
    b'{"na',
    b'{"name":"',
    b'{"":"',
    b'{"a":[',
    b'["',
    b'["a',
]
TEXTS += [b'{"x":"y","z":"', b'{"x":"y","', b'{"nb":', b'["abcdefg', b'{"a":"\\']


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    single = [bytes([b]) for b in range(256)]
    return Vocabulary.from_bytes([None, *single, *PAIRS, *WORDS], [0])


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STCON_CACHE_DIR", str(tmp_path))


def machine(schema: Any, **options: Any) -> Pushdown:
    """The pushdown of a schema."""
    chosen = {"whitespace": "compact", "escapes": "usual", **options}
    return compile_pushdown(compile_schema(schema, **chosen).rules)


def transducer(made: Pushdown, vocabulary: Vocabulary, inside: bool) -> Transducer:
    """A new transducer; ``inside``: whether it knows free text."""
    assert made.standard is not None
    standard = Transducer(made.standard, vocabulary.trie)
    if inside:
        stocked(made.standard, standard, vocabulary.fingerprint)
        assert standard.inside is not None
    return Transducer(made, vocabulary.trie, standard)


def read(made: Transducer, config: Config) -> list[tuple[bytes, Any]]:
    """For each hop that the mask of ``config`` takes: its row and what is popped."""
    found = []
    todo = [(ROOT, cell) for cell in sorted(config, key=repr)]
    for pending, (symbol, below, _, window) in todo:
        hop = made.delta(pending, symbol)
        row = np.zeros(len(made.trie.node_of_token), bool)
        hop.paint(row, window)
        rest = hop.rest(hop.window(window))
        nodes = None if rest == NOTHING else made.pending.nodes(rest).tolist()
        found.append((row.tobytes(), nodes))
        if rest != NOTHING and below is not None:
            todo.append((rest, below))
    return found


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("options", [{}, {"whitespace": "free", "escapes": "any"}])
def test_inside_is_as_walking(
    name: str, options: dict[str, str], vocabulary: Vocabulary
) -> None:
    made = machine(SCHEMAS[name], **options)
    plain = transducer(made, vocabulary, False)
    knowing = transducer(made, vocabulary, True)
    again = transducer(made, vocabulary, True)  # from the disk
    seen = 0
    for text in TEXTS:
        config = made.run(made.start, text)
        if config:
            want = read(plain, config)
            assert read(knowing, config) == want, text
            assert read(again, config) == want, text
            seen += 1
    assert seen > 2


def test_hops_from_the_disk_are_those_that_were_kept(vocabulary: Vocabulary) -> None:
    standard = machine(SCHEMAS["open"]).standard
    assert standard is not None
    fresh, kept = (Transducer(standard, vocabulary.trie) for _ in range(2))
    stocked(standard, fresh, vocabulary.fingerprint)
    stocked(standard, kept, vocabulary.fingerprint)
    for state in range(3, standard.state.count):
        one, two = (made._hops[ROOT, state] for made in (fresh, kept))
        assert one.highest == two.highest and one.digest == two.digest
        for part in PARTS:
            same(getattr(one, part), getattr(two, part))
    assert fresh.inside is not None and kept.inside is not None
    same(fresh.inside.state_at, kept.inside.state_at)
    same(fresh.inside.row, kept.inside.row)


def same(one: Any, two: Any) -> None:
    """Both are None, or equal arrays (an 8 bit level may be kept as one of 16)."""
    assert (one is None) is (two is None)
    if one is not None:
        assert np.array_equal(one, two)


def test_hops_of_another_vocabulary_are_not_taken(vocabulary: Vocabulary) -> None:
    made = machine(SCHEMAS["open"])
    transducer(made, vocabulary, True)
    other = Vocabulary.from_bytes([None, *(bytes([b]) for b in range(256)), b"ab"], [0])
    config = made.run(made.start, b'{"')
    assert read(transducer(made, other, True), config) == read(
        transducer(made, other, False), config
    )


def test_nodes_below_one_another(vocabulary: Vocabulary) -> None:
    standard = machine(SCHEMAS["open"]).standard
    assert standard is not None
    made = Transducer(standard, vocabulary.trie)
    stocked(standard, made, vocabulary.fingerprint)
    inside = made.inside
    assert inside is not None
    trie = vocabulary.trie
    node = int(trie.node_of_token[1 + 256 + len(PAIRS) + 2])  # namespace
    chain = [node]
    while trie.parent[chain[-1]] > 0:
        chain.append(int(trie.parent[chain[-1]]))
    top = inside.below(np.array(chain[-1:], np.int32))
    whole = inside.below(np.array(chain, np.int32))
    assert np.array_equal(top[0], whole[0]) and np.array_equal(top[1], whole[1])
