"""Formats: the examples of the official test suite, and days of the calendar."""

from __future__ import annotations

import calendar
import json
from functools import cache

import pytest

from stcon.syntax.json_schema import compile_schema
from tests.syntax.json_schema.world import matcher

TABLE: dict[str, tuple[list[str], list[str]]] = {
    "time": (
        ["08:30:06Z", "23:59:60Z", "08:30:06.283185Z", "08:30:06+00:20", "08:30:06z"],
        ["24:00:00Z", "00:60:00Z", "00:00:61Z", "08:30:06", "22:59:60Z", "8:30:06Z"],
    ),
    "date-time": (
        ["1963-06-19T08:30:06.283185Z", "1990-12-31T15:59:50.123-08:00"],
        [
            "1990-02-31T15:59:59.123-08:00",
            "06/19/1963 08:30:06 PST",
            "2013-350T01:01:01",
        ],
    ),
    "duration": (
        [
            "P4DT12H30M5S",
            "P4Y",
            "PT0S",
            "P0D",
            "P1M",
            "PT1M",
            "PT36H",
            "P1DT12H",
            "P2W",
        ],
        ["PT1D", "4DT12H30M5S", "P", "P1YT", "PT", "P2D1Y", "P1D2H", "P1Y2W", "P1"],
    ),
    "email": (
        [
            "joe.bloggs@example.com",
            "te~st@example.com",
            '"joe bloggs"@example.com',
            "joe.bloggs@[127.0.0.1]",
            '"joe@bloggs"@example.com',
            "joe@[IPv6:::1]",
            "joe@[ipv6:1:2:3:4:5:6:7:8]",
            "joe@[IPv6:1:2:3:4:5:6:1.2.3.4]",
            "joe@[IPv6:1:2::5:6]",
            "joe@[IPv6:1::4:1.2.3.4]",
            "joe@[IPv6:1:2:3:4:5:6::]",
        ],
        [
            "joe@[::1]",
            "joe@[IPv6:1:2:3]",
            "joe@[IPv6:1::2::3]",
            # RFC 5321 wants two groups, at least, behind a double colon
            "joe@[IPv6:1:2:3:4:5:6:7::]",
            "joe@[IPv6:1:2:3::5:6:1.2.3.4]",
            "2962",
            ".test@example.com",
            "te..st@example.com",
            "a@[127.0.0.300]",
            "a@b=c",
        ],
    ),
    "hostname": (
        ["www.example.com", "a", "h0stn4me", "host-name", "a" * 63 + ".com"],
        ["-a-host-name-that-starts-with--", "a_b", "a" * 64, "", "a..b", "a-.com"],
    ),
    "ipv4": (
        ["192.168.0.1", "0.0.0.0", "255.255.255.255"],
        ["127.0.0.0.1", "256.1.1.1", "127.0", "0x7f000001", "087.10.0.1", "1.2.3.4/24"],
    ),
    "ipv6": (
        [
            "::1",
            "::",
            "::42:ff:1",
            "d6::",
            "1:d6::42",
            "1::d6:192.168.0.1",
            "1:2:3:4:5:6:7:8",
            "::ffff:192.168.0.1",
            "::abcd:192.168.0.1",
            "1:2:3:4:5:6::8",
        ],
        [
            "12345::",
            "1:1:1:1:1:1:1:1:1",
            "::laptop",
            "1:2:3:4:5:::8",
            "1:2:3",
            "::1%eth1",
            "1:2:3:4:5:6:7::8:9",
            "1:2:1.2.3.4",
            "1::2::3",
            ":2:3:4:5:6:7:8",
        ],
    ),
    "uuid": (
        [
            "2EB8AA08-aa98-11ea-b4aa-73b441d16380",
            "00000000-0000-0000-0000-000000000000",
        ],
        ["2eb8aa08-aa98-11ea-b4aa-73b441d1638", "2eb8aa08aa9811eab4aa73b441d16380"],
    ),
    "uri": (
        [
            "http://foo.bar/?baz=qux#quux",
            "urn:oasis:names",
            "mailto:a@example.com",
            "ftp://ftp.is.co.za/rfc/rfc1808.txt",
            "ldap://[2001:db8::7]/c=GB?one",
            "a:",
        ],
        [
            "//foo.bar/?baz",
            "/abc",
            "\\\\WINDOWS\\share",
            "abc",
            "http:// x",
            ":// y",
            "bar,baz:foo ",
            "http://a/<b>",
            "http://a/%zz",
        ],
    ),
    "uri-reference": (
        ["http://foo.bar/?q#f", "//foo.bar/", "/abc", "abc", "#fragment", "", "./a:b"],
        ["\\\\WINDOWS\\share", "#frag\\ment", "a b", "1a:b"],
    ),
    "iri": (["http://ƒøø.ßår/?∂éœ=πîx#πîüx", "http://a/b"], ["/abc", "âππ"]),
    "iri-reference": (["/âππ", "#ƒrägmênt", "âππ"], ["\\\\WINDOWS\\filëßåré"]),
    "uri-template": (
        ["http://example.com/dictionary/{term:1}/{term}", "a", "{?x,y*}", "{+a.b}"],
        ["http://example.com/dictionary/{term:1}/{term", "{}", "{a:0}", "a b"],
    ),
    "json-pointer": (
        ["/foo/bar~0/baz~1/%a", "", "/", "/foo/0", "/ ", '/k"l'],
        ["/foo/bar~", "/~0~", "#", "#/", "a", "0", "/~2"],
    ),
    "relative-json-pointer": (
        ["1", "0/foo/bar", "2/0/baz/1/zip", "0#", "120/foo"],
        ["/foo/bar", "-1/foo", "0##", "01/a", "", "+1/foo"],
    ),
}


