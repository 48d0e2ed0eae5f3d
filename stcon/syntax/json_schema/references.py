"""Where ``$ref`` leads: pointers, anchors and embedded ``$id``s of one document.

References are resolved as RFC 3986 says, against the nearest ``$id``; nothing
is ever fetched.  The index is one walk over the document.

``$dynamicRef`` and ``$recursiveRef`` lead to the outermost resource, of those
that were entered on the way, that has the anchor.  What was entered is a
``Scope``: it only grows, so there are finitely many, and a subschema is one
subschema for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urldefrag, urljoin

from stcon.errors import SchemaError
from stcon.syntax.json_schema.names import (
    ANNOTATIONS,
    CONTAINERS,
    SCHEMA_KEYWORDS,
    SCHEMA_MAPS,
)
from stcon.syntax.json_schema.pointers import Path, from_fragment, to_fragment

Scope = frozenset[tuple[str, Path]]
"""Names of dynamic anchors, and where each leads."""

NO_SCOPE: Scope = frozenset()

# The name, in scopes, of $recursiveAnchor; an anchor cannot be called so.
_RECURSIVE = "#"
_DATA = frozenset({"enum", "const", "default", "examples"})


@dataclass(slots=True)
class Index:
    """``draft``: what ``$schema`` names, 0 when it is absent; ``resources``: base
    URI to path; ``anchors``: (base URI, name) to path; ``bases``: the base URI of
    each path that sets one; ``dynamic``: per base URI, its dynamic anchors."""

    root: dict[str, Any] | bool
    draft: int = 0
    resources: dict[str, Path] = field(default_factory=dict)
    anchors: dict[tuple[str, str], Path] = field(default_factory=dict)
    bases: dict[Path, str] = field(default_factory=dict)
    dynamic: dict[str, dict[str, Path]] = field(default_factory=dict)

    @staticmethod
    def of(root: dict[str, Any] | bool, draft: int) -> Index:
        """The index of a checked schema."""
        index = Index(root, draft, resources={"": ()}, bases={(): ""})
        if isinstance(root, dict):
            index._walk(root)
        return index

    def _walk(self, root: dict[str, Any]) -> None:
        """Notes ids and anchors: first those of schemas, then those of what only
        a pointer can make one."""
        later: list[tuple[Any, Path, str]] = []
        stack: list[tuple[Any, Path, str]] = [(root, (), "")]
        while stack:
            value, path, base = stack.pop()
            base = self._identified(value, path, base)
            for name, item in value.items():
                if name in SCHEMA_KEYWORDS or name in SCHEMA_MAPS:
                    found = _schemas(name, item, (*path, name))
                    stack.extend((schema, at, base) for at, schema in found)
                elif isinstance(item, (dict, list)) and name not in _DATA:
                    later.append((item, (*path, name), base))
        while later:
            value, path, base = later.pop()
            if isinstance(value, dict):
                base = self._identified(value, path, base)
            pairs = value.items() if isinstance(value, dict) else enumerate(value)
            later.extend(
                (item, (*path, step), base)
                for step, item in pairs
                if isinstance(item, (dict, list))
            )

    def _identified(self, value: dict[str, Any], path: Path, base: str) -> str:
        """The base URI inside of ``value``; notes its id and anchors."""
        own = value.get("id") if self.draft == 4 else value.get("$id")
        if isinstance(own, str) and not (self._is_old and "$ref" in value):
            url, fragment = urldefrag(_join(base, own))
            if url != base:
                base = url
                self.resources.setdefault(base, path)
                self.bases[path] = base
            if fragment and not fragment.startswith("/"):
                self.anchors.setdefault((base, fragment), path)
        for keyword in ("$anchor", "$dynamicAnchor"):
            anchor = value.get(keyword)
            if isinstance(anchor, str):
                self.anchors.setdefault((base, anchor), path)
                if keyword == "$dynamicAnchor":
                    self.dynamic.setdefault(base, {}).setdefault(anchor, path)
        if value.get("$recursiveAnchor") is True and self.resources.get(base) == path:
            self.dynamic.setdefault(base, {})[_RECURSIVE] = path
        return base

    @property
    def _is_old(self) -> bool:
        """Whether ``$ref`` silences what is beside it (up to draft 7)."""
        return 4 <= self.draft <= 7

    def is_alias(self, value: dict[str, Any]) -> bool:
        """Whether a schema says nothing but ``$ref``."""
        if not isinstance(value.get("$ref"), str):
            return False
        return self._is_old or all(
            name == "$ref" or name in ANNOTATIONS or name in CONTAINERS
            for name in value
        )

    def base(self, path: Path) -> str:
        """The base URI at ``path``."""
        if len(self.bases) == 1:
            return self.bases[()]
        for length in range(len(path), -1, -1):
            if path[:length] in self.bases:
                return self.bases[path[:length]]
        return ""

    def entered(self, path: Path, scope: Scope) -> Scope:
        """The scope at ``path``, which was come to with ``scope``."""
        if not self.dynamic:
            return scope
        outer = {name for name, _ in scope}
        here = self.dynamic.get(self.base(path), {})
        return scope | {pair for pair in here.items() if pair[0] not in outer}

    def resolve(
        self, keyword: str, reference: str, path: Path, scope: Scope
    ) -> tuple[Path, Any]:
        """The path and value of the schema that a reference in a schema at ``path``
        names.  ``keyword``: ``$ref``; or ``$dynamicRef`` or ``$recursiveRef``, for
        which it is the outermost anchor in ``scope`` if the reference, taken
        plainly, leads to such an anchor.

        Raises SchemaError when it is not in this document.
        """
        try:
            target, value = self._plainly(reference, path)
        except LookupError as missing:
            raise SchemaError(
                f"cannot resolve {reference!r:.200}: {missing}",
                pointer=to_fragment((*path, keyword)),
                keyword=keyword,
                hint="put the schema under $defs and refer to it as '#/$defs/name'",
            ) from None
        if keyword == "$ref":
            return target, value
        dynamic = keyword == "$dynamicRef"
        name = reference.partition("#")[2] if dynamic else _RECURSIVE
        if self.dynamic.get(self.base(target), {}).get(name) == target:
            target = dict(scope).get(name, target)
            value = self._at(target)
        return target, value

    def _plainly(self, reference: str, path: Path) -> tuple[Path, Any]:
        url, fragment = urldefrag(_join(self.base(path), reference))
        start = self.resources.get(url)
        if start is None:
            raise LookupError("it is not inside this document")
        if fragment and not fragment.startswith("/"):
            target = self.anchors.get((url, fragment))
            if target is None:
                raise LookupError("there is no such anchor")
            return target, self._at(target)
        found = self._follow(start, from_fragment(fragment))
        if found is None:
            raise LookupError("there is nothing at this pointer")
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


def _join(base: str, reference: str) -> str:
    """``reference`` against ``base``; urljoin drops the base of a mere fragment
    when it is a URN."""
    return base + reference if reference[:1] == "#" else urljoin(base, reference)


def _schemas(name: str, value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """The object schemas in the value of the keyword ``name``, and their paths."""
    if isinstance(value, dict) and name in SCHEMA_KEYWORDS:
        yield path, value
        return
    pairs: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for step, item in pairs:
        if isinstance(item, dict):
            yield (*path, step), item
