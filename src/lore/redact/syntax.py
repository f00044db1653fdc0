"""Syntax: secrets that their surroundings give away: private keys, addresses, headers, commands."""

import re
from collections.abc import Iterator

from lore.patterns import regex
from lore.redact.names import is_reference, is_slug
from lore.redact.tokens import Span, mixed

BEGIN = regex(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
BODY = regex(r"(?:[A-Za-z0-9+/=:,-]{1,200}+|\\[nr]|[\s\"'+])*+")
"""What follows the head of a key that has no end."""
LONG = 24
"""Characters of a token that may be letters alone."""
LONGEST_KEY = 20_000
SHORTEST_BODY = 40
ADDRESS = regex(r"://[^\s/:@?#\"'<>]{0,100}+:(?P<value>[^\s/@\"'<>\[\]]{1,300}+)@")
AUTHORIZATION = regex(
    r"(?<![a-z0-9])authorization\\{0,2}[\"']?[\])]?[ \t]{0,4}[:=,][ \t]{0,4}\\{0,2}[\"'`]?"
    r"(?:[a-z][a-z0-9-]{2,20} )?"
    r"(?P<value>[\w.~+/=:-]{8,}+)"
)
SCHEME = regex(r"(?:bearer|basic)[ \t]{1,4}(?P<value>[\w.~+/=-]{12,}+)")
COOKIE = regex(
    r"cookie\\{0,2}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,2}[\"']?(?P<value>[^\s=;\"']{1,100}=[^\n\"']{8,4000}+)"
)
COOKIE_VALUE = regex(r"(?:^|;[ \t]{0,4})[^\s=;\"']{1,100}=(?P<value>[^\s;\"'\\]{12,}+)")
CURL = regex(r"[ \t](?:-u|--user|--proxy-user)[ =]{0,2}[\"']?[^\s:\"']{1,100}:(?P<value>[^\s\"'\\]{2,200}+)")
CURL_COOKIE = regex(r"[ \t](?:-b|--cookie)[ =]{0,2}[\"']?[^\s=;\"'@]{1,100}=(?P<value>[^\s;\"'\\]{8,}+)")
DASH_P = regex(r"[ \t]-p[ ]?[\"']?(?P<value>[^\s\"'\\-][^\s\"'\\]{2,200}+)")
ATTACHED_P = regex(r"[ \t]-p[\"']?(?P<value>[^\s\"'\\-][^\s\"'\\]{2,200}+)")
DASH_A = regex(r"[ \t]-a[ ]?[\"']?(?P<value>[^\s\"'\\-][^\s\"'\\]{2,200}+)")
IDENTIFIED = regex(
    r"identified(?: with [\w\"']{1,40})? by[ \t]{1,4}(?P<quote>['\"])(?P<value>[^'\"\n\\]{3,200}+)"
)
IDENTIFIED_BARE = regex(
    r"user[ \t]{1,4}[\w\"'@%.-]{1,100}[ \t]{1,4}identified by[ \t]{1,4}(?P<value>[^\s;'\"]{5,200}+)"
)
PAIR = regex(
    r"auth[ \t]?=?[ \t]?\([ \t]?[\"'][^\"'\n]{1,60}[\"'],[ \t]{0,4}(?:some\()?"
    r"[\"'](?P<value>(?=[^\"'\n]{0,60}[0-9])[^\"'\n]{6,200}+)"
)
"""User and password of a request: `auth=("ada", "…")`, `basic_auth("ada", "…")`."""
SECURE_STRING = regex(r"to-securestring[ \t]{1,4}(?:-string[ \t]{1,4})?[\"'](?P<value>[^\"'$\n]{3,200}+)")
CHPASSWD = regex(
    r"echo[ \t]{1,4}[\"']?[^\s:\"']{1,60}:(?P<value>[^\s:\"']{3,200}+)"
    r"[\"']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo )?chpasswd"
)
NPM = regex(r"(?<![a-z0-9])_auth[ \t]{0,2}=[ \t]{0,2}[\"']?(?P<value>[A-Za-z0-9+/=]{12,}+)")
CAPITAL_P = regex(r"[ \t]-P[ ]?[\"']?(?P<value>[^\s\"'\\-][^\s\"'\\]{2,200}+)")
DASH_W = regex(r"[ \t]-w[ ]?[\"']?(?P<value>[^\s\"'\\-][^\s\"'\\]{2,200}+)")
BODY_OPTION = regex(r"[ \t](?:-b|--body)[ =][\"']?(?P<value>[^\s\"'\\-][^\s\"'\\]{2,200}+)")
COMMANDS: tuple[tuple[str, tuple[re.Pattern[str], ...]], ...] = (
    ("curl", (CURL, CURL_COOKIE)),
    ("mysql", (ATTACHED_P,)),
    ("sshpass", (DASH_P,)),
    ("docker login", (DASH_P,)),
    ("redis-cli", (DASH_A,)),
    ("sqlcmd", (CAPITAL_P,)),
    ("ldap", (DASH_W,)),
    ("gh secret set", (BODY_OPTION,)),
)
PHRASES = {
    "identified ": ((IDENTIFIED, "identified", "password"), (IDENTIFIED_BARE, "user ", "password")),
    "auth": ((PAIR, "auth", "password"), (NPM, "_auth", "npm token")),
    "chpasswd": ((CHPASSWD, "echo", "password"),),
    "to-securestring": ((SECURE_STRING, "to-securestring", "password"),),
}
"""A sign that every such text holds -> patterns, the hint that their matches begin with, and the kind."""
LONGEST_COMMAND = 500
"""Characters behind a command's name in which its options are looked for."""


def find(text: str, small: str) -> list[Span]:
    """Secrets of all these kinds. small: the text in small letters."""
    found: list[Span] = []
    if ":" in text and "://" in text:
        found += _values(ADDRESS, "://", text, text, "password in an address")
    if "bearer " in small:
        found += _schemes(SCHEME, "bearer ", text, small)
    if "authorization" in small:
        found += _schemes(AUTHORIZATION, "authorization", text, small)
        found += _schemes(SCHEME, "basic ", text, small)
    if "=" in text and "cookie" in small:
        found += _cookies(text, small)
    if "-" in text:
        if "-----begin" in small:
            found += _keys(text)
        if " -" in text:
            found += _commands(text, small)
    found += _phrases(text, small)
    return found


def _phrases(text: str, small: str) -> Iterator[Span]:
    for sign, phrases in PHRASES.items():
        if sign in small:
            for pattern, hint, kind in phrases:
                yield from _values(pattern, hint, text, small, kind)


def _matches(pattern: re.Pattern[str], hint: str, small: str) -> Iterator[re.Match[str]]:
    """Matches that begin with the hint; none begins inside another, so that a text is read once."""
    at = small.find(hint)
    while at >= 0:
        match = pattern.match(small, at)
        if match:
            yield match
        at = small.find(hint, match.end() if match else at + len(hint))


def _values(pattern: re.Pattern[str], hint: str, text: str, small: str, kind: str) -> Iterator[Span]:
    for match in _matches(pattern, hint, small):
        if not is_reference(text[slice(*match.span("value"))]):
            yield (*match.span("value"), kind)


def _keys(text: str) -> Iterator[Span]:
    """From head to end; of a key without an end, as far as it looks like one."""
    at = 0
    while match := BEGIN.search(text, at):
        at = match.end()
        foot = text.find("-----END", at, at + LONGEST_KEY)
        end = BODY.match(text, at).end() if foot < 0 else foot  # type: ignore[union-attr]
        if sum(map(str.isalnum, text[at:end])) >= SHORTEST_BODY:
            at = end if foot < 0 else min(len(text), text.find("-----", foot + 8) + 5 or len(text))
            yield match.start(), max(at, end), "private key"


def _schemes(pattern: re.Pattern[str], hint: str, text: str, small: str) -> Iterator[Span]:
    for match in _matches(pattern, hint, small):
        first, last = match.span("value")
        value = text[first:last]
        hidden = is_reference(value) or text.startswith("***", last)
        if (mixed(value) or len(value) >= LONG) and not is_slug(value) and not hidden:
            yield (*match.span("value"), "authorization")


def _cookies(text: str, small: str) -> Iterator[Span]:
    for match in _matches(COOKIE, "cookie", small):
        first, last = match.span("value")
        for value in COOKIE_VALUE.finditer(text[first:last]):
            if mixed(value["value"]) and not is_slug(value["value"]) and not is_reference(value["value"]):
                yield first + value.start("value"), first + value.end("value"), "cookie"


def _commands(text: str, small: str) -> Iterator[Span]:
    for name, patterns in COMMANDS:
        start = small.find(name)
        while start >= 0:
            line = _line(text, start)
            for pattern in patterns:
                for match in pattern.finditer(line):
                    if not is_reference(match["value"]):
                        yield start + match.start("value"), start + match.end("value"), "password"
            start = small.find(name, start + len(line))


def _line(text: str, start: int) -> str:
    """The rest of a command: to the end of its line, or of the next where a backslash joins them."""
    line = text[start : start + LONGEST_COMMAND]
    end = line.find("\n")
    while end > 0 and line[end - 1] == "\\":
        end = line.find("\n", end + 1)
    return line if end < 0 else line[:end]