@cache
def language(name: str) -> object:
    return matcher(compile_schema({"type": "string", "format": name}).rules)


def accepts(name: str, text: str) -> bool:
    matches = language(name)
    assert callable(matches)
    return bool(matches(json.dumps(text, ensure_ascii=False).encode()))


@pytest.mark.parametrize("name", TABLE)
def test_format(name: str) -> None:
    accept, reject = TABLE[name]
    assert [text for text in accept if not accepts(name, text)] == []
    assert [text for text in reject if accepts(name, text)] == []


@pytest.mark.parametrize("year", [1600, 1900, 1996, 2000, 2023, 2024, 2100])
def test_every_day_of_a_year(year: int) -> None:
    for month in range(14):
        for day in range(33):
            text = f"{year:04}-{month:02}-{day:02}"
            want = 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]
            assert accepts("date", text) == want, text


def test_date_is_nothing_else() -> None:
    for text in (
        "2024-1-01",
        "24-01-01",
        "2024-01-01T",
        "\uff12\uff10\uff12\uff14-01-01",
        "2024/01/01",
    ):
        assert not accepts("date", text), text


UNDECIDED = [
    ("time", "00:59:60+01:00"),
    ("date-time", "1998-12-31T15:59:60-08:00"),
    ("email", "joe@[127.0.0.001]"),
]


@pytest.mark.parametrize(("name", "text"), UNDECIDED)
def test_what_has_a_format_but_is_not_written(name: str, text: str) -> None:
    has_not = {"type": "string", "not": {"format": name}}
    for schema in (has_not, {"type": "string", "not": {"not": {"format": name}}}):
        assert not matcher(compile_schema(schema).rules)(f'"{text}"'.encode())
    assert not accepts(name, text)
    assert matcher(compile_schema(has_not).rules)(b'"x"')


def test_unknown_format_is_an_annotation() -> None:
    compiled = compile_schema({"type": "string", "format": "colour"})
    assert compiled.report["ignored"] == ["#/format"]
