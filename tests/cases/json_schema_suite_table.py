"""The table of what becomes of the JSON-Schema-Test-Suite.

python -m tests.cases.json_schema_suite_table > docs/json-schema-test-suite.md
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from tests.cases.json_schema_suite import (
    DRAFTS,
    REFUSED,
    RIGHT,
    SKIPPED,
    WRONG,
    Outcome,
    files,
    outcomes,
)

HEAD = """\
# The official test suite

What becomes of the [JSON-Schema-Test-Suite][suite], group by group, optional tests and
formats included. A copy is in
`tests/cases/json_schema_test_suite`; this page is made by

    python -m tests.cases.json_schema_suite_table > docs/json-schema-test-suite.md

and `tests/cases/test_json_schema_suite.py` fails when it is not up to date, or when
any test of any group goes wrong. Every group is

- **right**: every valid instance can be written, in some order of its keys, and no
  invalid one can;
- **refused**: compiling fails, and the error names the keyword;
- **skipped**: the group holds tests that are not met on purpose.

[suite]: https://github.com/json-schema-org/JSON-Schema-Test-Suite
"""


def page() -> Iterator[str]:
    """The lines of docs/json-schema-test-suite.md."""
    yield HEAD
    yield from totals()
    yield "\n## Refused\n"
    yield from by_note(REFUSED, "keyword", "`{}`")
    yield "\n## Skipped\n"
    yield from by_note(SKIPPED, "reason", "{}")
    for draft in DRAFTS:
        yield f"\n## {draft}\n"
        yield from by_file(draft)


def totals() -> Iterator[str]:
    """A row a draft."""
    yield "| draft | tests | groups | right | refused | skipped |"
    yield "|---|---|---|---|---|---|"
    for draft in DRAFTS:
        tests = sum(len(g["tests"]) for gs in files(draft).values() for g in gs)
        found = [o for file in files(draft) for o in outcomes(draft, file)]
        yield f"| {draft} | {tests:,} | {len(found)} | {counts(found)} |"


def by_note(verdict: str, title: str, shown: str) -> Iterator[str]:
    """Per keyword or reason, the groups of each draft."""
    found = {draft: Counter(notes(verdict, draft)) for draft in DRAFTS}
    yield f"| {title} | {' | '.join(DRAFTS)} |"
    yield "|---" * (1 + len(DRAFTS)) + "|"
    for note in sorted(set().union(*found.values())):
        row = (str(found[draft][note] or "") for draft in DRAFTS)
        yield f"| {shown.format(note)} | {' | '.join(row)} |"


def notes(verdict: str, draft: str) -> Iterator[str]:
    """The notes of all groups of a draft with this verdict."""
    for file in files(draft):
        for outcome in outcomes(draft, file):
            if outcome.verdict == verdict:
                yield from outcome.notes


def by_file(draft: str) -> Iterator[str]:
    """A row a file; of refused groups, the keywords."""
    yield "| file | groups | right | refused | skipped |"
    yield "|---|---|---|---|---|"
    for file in files(draft):
        found = outcomes(draft, file)
        named = Counter(note for o in found if o.verdict == REFUSED for note in o.notes)
        refused = ", ".join(f"{n} `{name}`" for name, n in sorted(named.items()))
        right, _, skipped = counts(found).split(" | ")
        yield f"| {file} | {len(found)} | {right} | {refused} | {skipped} |"


def counts(found: Iterable[Outcome]) -> str:
    """Cells: how many are right, refused and skipped."""
    verdicts = Counter(outcome.verdict for outcome in found)
    return " | ".join(str(verdicts[v] or "") for v in (RIGHT, REFUSED, SKIPPED))


def wrong() -> Iterator[str]:
    """A line for each group that goes wrong."""
    for draft in DRAFTS:
        for file in files(draft):
            found = zip(files(draft)[file], outcomes(draft, file), strict=True)
            for group, outcome in found:
                if outcome.verdict == WRONG:
                    yield f"{draft}/{file}: {group['description']}: {outcome.notes}"


if __name__ == "__main__":
    print("\n".join(page()))
    if complaints := "\n".join(wrong()):
        sys.exit(complaints)
