"""Text: what may be stored, which words and names count, how long a text is to a model."""

import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from lore.errors import Invalid
from lore.grams import split, unspaced
from lore.patterns import regex

CONTENT_LIMIT_BYTES = 50_000
REASON_LIMIT_BYTES = 1_000
NAMESPACE_LIMIT_BYTES = 400
TITLE_LIMIT_BYTES = 1_000
SHORT_LIMIT_BYTES = 500
"""Bytes of a title, and of a type, a status or another short field."""
LATEST_SECONDS = 253_402_214_400.0
"""The last day of the year 9999: no calendar has a later one."""
TERMS_LIMIT = 64
CHARACTERS_PER_TOKEN = 4
LABEL_WIDTH = 80

_WORD = regex(r"[^\W_]+")
_MARKS = regex("#{2,}")
_PASSWORD_OF_USER = regex(r"^(\w+://[^:@/?#]*):[^/?#]*@")
_PASSWORD_PARAMETER = regex(r"(?<=[?&])(?:ssl)?password=[^&#]*&?", re.IGNORECASE)
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？")
_NAME = regex(
    r"""
    \b\d+(?:[.,]\d+){0,8}\s?(?:%|(?:ns|µs|us|ms|s|min|h|d|[kmgt]i?b|k|px|mm|cm|m|km|g|kg|hz|[kmg]hz|€|usd|eur)\b)
    | \b[^\W_]+(?:[_.][^\W_]+)+                             # identifiers: snake_case, file.py, 1.2.3
    | \b(?:[A-Z][\w'-]{0,60}[ \t]+)+[A-Z][\w'-]*            # Several Capitalised Words
    | \b(?:[a-z0-9]+[A-Z]\w*|[A-Z]+[a-z0-9]+[A-Z]\w*|[A-Z][A-Z0-9]+)\b  # mixedCase, MixedCase, ACRONYM
    | (?<=[\w,;:][ ])[A-Z]\w+                               # Capitalised within a sentence
    """,
    re.VERBOSE,
)

STOP_WORDS = frozenset(
    """a about after all also am an and any are as at be because been before being but by can could did do
    does doing don for from further had has have having he her here hers him his how i if in into is it its
    just me more most my no nor not now of off on once only or other our out over own s same she should so
    some such t than that the their them then there these they this those through to too under until up
    very was we were what when where which while who whom why will with would you your""".split()
)


def require_text(text: object, name: str, limit_bytes: int = CONTENT_LIMIT_BYTES) -> str:
    """`text` itself if it can be stored; otherwise Invalid says what is wrong with `name`."""
    if not isinstance(text, str):
        raise Invalid(f"{name} must be text, not {type(text).__name__}")
    if not text.strip():
        raise Invalid(f"{name} is empty; give some text")
    return check_storable(text, name, limit_bytes)


def check_storable(text: str, name: str, limit_bytes: int = CONTENT_LIMIT_BYTES) -> str:
    """Like `require_text`, but an empty text may stay empty."""
    if "\0" in text:
        raise Invalid(f"{name} contains a NUL character at position {text.index(chr(0))}; remove it")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise Invalid(f"{name} is not valid Unicode: lone surrogate at position {error.start}") from None
    if size > limit_bytes:
        raise Invalid(f"{name} has {size:,} bytes; the limit is {limit_bytes:,}. Shorten it or split it")
    return text


def check_time(at: float | None, name: str) -> None:
    """Raise Invalid for a time that no calendar can show."""
    if at is not None and not 0 <= at <= LATEST_SECONDS:
        raise Invalid(f"{name} is {at}; it must be seconds since 1970, before the year 10000")


def without_password(url: str) -> str:
    """An address as it may be shown."""
    hidden = _PASSWORD_OF_USER.sub(r"\1@", url)
    return _PASSWORD_PARAMETER.sub("", hidden).rstrip("?&")


def words(text: str) -> list[str]:
    """Lower-cased runs of letters and digits, in order."""
    return _WORD.findall(text.lower())


