"""What a compile did with the keywords it met."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Report:
    """``enforced``: keywords that are; ``ignored``: pointers of annotations and
    unknown names; ``unenforced``: pointers the caller allowed to be left out."""

    enforced: dict[str, None] = field(default_factory=dict)
    ignored: dict[str, None] = field(default_factory=dict)
    unenforced: dict[str, None] = field(default_factory=dict)

    def saw(self, keyword: str) -> None:
        """Notes an enforced keyword."""
        self.enforced[keyword] = None

    def passed_over(self, pointer: str) -> None:
        """Notes an annotation."""
        self.ignored[pointer] = None

    def left_out(self, pointer: str) -> None:
        """Notes something allowed to stay unenforced."""
        self.unenforced[pointer] = None

    def as_dict(self) -> dict[str, list[str]]:
        """The report as JSON; keywords and pointers sorted."""
        return {
            "enforced": sorted(self.enforced),
            "ignored": sorted(self.ignored),
            "unenforced": sorted(self.unenforced),
        }
