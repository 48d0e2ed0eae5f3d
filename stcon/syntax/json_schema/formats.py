"""The formats of JSON Schema 2020-12, as regular expressions over characters.

Each is the grammar of its RFC; docs/json-schema.md lists where a grammar leaves a
choice (leap seconds, lengths of names) and which was taken.  Formats that no
regular expression describes are in ``KNOWN`` with the reason.
"""

from __future__ import annotations

from functools import cache

from stcon.syntax.regex import parse_regex
from stcon.syntax.rules import Expr

KNOWN = {
    "idn-email": "its domain follows the tables of IDNA 2008",
    "idn-hostname": "it follows the tables of IDNA 2008",
    "regex": "balanced brackets are not regular",
}

_31_DAYS = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
_30_DAYS = "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
_28_DAYS = "02-(?:0[1-9]|1[0-9]|2[0-8])"
_BY_FOUR = "(?:0[48]|[2468][048]|[13579][26])"
_LEAP_YEAR = f"(?:[0-9][0-9]{_BY_FOUR}|(?:00|{_BY_FOUR})00)"
_DATE = f"(?:[0-9]{{4}}-(?:{_31_DAYS}|{_30_DAYS}|{_28_DAYS})|{_LEAP_YEAR}-02-29)"

_HOUR, _SIXTY = "(?:[01][0-9]|2[0-3])", "[0-5][0-9]"
_SECONDS_FRACTION = r"(?:\.[0-9]+)?"
_OFFSET = f"(?:[Zz]|[+-]{_HOUR}:{_SIXTY})"
# A leap second ends a day in UTC: with the other offsets 11,018 states, not 34.
_TIME = (
    f"(?:{_HOUR}:{_SIXTY}:{_SIXTY}{_SECONDS_FRACTION}{_OFFSET}"
    f"|23:59:60{_SECONDS_FRACTION}(?:[Zz]|[+-]00:00))"
)
_ANY_TIME = f"{_HOUR}:{_SIXTY}:(?:{_SIXTY}|60){_SECONDS_FRACTION}{_OFFSET}"

_CLOCK = "(?:[0-9]+S|[0-9]+M(?:[0-9]+S)?|[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?)"
_CALENDAR = "(?:[0-9]+D|[0-9]+M(?:[0-9]+D)?|[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?)"
_DURATION = f"P(?:{_CALENDAR}(?:T{_CLOCK})?|T{_CLOCK}|[0-9]+W)"

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_H16 = "[0-9A-Fa-f]{1,4}"
_LS32 = f"(?:{_H16}:{_H16}|{_IPV4})"


def _ipv6() -> str:
    """RFC 3986, section 3.2.2: the nine places of the double colon."""
    forms = [f"(?:{_H16}:){{6}}{_LS32}"]
    for after in range(5, -1, -1):
        before = 5 - after
        head = f"(?:(?:{_H16}:){{0,{before - 1}}}{_H16})?" if before else ""
        forms.append(f"{head}::(?:{_H16}:){{{after}}}{_LS32}")
    forms.append(f"(?:(?:{_H16}:){{0,5}}{_H16})?::{_H16}")
    forms.append(f"(?:(?:{_H16}:){{0,6}}{_H16})?::")
    return "(?:" + "|".join(forms) + ")"


_IPV6 = _ipv6()
_LABEL = "[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?"
_HOSTNAME = rf"{_LABEL}(?:\.{_LABEL})*"

_ATOM = "[0-9A-Za-z!#$%&'*+/=?^_`{|}~-]+"
_QUOTED = r'"(?:[ !#-\[\]-~]|\\[ -~])*"'
_ANY_LABEL = "[0-9A-Za-z](?:[0-9A-Za-z-]*[0-9A-Za-z])?"


def _email(ipv4: str) -> str:
    """Mailbox of RFC 5321, section 4.1.2 (173 states; 36 without IPv6)."""
    host = rf"{_ANY_LABEL}(?:\.{_ANY_LABEL})*"
    ipv6 = "|".join(
        [
            f"(?:{_H16}:){{6}}(?:{_H16}:{_H16}|{ipv4})",
            *(_shortened(n, f"(?:{_H16}(?::{_H16}){{0,{5 - n}}})?") for n in range(6)),
            _shortened(6, ""),
            *(_shortened(n, f"(?:{_H16}:){{0,{4 - n}}}{ipv4}") for n in range(5)),
        ]
    )
    literal = rf"\[(?:{ipv4}|[Ii][Pp][Vv]6:(?:{ipv6}))\]"
    return rf"(?:{_ATOM}(?:\.{_ATOM})*|{_QUOTED})@(?:{host}|{literal})"


