"""The official JSON-Schema-Test-Suite: what becomes of each group of tests.

A group is *right* when every valid instance can be written and no invalid one
can, *refused* when compiling fails and names the keyword, *skipped* when all that
is amiss has a reason in ``EXCUSES``, else *wrong*.
"""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from stcon import LimitError, Limits, SchemaError, constrain
from stcon.constraints.constraint import Constraint
from stcon.tokens.vocabulary import Vocabulary

FOLDER = Path(__file__).with_name("json_schema_test_suite")
DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
RIGHT, REFUSED, SKIPPED, WRONG = "right", "refused", "skipped", "wrong"
# Orders of keys that are tried; all of up to six keys.
MOST_SPELLINGS = 1_000


@dataclass(frozen=True)
class Outcome:
    """What became of a group; ``notes``: the keyword, the reasons, or the tests
    that went wrong."""

    verdict: str
    notes: tuple[str, ...] = ()


class Spelled(Decimal):
    """A number with fraction or exponent; ``text`` is how it was written."""

    text: str

    def __new__(cls, text: str) -> Spelled:
        """The number that ``text`` spells."""
        made = super().__new__(cls, text)
        made.text = text
        return made


@cache
def files(draft: str) -> dict[str, list[dict[str, Any]]]:
    """The groups of each file of a draft."""
    lines = (FOLDER / f"{draft}.jsonl").read_text("utf-8").split("\n")
    read = (json.loads(line, parse_float=Spelled) for line in lines if line)
    return {line["file"]: line["groups"] for line in read}


@cache
def outcomes(draft: str, file: str) -> tuple[Outcome, ...]:
    """What becomes of each group of a file."""
    return tuple(outcome(draft, file, group) for group in files(draft)[file])


def outcome(
    draft: str, file: str, group: dict[str, Any], key_order: str = "declared"
) -> Outcome:
    """What becomes of one group."""
    try:
        made = machine(draft, group["schema"], key_order)
    except LimitError as error:
        return Outcome(REFUSED, (f"limit on {error.what}",))
    except SchemaError as error:
        if not says_empty(error):
            return Outcome(REFUSED, (error.keyword or f"unnamed: {error}",))
        made = None
    wrong: list[str] = []
    reasons: dict[str, None] = {}
    for test in group["tests"]:
        value = test["data"]
        # in draft 4, 1.0 is another value than 1 if that makes an integer invalid
        whole = draft != "draft4" or test["valid"]
        if accepts(made, value, whole) != test["valid"]:
            reason = excuse(file, test)
            if reason is None:
                wrong.append(f"{test['description']}: {value!r}")
            else:
                reasons[reason] = None
    if wrong:
        return Outcome(WRONG, tuple(wrong))
    return Outcome(SKIPPED, tuple(reasons)) if reasons else Outcome(RIGHT)


@cache
def vocabulary() -> Vocabulary:
    """Every byte is a token."""
    return Vocabulary.from_bytes([None, *(bytes([b]) for b in range(256))], [0])


def machine(draft: str, schema: Any, key_order: str) -> Constraint:
    """What stcon makes of ``schema``, read as ``draft`` means it.  (Newer drafts'
    schemas say themselves which draft they are of.)"""
    if isinstance(schema, dict) and draft in ("draft4", "draft6", "draft7"):
        schema = {"$schema": DRAFTS[draft], **schema}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # near misses, which some groups are about
        # states, not seconds, bound the compile: the same on every machine
        limits = Limits(seconds=100)
        return constrain(vocabulary(), schema, limits=limits, key_order=key_order)


def says_empty(error: SchemaError) -> bool:
    """Whether compiling failed because no value is valid."""
    return "no value " in error.message or "no JSON text" in error.message


def accepts(made: Constraint | None, value: Any, whole: bool) -> bool:
    """Whether ``made`` lets ``value`` be written, as one of its ``texts``."""
    tried = itertools.islice(texts(value, whole), MOST_SPELLINGS)
    return made is not None and any(map(made.matches, tried))


def texts(value: Any, whole: bool) -> Iterator[str]:
    """Compact spellings of ``value``: one for every order of its keys; numbers
    as they were given and, if ``whole``, 1.0 also as 1."""
    if isinstance(value, dict):
        for order in itertools.permutations(value.items()):
            for parts in itertools.product(*(list(texts(v, whole)) for _, v in order)):
                pairs = zip(order, parts, strict=True)
                members = (f"{json_text(key)}:{text}" for (key, _), text in pairs)
                yield "{" + ",".join(members) + "}"
    elif isinstance(value, list):
        for parts in itertools.product(*(list(texts(v, whole)) for v in value)):
            yield "[" + ",".join(parts) + "]"
    elif isinstance(value, Spelled):
        yield value.text
        if whole and value == value.to_integral_value():
            yield f"{value:.0f}"
    else:
        yield json_text(value)


def json_text(value: Any) -> str:
    """The canonical text of a string, whole number, boolean or null."""
    return json.dumps(value, ensure_ascii=False)


def _asserted(file: str, test: dict[str, Any]) -> bool:
    annotation = test["description"].endswith("is only an annotation by default")
    return file == "format" and annotation and test["valid"]


def _leap_second(file: str, test: dict[str, Any]) -> bool:
    of_time = file in ("optional/format/time", "optional/format/date-time")
    in_utc = test["data"][-1:] in ("Z", "z") if of_time else True
    return of_time and test["valid"] and ":60" in test["data"] and not in_utc


def _content(file: str, test: dict[str, Any]) -> bool:
    return file == "optional/content" and not test["valid"]


EXCUSES: dict[str, Callable[[str, dict[str, Any]], bool]] = {
    "formats are always asserted": _asserted,
    "leap seconds are written in UTC only": _leap_second,
    "`content*` are annotations, as in later drafts": _content,
}


def excuse(file: str, test: dict[str, Any]) -> str | None:
    """The reason why a test is not met on purpose, if it is."""
    return next((why for why, applies in EXCUSES.items() if applies(file, test)), None)
