"""The character sets with a name of their own: those of ECMA-262."""

from __future__ import annotations

from stcon.syntax.charset import CharSet

DIGIT = CharSet.of((0x30, 0x39))
WORD = DIGIT | CharSet.of((0x41, 0x5A), (0x61, 0x7A), "_")
# WhiteSpace (TAB, VT, FF, ZWNBSP and the category Zs) and LineTerminator
SPACE = CharSet.of(
    (0x09, 0x0D),
    *(0x20, 0xA0, 0x1680, (0x2000, 0x200A)),
    *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF),
)
LINE_ENDS = CharSet.of("\n\r\u2028\u2029")
