"""Every error stcon raises, one type a stage.

Each carries the offending fragment, its place and a way out, so a caller can
react in code and a person can react to the text.  All are ``StconError`` (a
``ValueError``), so ``except stcon.StconError`` catches whatever a compile or a
run can raise on purpose.
"""

from __future__ import annotations


def visible(text: str) -> str:
    """``text`` on one line: what does not print, as an escape."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


class StconError(ValueError):
    """Base of all errors; ``hint`` says what the user can do about it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message}\n  {hint}" if hint else message)
        self.message = message
        self.hint = hint


class SchemaError(StconError):
    """A JSON Schema that is broken, unsatisfiable or not enforceable.

    ``pointer`` is the JSON pointer of the keyword (as a URI fragment,
    ``#/properties/a/type``), ``keyword`` its name.
    """

    def __init__(
        self, message: str, *, pointer: str, keyword: str = "", hint: str = ""
    ) -> None:
        super().__init__(f"{pointer}: {message}", hint=hint)
        self.pointer = pointer
        self.keyword = keyword


class RegexError(StconError):
    """A regex that is broken or not regular; ``offset`` counts characters."""

    def __init__(
        self, message: str, *, pattern: str, offset: int, hint: str = ""
    ) -> None:
        start = max(0, offset - 30)
        before, after = (
            visible(part)
            for part in (pattern[start:offset], pattern[offset : offset + 30])
        )
        super().__init__(
            f"{message} at offset {offset}\n"
            f"    {before}{after}\n    {' ' * len(before)}^",
            hint=hint,
        )
        self.pattern = pattern
        self.offset = offset


class GrammarError(StconError):
    """A grammar that is broken or asks for what is not enforced.

    ``line`` and ``column`` count from 1; ``rule`` is the name of the rule that is
    being defined there, "" before the first one.
    """

    def __init__(
        self, message: str, *, text: str, offset: int, rule: str = "", hint: str = ""
    ) -> None:
        """``offset``: the character of ``text`` at which it is broken."""
        start = max(text.rfind("\n", 0, offset) + 1, offset - 40)
        stop = text.find("\n", offset)
        stop = min(len(text) if stop < 0 else stop, offset + 40)
        before, after = visible(text[start:offset]), visible(text[offset:stop])
        self.line = text.count("\n", 0, offset) + 1
        self.column = offset - text.rfind("\n", 0, offset)
        self.rule = rule
        where = f" in rule {rule}" if rule else ""
        super().__init__(
            f"line {self.line}, column {self.column}{where}: {message}\n"
            f"    {before}{after}\n    {' ' * len(before)}^",
            hint=hint,
        )


class LimitError(StconError):
    """A compile that would cost more than its limits allow, or a limit on tokens
    that no output can keep.

    ``what`` is ``"states"``, ``"seconds"``, ``"bytes"``, ``"depth"`` or
    ``"tokens"``; ``limit`` is the bound that was met, of tokens the least possible.
    """

    def __init__(
        self, message: str, *, what: str, limit: float, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.what = what
        self.limit = limit


class VocabularyError(StconError):
    """A tokenizer whose token bytes cannot be told, or cannot write a format."""


class HistoryError(StconError):
    """Tokens handed to a constraint that it does not allow; ``position`` is
    the index, in the history, of the first token that breaks the format."""

    def __init__(self, message: str, *, position: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.position = position


class ConstraintFileError(StconError):
    """A saved constraint that is damaged, too new, or for another tokenizer."""


class EngineError(StconError):
    """Another engine, for ``stcon.engines``, that is not installed or refuses."""
