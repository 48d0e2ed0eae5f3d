"""A place in a pattern, and the errors that name it."""

from __future__ import annotations

from re import Match, Pattern

from stcon.errors import RegexError


class Cursor:
    """Reads ``pattern`` from ``at`` on; offsets count characters."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    @property
    def char(self) -> str:
        """The character here, or an empty text at the end."""
        return self.pattern[self.at : self.at + 1]

    def starts(self, text: str) -> bool:
        """Whether ``text`` stands here."""
        return self.pattern.startswith(text, self.at)

    def skip(self, text: str) -> bool:
        """Whether ``text`` stood here; if so it is behind now."""
        found = self.starts(text)
        if found:
            self.at += len(text)
        return found

    def take(self, form: Pattern[str]) -> Match[str] | None:
        """What ``form`` matches here, behind now; None if it does not."""
        found = form.match(self.pattern, self.at)
        if found:
            self.at = found.end()
        return found

    def error(self, message: str, offset: int, hint: str = "") -> RegexError:
        """The error about the place ``offset``."""
        return RegexError(message, pattern=self.pattern, offset=offset, hint=hint)
