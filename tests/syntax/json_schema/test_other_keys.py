"""Every key but some, against the complement of a union of words."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stcon.machines.compile import compile_rules
from stcon.syntax.json_schema.other_keys import Known, can_be_plain, other_keys
from stcon.syntax.json_schema.standard import standard_rules
from stcon.syntax.rules import Rules

STANDARD = standard_rules("compact", "usual", 16, True)
NAMES = st.lists(st.text("ab_", max_size=4), max_size=6, unique=True)


@settings(max_examples=60, deadline=None)
@given(NAMES)
def test_all_but_the_names(names: list[str]) -> None:
    rules = {"start": other_keys(names), **STANDARD.rules}
    dfa = compile_rules(Rules(rules, "start"))
    texts = [
        "",
        "a",
        "b",
        "_",
        "ab",
        "aba",
        "abab",
        "ababa",
        "é",
        "a\n",
        "a/b",
        "aé",
        '"',
    ]
    for text in {*names, *texts, *(n + "a" for n in names), *(n[:-1] for n in names)}:
        written = json.dumps(text, ensure_ascii=False).encode()
        assert dfa.matches(written) is (text not in names), text
        assert dfa.run(written) or text in names


def test_an_escape_of_a_character_that_has_no_other_spelling() -> None:
    dfa = compile_rules(Rules({"s": other_keys(["ab"]), **STANDARD.rules}, "s"))
    assert dfa.matches(rb'"\u00e9"') and dfa.matches(rb'"a\/b"')
    assert not dfa.matches(rb'"\u0061b"')  # escapes="usual" spells ASCII plainly


@pytest.mark.parametrize(
    ("names", "escapes", "want"),
    [
        (["a", "b_c", "x y"], "usual", True),
        (["a"], "any", False),
        (["é"], "usual", False),
        (['a"b'], "usual", False),
        (["a/b"], "canonical", False),
        ([], "canonical", True),
    ],
)
def test_which_names_have_one_spelling(
    names: list[str], escapes: str, want: bool
) -> None:
    assert can_be_plain(names, escapes) is want


@settings(max_examples=40, deadline=None)
@given(st.lists(NAMES, min_size=2, max_size=4))
def test_parts_are_kept_for_the_next_names(several: list[list[str]]) -> None:
    known: Known = {}
    for names in several:
        alone, shared = (
            compile_rules(Rules({"start": expr, **STANDARD.rules}, "start"))
            for expr in (other_keys(names), other_keys(names, known))
        )
        assert alone.next.tolist() == shared.next.tolist()
        size = len(known)
        other_keys(names, known)
        assert len(known) == size, "nothing is made twice"