def tokens(text: str) -> list[str]:
    """The words of a text as they are looked up: those that `terms` chooses from, each time they occur."""
    return split(text) if unspaced(text) else words(text)


def folded(text: str) -> str:
    """The text without case and with single spaces: two texts that are folded alike are the same text."""
    return " ".join(text.lower().split())


def terms(question: str) -> list[str]:
    """The distinct words worth looking up; when all are stop words, all of them.

    Where a script has no spaces between words, its grams stand for them (see `grams`).
    """
    distinct = list(dict.fromkeys(tokens(question)))
    telling = [word for word in distinct if word not in STOP_WORDS]
    return (telling or distinct)[:TERMS_LIMIT]


def names_in(text: str) -> frozenset[str]:
    """What looks like a name: capitalised words, identifiers, numbers with a unit; in lower case."""
    found = (" ".join(_named(match.group())) for match in _NAME.finditer(text))
    return frozenset(name for name in found if len(name) > 1)


def _named(name: str) -> list[str]:
    """A name without the article or the like that only began the sentence."""
    parts = name.lower().split()
    return parts[1:] if parts[0] in STOP_WORDS else parts


def overlap(question: str, text: str) -> float:
    """Likeness by words alone: .8 when contained, else .3 + .4 x the share of words found, else 0."""
    query, lower = question.strip().lower(), text.lower()
    if query and query in lower:
        return 0.8
    wanted = split(query) if unspaced(query) else query.split()
    found = sum(word in lower for word in wanted)
    return 0.3 + 0.4 * found / len(wanted) if found else 0.0


def tokens_in(text: str) -> int:
    """About how many tokens a language model pays for `text`; never less than one.

    A character from U+2E80 on (Chinese, Japanese, Korean, emoji) counts as one token, two other characters
    beyond Latin as one.
    """
    if text.isascii():
        return max(1, len(text) // CHARACTERS_PER_TOKEN)
    wide = sum(ord(character) > 0x2E7F for character in text)
    foreign = sum(ord(character) > 0x24F for character in text) - wide
    return max(1, wide + (2 * foreign + len(text) - wide - foreign) // CHARACTERS_PER_TOKEN)


def preview(text: str, width: int) -> str:
    """The text on one line, cut with an ellipsis to `width` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: max(0, width - 1)].rstrip() + "…"


def plain_name(name: str, width: int) -> str:
    """A name for a heading or the end of a line: one line that ends no frame and begins no section."""
    kept = "".join(" " if unicodedata.category(one)[0] in "CZ" or one in "<>[]|`" else one for one in name)
    return preview(_MARKS.sub(" ", kept).lstrip("#>*-+= "), width)


def label_of(title: str, content: str) -> str:
    """What to call a memory on one short line."""
    return preview(title or content, LABEL_WIDTH)


def passage_of(title: str, summary: str, content: str, context: str) -> str:
    """What the embedder reads of a memory: each part once, most telling first."""
    parts = (title, context, summary, content)
    return "\n".join(part for part in dict.fromkeys(parts) if part and not _repeats(part, content))


def _repeats(part: str, content: str) -> bool:
    return part != content and content.startswith(part)


def title_of(content: str) -> str:
    """The first sentence if it fits 80 characters, else the first words of the text."""
    text = content.strip()
    if len(text) <= 80:
        return text
    head = text[:80]
    for end in _SENTENCE_ENDS:
        if (at := head.rfind(end)) > 40:
            return head[: at + 1]
    if (at := head.rfind(" ")) > 0:
        return head[:at]
    if (at := text.find(" ", 80, 120)) > 0:
        return text[:at]
    return text[:120]


def comma_separated(text: str) -> tuple[str, ...]:
    """The names of a comma-separated list, each once."""
    return tuple(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))


def listed(names: Iterable[str]) -> str:
    """Names for a sentence, in order, comma-separated."""
    return ", ".join(sorted(names))


def compact(data: Any) -> str:
    """JSON without spaces: an agent pays for every character."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
