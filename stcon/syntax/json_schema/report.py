"""What a compile did with the keywords it met."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from stcon.syntax.json_schema.pointers import Path, is_inner, to_fragment


@dataclass(slots=True)
class Report:
    """Paths, in the order they were met.  ``seen``: keywords with a row, and where;
    ``ignored``: annotations and unknown names; ``unenforced``: what the caller
    allowed to be left out; ``repeats``: per subschema, those that say the same."""

    seen: dict[str, dict[Path, None]] = field(default_factory=dict)
    ignored: dict[Path, None] = field(default_factory=dict)
    unenforced: dict[Path, None] = field(default_factory=dict)
    repeats: dict[Path, dict[Path, None]] = field(default_factory=dict)

    def saw(self, keyword: str, path: Path) -> None:
        """Notes a keyword that is enforced unless its path says otherwise."""
        self.seen.setdefault(keyword, {})[path] = None

    def passed_over(self, path: Path) -> None:
        """Notes an annotation."""
        self.ignored[path] = None

    def left_out(self, path: Path) -> None:
        """Notes something allowed to stay unenforced."""
        self.unenforced[path] = None

    def repeated(self, path: Path, original: Path) -> None:
        """Notes that a subschema says what another does, which is looked at."""
        if path != original:
            self.repeats.setdefault(original, {})[path] = None

    def as_dict(self, ways: Mapping[str, str]) -> dict[str, Any]:
        """The report as JSON; keywords and pointers sorted.  ``ways``: how each
        keyword is enforced."""
        enforced = sorted(filter(self._is_enforced, self.seen))
        return {
            "enforced": enforced,
            "how": {keyword: ways[keyword] for keyword in enforced},
            "ignored": self._everywhere(self.ignored),
            "unenforced": self._everywhere(self.unenforced),
        }

    def _everywhere(self, paths: Collection[Path]) -> list[str]:
        """The pointers of ``paths``, and of the same places in subschemas that
        repeat others."""
        found = dict.fromkeys(paths)
        todo = list(paths) if self.repeats else []
        while todo:
            path = todo.pop()
            for length in range(len(path)):
                for other in self.repeats.get(path[:length], ()):
                    place = other + path[length:]
                    if place not in found:
                        found[place] = None
                        todo.append(place)
        return sorted({to_fragment(path) for path in found})

    def _is_enforced(self, keyword: str) -> bool:
        """Whether ``keyword`` is enforced in one place of the document at least."""
        return any(
            path not in self.ignored
            and path not in self.unenforced
            and not is_inner(path)
            for path in self.seen[keyword]
        )
