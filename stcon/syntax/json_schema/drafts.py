"""Which draft a schema is written in."""

from __future__ import annotations

import re
from typing import Any

# 5 was draft 4 again, with a new number.
_NUMBERS = {
    "draft-04": 4,
    "draft-05": 4,
    "draft-06": 6,
    "draft-07": 7,
    "draft/2019-09": 2019,
    "draft/2020-12": 2020,
}
_OFFICIAL = re.compile(r"https?://json-schema\.org/(?:(.+)/)?(?:hyper-)?schema#?")
# Supersets that add annotations.
_OTHERS = {
    "http://iglucentral.com/schemas/com.snowplowanalytics.self-desc/schema/"
    "jsonschema/1-0-0": 4,
    "https://spec.openapis.org/oas/3.1/dialect/base": 2020,
}

NONE, UNKNOWN = 0, -1


def draft_of(uri: Any) -> int:
    """The draft that a ``$schema`` names: 4, 6, 7, 2019 or 2020; ``NONE`` where
    it names none (the newest is meant), ``UNKNOWN`` for another metaschema."""
    if uri is None:
        return NONE
    if not isinstance(uri, str):
        return UNKNOWN
    match = _OFFICIAL.fullmatch(uri)
    if match is None:
        return _OTHERS.get(uri.rstrip("#"), UNKNOWN)
    return _NUMBERS.get(match[1], UNKNOWN) if match[1] else NONE
