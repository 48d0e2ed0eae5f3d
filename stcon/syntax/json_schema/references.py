"""Where ``$ref`` leads: pointers, anchors and embedded ``$id``s of one document.

References are resolved as RFC 3986 says, against the nearest ``$id``; nothing
is ever fetched.  The index is one walk over the document.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urldefrag, urljoin

from stcon.errors import SchemaError
from stcon.syntax.json_schema.names import ANNOTATIONS, CONTAINERS
from stcon.syntax.json_schema.pointers import Path, from_fragment, to_fragment

_DRAFTS = {
    "draft-04": 4,
    "draft-06": 6,
    "draft-07": 7,
    "2019-09": 2019,
    "2020-12": 2020,
}
_DATA = frozenset({"enum", "const", "default", "examples"})


@dataclass(slots=True)
class Index:
    """``resources``: base URI to path; ``anchors``: (base URI, name) to path;
    ``draft``: what ``$schema`` names, 0 when it is absent."""

    root: dict[str, Any] | bool
    draft: int = 0
    resources: dict[str, Path] = field(default_factory=dict)
    anchors: dict[tuple[str, str], Path] = field(default_factory=dict)
    bases: dict[Path, str] = field(default_factory=dict)
    dynamic: dict[str, int] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    @staticmethod
    def of(root: dict[str, Any] | bool) -> Index:
        """The index of a checked schema."""
        index = Index(root, resources={"": ()}, bases={(): ""})
        if isinstance(root, dict):
            index.draft = _draft(root.get("$schema"))
            index._walk(root)
        return index

    def _walk(self, root: dict[str, Any]) -> None:
        stack: list[tuple[Any, Path, str]] = [(root, (), "")]
        while stack:
            value, path, base = stack.pop()
            if isinstance(value, dict):
                base = self._identified(value, path, base)
                for name, item in value.items():
                    if isinstance(item, (dict, list)) and name not in _DATA:
                        stack.append((item, (*path, name), base))
            else:
                stack.extend(
                    (item, (*path, place), base)
                    for place, item in enumerate(value)
                    if isinstance(item, (dict, list))
                )

    def _identified(self, value: dict[str, Any], path: Path, base: str) -> str:
        """The base URI inside of ``value``; notes its id and anchors."""
        own = value.get("id") if self.draft == 4 else value.get("$id")
        if isinstance(own, str):
            url, fragment = urldefrag(urljoin(base, own))
            if url != base:
                base = url
                self.resources.setdefault(base, path)
                self.bases[path] = base
            if fragment and not fragment.startswith("/"):
                self.anchors[base, fragment] = path
        for keyword in ("$anchor", "$dynamicAnchor"):
            anchor = value.get(keyword)
            if isinstance(anchor, str):
                self.anchors[base, anchor] = path
                if keyword == "$dynamicAnchor":
                    self.dynamic[anchor] = self.dynamic.get(anchor, 0) + 1
        if value.get("$recursiveAnchor") is True:
            self.names.add("$recursiveAnchor")
        return base

    def has(self, keyword: str) -> bool:
        """Whether any schema uses ``keyword``."""
        return keyword in self.names

    def dynamic_anchors(self, name: str) -> int:
        """How many schemas have the ``$dynamicAnchor`` ``name``."""
        return self.dynamic.get(name, 0)

    def is_alias(self, value: dict[str, Any]) -> bool:
        """Whether a schema says nothing but ``$ref``.  Up to draft 7, ``$ref``
        silences what is beside it."""
        if not isinstance(value.get("$ref"), str):
            return False
        if 4 <= self.draft <= 7:
            return True
        return all(
            name == "$ref" or name in ANNOTATIONS or name in CONTAINERS
            for name in value
        )

    def base(self, path: Path) -> str:
        """The base URI at ``path``."""
        if len(self.bases) == 1:
            return ""
        for length in range(len(path), -1, -1):
            if path[:length] in self.bases:
                return self.bases[path[:length]]
        return ""

    def resolve(self, reference: str, path: Path) -> tuple[Path, Any]:
        """The path and value of the schema that ``reference`` names in a schema
        at ``path``.  Raises SchemaError when it is not in this document."""
        base = self.base(path)
        whole = base + reference if reference[:1] == "#" else urljoin(base, reference)
        url, fragment = urldefrag(whole)
        start = self.resources.get(url)
        if start is None:
            raise self._missing(reference, path, "it is not inside this document")
        if fragment and not fragment.startswith("/"):
            target = self.anchors.get((url, fragment))
            if target is None:
                raise self._missing(reference, path, "there is no such anchor")
            return target, self._at(target)
        found = self._follow(start, from_fragment(fragment))
        if found is None:
            raise self._missing(reference, path, "there is nothing at this pointer")
        return found

    def _at(self, path: Path) -> Any:
        value: Any = self.root
        for step in path:
            value = value[step]
        return value

    def _follow(self, path: Path, tokens: tuple[str, ...]) -> tuple[Path, Any] | None:
        """Path and value ``tokens`` below ``path``, None when there is none."""
        value = self._at(path)
        for token in tokens:
            step: str | int = token
            if isinstance(value, list):
                if not (token.isascii() and token.isdigit()) or len(token) > 9:
                    return None
                step = int(token)
                if step >= len(value) or str(step) != token:
                    return None
            elif not isinstance(value, dict) or token not in value:
                return None
            value = value[step]
            path = (*path, step)
        return (path, value) if isinstance(value, (dict, bool)) else None

    @staticmethod
    def _missing(reference: str, path: Path, why: str) -> SchemaError:
        return SchemaError(
            f"cannot resolve {reference!r:.200}: {why}",
            pointer=to_fragment((*path, "$ref")),
            keyword="$ref",
            hint="put the schema under $defs and refer to it as '#/$defs/name'",
        )


def _draft(uri: Any) -> int:
    if not isinstance(uri, str):
        return 0
    return next((n for name, n in _DRAFTS.items() if name in uri), 0)
