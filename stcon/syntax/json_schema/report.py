"""What a compile did with the keywords it met."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Report:
    """``seen``: keywords with a row, and where; ``ignored``: pointers of annotations
    and unknown names; ``unenforced``: pointers the caller allowed to be left out."""

    seen: dict[str, dict[str, None]] = field(default_factory=dict)
    ignored: dict[str, None] = field(default_factory=dict)
    unenforced: dict[str, None] = field(default_factory=dict)

    def saw(self, keyword: str, pointer: str) -> None:
        """Notes a keyword that is enforced unless its pointer says otherwise."""
        self.seen.setdefault(keyword, {})[pointer] = None

    def passed_over(self, pointer: str) -> None:
        """Notes an annotation."""
        self.ignored[pointer] = None

    def left_out(self, pointer: str) -> None:
        """Notes something allowed to stay unenforced."""
        self.unenforced[pointer] = None

    def as_dict(self) -> dict[str, list[str]]:
        """The report as JSON; keywords and pointers sorted."""
        return {
            "enforced": sorted(filter(self._is_enforced, self.seen)),
            "ignored": sorted(self.ignored),
            "unenforced": sorted(self.unenforced),
        }

    def _is_enforced(self, keyword: str) -> bool:
        """Whether ``keyword`` is enforced in one place at least."""
        return any(
            pointer not in self.ignored and pointer not in self.unenforced
            for pointer in self.seen[keyword]
        )
