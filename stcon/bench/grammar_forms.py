"""The shipped grammars in a form that engines with less of GBNF read as it is meant.

CFGzip drops counts and the empty text of what is no rule, without a word; llguidance's
converter knows no escaped hyphen and no rule of several lines.  That a form is the same
language is shown by tests, and by equal masks in the bench.
"""

from __future__ import annotations

from pathlib import Path

FORMS = Path(__file__).with_name("forms")
READERS = ("cfgzip", "llguidance")
"""The engines that get them."""


def form_of(name: str, text: str) -> str:
    """The form of the shipped grammar ``name``; ``text`` where there is none."""
    file = FORMS / f"{name}.gbnf"
    return file.read_text("utf-8") if file.exists() else text
