"""redact: secrets are replaced by their kind before anything is stored.

`tokens` knows secrets by their own form, `names` by the name before them, `syntax` by what is around them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lore.redact import names, syntax, tokens
from lore.redact.names import MARK, named_secret
from lore.redact.tokens import Span

__all__ = ["MARK", "Redacted", "named_secret", "redact"]

ROUNDS = 4
"""Where one secret is taken out, the next may begin: a text with secrets is read again."""
WITHOUT_SIGN = ("AKIA", "ASIA", "earer ")
"""Hints of the secrets that may stand in a text without any sign."""
_SIGN = re.compile(r"[0-9_=:'\"`>-]").search


@dataclass(frozen=True, slots=True)
class Redacted:
    """The text without its secrets, and the number of secrets of each kind, never the secrets."""

    text: str
    found: Mapping[str, int] = field(default_factory=dict)


def redact(text: str) -> Redacted:
    """Replace the secrets of a text; a second time changes nothing more."""
    found = _found(text)
    if not found:
        return Redacted(text)
    counts: Counter[str] = Counter()
    for _ in range(ROUNDS):
        text = _replaced(text, list(_joined(sorted(found))), counts)
        if not (found := _found(text)):
            break
    return Redacted(text, counts)


def _replaced(text: str, spans: list[Span], counts: Counter[str]) -> str:
    parts: list[str] = []
    end = 0
    for first, last, kind in spans:
        parts += (text[end:first], MARK, kind, "]")
        counts[kind] += 1
        end = last
    return "".join([*parts, text[end:]])


def _found(text: str) -> list[tuple[int, int, int, str]]:
    """Start, end, rank and kind of each secret; what has a form of its own ranks before what is named."""
    if not _SIGN(text) and not any(hint in text for hint in WITHOUT_SIGN):
        return []
    small = small_of(text)
    finds = (tokens.find(text), syntax.find(text, small), names.find(text, small))
    return [(first, last, rank, kind) for rank, spans in enumerate(finds) for first, last, kind in spans]


def _joined(spans: list[tuple[int, int, int, str]]) -> Iterator[Span]:
    """Spans that overlap are one, of the kind that ranks first."""
    current: tuple[int, int, int, str] | None = None
    for span in spans:
        if current and span[0] < current[1]:
            best = min(current, span, key=lambda one: one[2])
            current = (current[0], max(current[1], span[1]), best[2], best[3])
            continue
        if current:
            yield current[0], current[1], current[3]
        current = span
    if current:
        yield current[0], current[1], current[3]


def small_of(text: str) -> str:
    """The text in small letters and of the same length; letters that look like Latin ones become these."""
    if text.isascii():
        return text.lower()
    return text.replace("İ", "i").replace("ı", "i").replace("ſ", "s").lower()
