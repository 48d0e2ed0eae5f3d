"""What a compile did with the keywords it met."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Report:
    """``seen``: keywords with a row, and where; ``ignored``: pointers of annotations
    and unknown names; ``unenforced``: pointers the caller allowed to be left out;
    ``repeats``: per subschema, those that say the same."""

    seen: dict[str, dict[str, None]] = field(default_factory=dict)
    ignored: dict[str, None] = field(default_factory=dict)
    unenforced: dict[str, None] = field(default_factory=dict)
    repeats: dict[str, dict[str, None]] = field(default_factory=dict)

    def saw(self, keyword: str, pointer: str) -> None:
        """Notes a keyword that is enforced unless its pointer says otherwise."""
        self.seen.setdefault(keyword, {})[pointer] = None

    def passed_over(self, pointer: str) -> None:
        """Notes an annotation."""
        self.ignored[pointer] = None

    def left_out(self, pointer: str) -> None:
        """Notes something allowed to stay unenforced."""
        self.unenforced[pointer] = None

    def repeated(self, pointer: str, original: str) -> None:
        """Notes that a subschema says what another does, which is looked at."""
        if pointer != original:
            self.repeats.setdefault(original, {})[pointer] = None

    def _everywhere(self, pointers: dict[str, None]) -> dict[str, None]:
        """``pointers``, and the same places in subschemas that repeat others."""
        if not self.repeats:
            return pointers
        found = dict(pointers)
        todo = list(pointers)
        while todo:
            pointer = todo.pop()
            end = pointer.rfind("/")
            while end > 0:
                for other in self.repeats.get(pointer[:end], ()):
                    place = other + pointer[end:]
                    if place not in found:
                        found[place] = None
                        todo.append(place)
                end = pointer.rfind("/", 0, end)
        return found

    def as_dict(self) -> dict[str, list[str]]:
        """The report as JSON; keywords and pointers sorted."""
        return {
            "enforced": sorted(filter(self._is_enforced, self.seen)),
            "ignored": sorted(self._everywhere(self.ignored)),
            "unenforced": sorted(self._everywhere(self.unenforced)),
        }

    def _is_enforced(self, keyword: str) -> bool:
        """Whether ``keyword`` is enforced in one place at least."""
        return any(
            pointer not in self.ignored and pointer not in self.unenforced
            for pointer in self.seen[keyword]
        )
