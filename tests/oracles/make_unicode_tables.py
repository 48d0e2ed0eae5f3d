"""Writes stcon/syntax/regex/unicode.txt when run as a script.

Needs the PyPI packages ``regex`` (all properties and simple case folding) and
``fonttools`` (script names, the Unicode version, and a second opinion on every
code point's script).  Nothing of stcon and no other test uses either.

One property a line: kind, names, ranges.  A range is ``gap`` or ``gap+more``
in hexadecimal: ``gap`` code points after the range before, ``more + 1`` long.
The line ``fold`` holds the classes of simple case folding: ``gap,step,step``
is the least member, counted from the one before, and steps to the others.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from pathlib import Path

import regex
from fontTools.unicodedata import ScriptExtensions, Scripts

TABLES = Path(__file__).parents[2] / "stcon" / "syntax" / "regex" / "unicode.txt"
TEXT = "".join(map(chr, itertools.chain(range(0xD800), range(0xE000, 0x110000))))

CATEGORIES = """
Lu,Uppercase_Letter Ll,Lowercase_Letter Lt,Titlecase_Letter LC,Cased_Letter
Lm,Modifier_Letter Lo,Other_Letter L,Letter Mn,Nonspacing_Mark
Mc,Spacing_Mark Me,Enclosing_Mark M,Mark,Combining_Mark Nd,Decimal_Number,digit
Nl,Letter_Number No,Other_Number N,Number Pc,Connector_Punctuation
Pd,Dash_Punctuation Ps,Open_Punctuation Pe,Close_Punctuation
Pi,Initial_Punctuation Pf,Final_Punctuation Po,Other_Punctuation
P,Punctuation,punct Sm,Math_Symbol Sc,Currency_Symbol Sk,Modifier_Symbol
So,Other_Symbol S,Symbol Zs,Space_Separator Zl,Line_Separator
Zp,Paragraph_Separator Z,Separator Cc,Control,cntrl Cf,Format Cs,Surrogate
Co,Private_Use Cn,Unassigned C,Other
"""

BINARY = """
ASCII ASCII_Hex_Digit,AHex Alphabetic,Alpha Any Assigned Bidi_Control,Bidi_C
Bidi_Mirrored,Bidi_M Case_Ignorable,CI Cased Changes_When_Casefolded,CWCF
Changes_When_Casemapped,CWCM Changes_When_Lowercased,CWL
Changes_When_Titlecased,CWT Changes_When_Uppercased,CWU Dash
Default_Ignorable_Code_Point,DI Deprecated,Dep Diacritic,Dia Emoji
Emoji_Component,EComp Emoji_Modifier,EMod Emoji_Modifier_Base,EBase
Emoji_Presentation,EPres Extended_Pictographic,ExtPict Extender,Ext
Grapheme_Base,Gr_Base Grapheme_Extend,Gr_Ext Hex_Digit,Hex
IDS_Binary_Operator,IDSB IDS_Trinary_Operator,IDST ID_Continue,IDC ID_Start,IDS
Ideographic,Ideo Join_Control,Join_C Logical_Order_Exception,LOE Lowercase,Lower
Math Noncharacter_Code_Point,NChar Pattern_Syntax,Pat_Syn
Pattern_White_Space,Pat_WS Quotation_Mark,QMark Radical Regional_Indicator,RI
Sentence_Terminal,STerm Soft_Dotted,SD Terminal_Punctuation,Term
Unified_Ideograph,UIdeo Uppercase,Upper Variation_Selector,VS White_Space,space
XID_Continue,XIDC XID_Start,XIDS
"""

TURKIC = {"I", "i", "\u0130", "\u0131"}


def ranges(query: str) -> list[tuple[int, int]]:
    """The runs of code points that have a property."""
    found = regex.finditer(rf"\p{{{query}}}+", TEXT)
    pairs = [(ord(run[0][0]), ord(run[0][-1])) for run in found]
    out: list[tuple[int, int]] = []
    for first, last in pairs:  # a run of TEXT may jump over the surrogates
        if first < 0xD800 and last > 0xDFFF:
            out += [(first, 0xD7FF), (0xE000, last)]
        else:
            out.append((first, last))
    return out


def coded(pairs: Iterable[tuple[int, int]]) -> str:
    """The ranges as written in the file."""
    words = []
    end = 0
    for first, last in pairs:
        more = f"+{last - first:x}" if last > first else ""
        words.append(f"{first - end:x}{more}")
        end = last + 1
    return " ".join(words)


def script_lines() -> Iterable[str]:
    """The lines of Script, and of Script_Extensions where they differ."""
    for code, name in sorted(Scripts.NAMES.items(), key=lambda item: item[1]):
        try:
            own = ranges(f"Script={name}")
        except regex.error:  # Katakana_Or_Hiragana: no code points
            continue
        if own != second_opinion(code):
            raise ValueError(f"regex and fontTools differ on the script {name}")
        yield f"sc {name},{code} {coded(own)}"
        extended = ranges(f"Script_Extensions={name}")
        if extended != own:
            yield f"scx {name},{code} {coded(extended)}"


def second_opinion(code: str) -> list[tuple[int, int]]:
    """The ranges of one script, from fontTools."""
    ends = [*Scripts.RANGES[1:], 0x110000]
    rows = zip(Scripts.RANGES, ends, Scripts.VALUES, strict=True)
    text = "".join(
        "".join(map(chr, range(first, end)))
        for first, end, value in rows
        if value == code
    )
    out: list[tuple[int, int]] = []
    for point in map(ord, text):
        if 0xD800 <= point <= 0xDFFF:
            continue
        if out and out[-1][1] == point - 1 and point != 0xE000:
            out[-1] = (out[-1][0], point)
        else:
            out.append((point, point))
    return out


def fold_line() -> str:
    """The classes of simple case folding, Turkic mappings left out."""
    cased = r"[\p{CWCF}\p{CWL}\p{CWU}\p{CWT}]"
    text = "".join(regex.findall(cased, TEXT))
    words, done, before = [], set(), 0
    for char in text:
        same = set(regex.findall(regex.escape(char), text, regex.IGNORECASE))
        if char in TURKIC:
            same = {"I", "i"} & same if char in "Ii" else {char}
        if char in done or len(same) == 1:
            continue
        done |= same
        points = sorted(map(ord, same))
        steps = [b - a for a, b in itertools.pairwise([before, *points])]
        words.append(",".join(f"{step:x}" for step in steps))
        before = points[0]
    return "fold simple " + " ".join(words)


def lines() -> Iterable[str]:
    """The whole file."""
    version = re.search(r"Scripts-([\d.]+)\.txt", Path(Scripts.__file__).read_text())
    extensions = Path(ScriptExtensions.__file__).read_text()
    if version is None or f"ScriptExtensions-{version[1]}" not in extensions:
        raise ValueError("fontTools does not name its Unicode version")
    yield f"version {version[1]} https://www.unicode.org/terms_of_use.html"
    for names in CATEGORIES.split():
        pairs = [] if names == "Cs,Surrogate" else ranges(f"gc={names.split(',')[0]}")
        yield f"gc {names} {coded(pairs)}".rstrip()
    yield from script_lines()
    for names in BINARY.split():
        yield f"binary {names} {coded(ranges(names.split(',')[0]))}"
    yield fold_line()


if __name__ == "__main__":
    TABLES.write_text("\n".join(lines()) + "\n", encoding="ascii")
