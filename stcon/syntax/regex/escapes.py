"""Escapes of one character or of a set of characters, in and outside classes.

Every escape is a row of a table; a letter or digit in no table is refused, since
engines disagree on what it means.  Sources: ECMA-262 (CharacterEscape and
CharacterClassEscape, with the u flag), and Python's re where the two agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from stcon.errors import RegexError
from stcon.syntax.charset import MAX_CODE_POINT, CharSet
from stcon.syntax.regex.cursor import Cursor
from stcon.syntax.regex.sets import DIGIT, SPACE, WORD
from stcon.syntax.regex.unicode import (
    find_property,
    folded,
    similar_property,
    unicode_version,
)

_CONTROLS = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11}
_SETS = {
    "d": DIGIT,
    "D": ~DIGIT,
    "w": WORD,
    "W": ~WORD,
    "s": SPACE,
    "S": ~SPACE,
}
# letter: what it means elsewhere, and the way out
_REFUSED = {
    "a": ("a bell in Python, the letter in ECMA", r"write \x07 or a"),
    "e": ("an escape character in some engines", r"write \x1B"),
    "k": ("a backreference, which is not regular", "write the group out again"),
    "g": ("a backreference, which is not regular", "write the group out again"),
    "N": ("a character by name", r"write \u{...} with its code point"),
    "U": ("a code point in Python only", r"write \u{...}"),
    "X": ("a grapheme cluster in some engines", r"write \P{M}\p{M}*"),
    "R": ("a line break in some engines", r"write (?:\r\n|[\n\r\u2028\u2029])"),
    "h": ("a blank in some engines", r"write [\t\p{Zs}]"),
    "H": ("no blank in some engines", r"write [^\t\p{Zs}]"),
    "K": ("a reset of the match in some engines", "leave it out"),
    "G": ("the end of the last match in some engines", "leave it out"),
    "Q": ("a quotation in some engines", "escape each special character"),
}
_HEX2 = re.compile("([0-9A-Fa-f]{2})")
_HEX4 = re.compile("([0-9A-Fa-f]{4})")
_BRACED = re.compile(r"\{([0-9A-Fa-f]+)\}")
_LOW = re.compile(r"\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
_LETTER = re.compile("([A-Za-z])")
_PROPERTY = re.compile(r"\{([A-Za-z0-9_=]+)\}")


def read_escape(cursor: Cursor, ignore_case: bool) -> int | CharSet:
    """The code point or the set that the escape at the cursor means.

    ``ignore_case`` concerns ``\\p`` only; a caller folds code points itself.
    """
    offset = cursor.at
    cursor.at += 1
    letter = cursor.char
    cursor.at += 1
    if letter in _READERS:
        return _READERS[letter](cursor, offset)
    if letter in _CONTROLS:
        return _CONTROLS[letter]
    if letter in _SETS:
        return _SETS[letter]
    if letter and letter in "pP":
        return _property(cursor, offset, letter, ignore_case)
    if letter.isascii() and letter.isalnum():
        raise _unknown(cursor, offset, letter)
    if not letter:
        raise cursor.error("nothing follows the backslash", offset, r"write \\")
    return one_character(cursor, letter, offset)


def one_character(cursor: Cursor, char: str, offset: int) -> int:
    """The code point of a character of the pattern; a lone surrogate is none."""
    if "\ud800" <= char <= "\udfff":
        raise _lone_surrogate(cursor, offset)
    return ord(char)


def _zero(cursor: Cursor, offset: int) -> int:
    if cursor.char.isdigit():
        raise cursor.error(
            "octal escapes are not supported", offset, r"write \xHH or \0 alone"
        )
    return 0


def _two_digits(cursor: Cursor, offset: int) -> int:
    found = cursor.take(_HEX2)
    if not found:
        raise cursor.error(r"\x needs two hexadecimal digits", offset)
    return int(found[1], 16)


def _control(cursor: Cursor, offset: int) -> int:
    found = cursor.take(_LETTER)
    if not found:
        raise cursor.error(r"\c needs a letter, as in \cA", offset)
    return ord(found[1]) % 32


def _code_point(cursor: Cursor, offset: int) -> int:
    """``\\u{...}``, ``\\uXXXX``, or two of these that are one character."""
    braced = cursor.take(_BRACED)
    if braced:
        digits = braced[1].lstrip("0")
        if len(digits) > 6 or int(digits or "0", 16) > MAX_CODE_POINT:
            raise cursor.error("there is no character beyond U+10FFFF", offset)
        point = int(digits or "0", 16)
    else:
        found = cursor.take(_HEX4)
        if not found:
            raise cursor.error(
                r"\u needs four hexadecimal digits or a code point in braces", offset
            )
        point = int(found[1], 16)
        low = cursor.take(_LOW) if 0xD800 <= point < 0xDC00 else None
        if low:
            point = 0x10000 + ((point - 0xD800) << 10) + int(low[1], 16) - 0xDC00
    if 0xD800 <= point <= 0xDFFF:
        raise _lone_surrogate(cursor, offset)
    return point


_READERS: Mapping[str, Callable[[Cursor, int], int]] = {
    "0": _zero,
    "x": _two_digits,
    "c": _control,
    "u": _code_point,
}


def _property(cursor: Cursor, offset: int, letter: str, ignore_case: bool) -> CharSet:
    """The set of ``\\p{...}`` or ``\\P{...}``."""
    found = cursor.take(_PROPERTY)
    if not found:
        raise cursor.error(
            f"\\{letter} needs the name of a Unicode property in braces",
            offset,
            rf"as in \{letter}{{Lu}} or \{letter}{{Script=Greek}}",
        )
    charset = find_property(found[1])
    if charset is None:
        close = similar_property(found[1])
        raise cursor.error(
            f"there is no property {found[1]!r} in Unicode {unicode_version()}",
            offset,
            f"did you mean {close}?" if close else "see docs/regex.md for the kinds",
        )
    return _variant(charset, ignore_case, letter == "P")


@lru_cache(maxsize=64)
def _variant(charset: CharSet, fold: bool, negated: bool) -> CharSet:
    """The set, in either case if wanted, and then all others if wanted."""
    charset = folded(charset) if fold else charset
    return ~charset if negated else charset


def _unknown(cursor: Cursor, offset: int, letter: str) -> RegexError:
    if letter.isdigit():
        return cursor.error(
            f"\\{letter} is a backreference, which is not regular",
            offset,
            "write the group out again, or the cases one by one",
        )
    if letter in "bBAZz":  # read before this in a pattern, so this is a class
        return cursor.error(
            f"\\{letter} is no character", offset, "move it out of the class"
        )
    what, hint = _REFUSED.get(letter, ("", "leave out the backslash"))
    also = f" ({what})" if what else ""
    return cursor.error(f"unknown escape \\{letter}{also}", offset, hint)


def _lone_surrogate(cursor: Cursor, offset: int) -> RegexError:
    return cursor.error(
        "a lone surrogate is no character",
        offset,
        r"write both halves, or the code point in \u{...}",
    )