def _shortened(groups: int, rest: str) -> str:
    """An IPv6 address with ``groups`` before its double colon."""
    return (f"{_H16}(?::{_H16}){{{groups - 1}}}" if groups else "") + f"::{rest}"


_PERCENT = "%[0-9A-Fa-f][0-9A-Fa-f]"
_SUB = "!$&'()*+,;="
_UCS = (
    r"\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF"
    + "".join(rf"\u{{{p:X}0000}}-\u{{{p:X}FFFD}}" for p in range(1, 14))
    + r"\u{E1000}-\u{EFFFD}"
)
_PRIVATE = r"\uE000-\uF8FF\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}"


def _uri(more: str, query_more: str) -> tuple[str, str]:
    """URI and URI-reference of RFC 3986; ``more`` are the characters RFC 3987
    adds, ``query_more`` those it adds in queries."""
    plain = rf"0-9A-Za-z._~{more}{_SUB}\-"
    pchar = f"(?:[{plain}:@]|{_PERCENT})"
    authority = (
        rf"(?:(?:[{plain}:]|{_PERCENT})*@)?"
        rf"(?:\[(?:{_IPV6}|[vV][0-9A-Fa-f]+\.[0-9A-Za-z._~:{_SUB}\-]+)\]"
        rf"|(?:[{plain}]|{_PERCENT})*)(?::[0-9]*)?"
    )
    rooted = f"/(?:{pchar}+(?:/{pchar}*)*)?"
    rootless = f"{pchar}+(?:/{pchar}*)*"
    no_colon = f"(?:[{plain}@]|{_PERCENT})+(?:/{pchar}*)*"
    query = rf"(?:\?(?:[{plain}:@/?{query_more}]|{_PERCENT})*)?"
    end = f"{query}(?:#(?:[{plain}:@/?]|{_PERCENT})*)?"
    network = f"//{authority}(?:/{pchar}*)*"
    absolute = f"[A-Za-z][0-9A-Za-z+.-]*:(?:{network}|{rooted}|{rootless})?{end}"
    relative = f"(?:{network}|{rooted}|{no_colon})?{end}"
    return absolute, f"(?:{absolute}|{relative})"


_URI, _URI_REFERENCE = _uri("", "")
_IRI, _IRI_REFERENCE = _uri(_UCS, _PRIVATE)

_VARIABLE = rf"(?:[0-9A-Za-z_]|{_PERCENT})(?:\.?(?:[0-9A-Za-z_]|{_PERCENT}))*"
_VARSPEC = rf"{_VARIABLE}(?:\*|:[1-9][0-9]{{0,3}})?"
_TEMPLATE = (
    rf"(?:[!#$&(-;=?-\[\]_a-z~{_UCS}{_PRIVATE}]|{_PERCENT}"
    rf"|\{{[+#./;?&=,!@|]?{_VARSPEC}(?:,{_VARSPEC})*\}})*"
)

_POINTER = "(?:/(?:[^~/]|~[01])*)*"

_PATTERNS = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}[Tt]{_TIME}",
    "duration": _DURATION,
    "email": _email(_IPV4),
    "hostname": _HOSTNAME,
    "ipv4": _IPV4,
    "ipv6": _IPV6,
    "uuid": "[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}",
    "uri": _URI,
    "uri-reference": _URI_REFERENCE,
    "iri": _IRI,
    "iri-reference": _IRI_REFERENCE,
    "uri-template": _TEMPLATE,
    "json-pointer": _POINTER,
    "relative-json-pointer": f"(?:0|[1-9][0-9]*)(?:#|{_POINTER})",
}

# All that the RFC allows, where not all of it is written.
_LOOSE_OCTET = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]?[0-9])"
_WIDEST = {
    **_PATTERNS,
    "time": _ANY_TIME,
    "date-time": f"{_DATE}[Tt]{_ANY_TIME}",
    "email": _email(rf"{_LOOSE_OCTET}(?:\.{_LOOSE_OCTET}){{3}}"),
}


NAMES = (*_PATTERNS, *KNOWN)


def is_format(name: str) -> bool:
    """Whether the format ``name`` is enforced."""
    return name in _PATTERNS


@cache
def language_of(name: str) -> Expr:
    """The strings of a format that are written, over characters."""
    return parse_regex(_PATTERNS[name], mode="full")


@cache
def widest_of(name: str) -> Expr:
    """All strings of a format: only others lack it.  Times hold a few more."""
    if _WIDEST[name] == _PATTERNS[name]:
        return language_of(name)
    return parse_regex(_WIDEST[name], mode="full")
