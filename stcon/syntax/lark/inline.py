"""Formats written inside a Lark grammar: ``%json {...}`` and ``%regex {...}``.

A JSON Schema becomes rules of its own, under names that no grammar can give; the rules
that all schemas share are there once.  Source: the syntax of llguidance's grammars.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from stcon.syntax import rules as r
from stcon.syntax.json_schema import compile_schema
from stcon.syntax.lark.texts import Unreadable
from stcon.syntax.named_rules import NamedRules
from stcon.syntax.renamed import renamed
from stcon.syntax.rules import Expr

_WORDS = re.compile(r"\w+|\s+|.")
_MOST_PARTS = 100_000
_PARTS = ("substring_chunks", "substring_words", "substring_chars")


class Schemas:
    """The schemas of one grammar; ``options``: those of ``compile_schema``.

    ``reports``: of each schema, in the order of the text.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options
        self._known: dict[str, Expr] = {}
        self.reports: list[dict[str, Any]] = []

    def call(self, text: str, named: NamedRules) -> Expr:
        """A call of the rule of the schema ``text``, which is defined.

        Raises SchemaError and LimitError.
        """
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._define(text, named)
        return known

    def _define(self, text: str, named: NamedRules) -> Expr:
        compiled = compile_schema(text, **self._options)
        # how it is enforced differs: what is counted is a copy for each count here
        self.reports.append({k: v for k, v in compiled.report.items() if k != "how"})
        rules, shared = compiled.rules, compiled.rules.standard
        own = f"(json {len(self.reports)}) "
        standard = shared.rules if shared else {}

        def name(given: str) -> str:
            return f"(json) {given}" if given in standard else own + given

        for given, body in renamed(rules.rules, name).items():
            if given not in named.rules:
                named.define(given, body)
        return r.Call(name(rules.start))


def structured_regex(text: str) -> Expr:
    """Any run of neighbouring parts of a text, none of them too.

    ``text``: an object with one of ``substring_chunks`` (a list of texts),
    ``substring_words`` and ``substring_chars`` (a text).  Raises Unreadable.
    """
    given = json.loads(text, object_pairs_hook=_once)
    kind = next(iter(given), "") if isinstance(given, dict) else ""
    if kind not in _PARTS or len(given) != 1:
        raise Unreadable(f"%regex takes one of {', '.join(_PARTS)}")
    value: Any = given[kind]
    is_list = kind == "substring_chunks"
    if not isinstance(value, list if is_list else str):
        raise Unreadable(f"{kind} is {'a list of texts' if is_list else 'a text'}")
    parts = list(value)
    if kind == "substring_words":
        parts = _WORDS.findall(str(value))
    if not all(isinstance(part, str) for part in parts):
        raise Unreadable(f"{kind} is a list of texts")
    if len(parts) > _MOST_PARTS:
        raise Unreadable(
            f"{len(parts):,} parts are more than {_MOST_PARTS:,}",
            hint="split the text, or cut it into larger chunks",
        )
    for part in parts:
        if any(0xD800 <= ord(char) <= 0xDFFF for char in part):
            raise Unreadable("half a surrogate pair is no character")
    return _runs([r.literal(part) for part in parts])


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; raises Unreadable for a key that is there twice."""
    if len(dict(pairs)) < len(pairs):
        raise Unreadable("a key stands twice in this object")
    return dict(pairs)


def _runs(parts: list[Expr]) -> Expr:
    """Neighbouring items of ``parts``; tails are shared, so it is linear."""
    tail: Expr = r.EPSILON
    begins: list[Expr] = [r.EPSILON]
    for part in reversed(parts):
        one = r.concat(part, tail)
        begins.append(one)
        tail = r.optional(one)
    return r.union(*begins)
