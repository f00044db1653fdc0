"""Fields and texts of JSON that another program wrote. A value of the wrong type counts as missing."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

from lore.patterns import regex
from lore.redact import redact

LABEL_LIMIT = 1_000
"""Characters of a name, a path or a branch."""
RESULT_LIMIT = 2_000
"""Characters of a tool result that are searched."""
CALL_LIMIT = 300
"""Characters of a tool call that are searched."""
REASONING_LIMIT = 2_000
"""Characters of a model's reasoning that are kept."""
TEXT_LIMIT = 40_000
"""Characters of a message that are searched."""
MARGIN = 4_000
"""Characters around a cut in which secrets are looked for; only private keys are longer."""

INJECTED = regex(
    r"<(system-reminder|local-command-stdout|local-command-stderr|local-command-caveat|command-message|"
    r"command-args|command-name|command-contents|bash-stdout|bash-stderr|ide_opened_file|ide_selection|"
    r"user-prompt-submit-hook|new-diagnostics|environment_context|user_instructions|skills_instructions|"
    r"permissions instructions|session_context|task-notification)\b[^<>]*>"
)
"""Opening tags of text that a client adds to a message; the text ends at the closing tag."""
INTERRUPTED = regex(r"^\[Request interrupted by user[^\]]*\]$")
BASE64 = regex(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{200,}+={0,2}")
YEAR_1, YEAR_10000 = -62_135_596_800, 253_402_300_800
"""Seconds since 1970 of the first and behind the last date that `datetime` supports."""


# --- values


def parse(data: object) -> Any:
    """The value of JSON text or bytes; None if it is not JSON."""
    if isinstance(data, bytes):
        data = data.decode("utf-8", "replace")
    if not isinstance(data, str):
        return None
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def parse_object(data: object) -> dict[str, Any]:
    return mapping(parse(data))


def mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def array(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def objects(value: object) -> list[dict[str, Any]]:
    """The objects of an array."""
    return [item for item in array(value) if isinstance(item, dict)]


def blocks(content: object) -> list[dict[str, Any]]:
    """The blocks of a message. A message that is a string is one block of text."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


def get(value: object, *keys: str) -> Any:
    """The value below nested keys; None if it is missing."""
    for key in keys:
        value = mapping(value).get(key)
    return value


def text(value: object) -> str:
    """Text that can be stored: without NUL characters and unpaired surrogates."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if not isinstance(value, str):
        return ""
    try:
        value.encode()
    except UnicodeEncodeError:
        value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value.replace("\0", "")


def label(value: object) -> str:
    """A name, a path or a branch, shortened if it is longer than one can be."""
    return text(value)[:LABEL_LIMIT]


def first(*values: object) -> str:
    """The first value that is text and not blank."""
    return next((found for found in map(text, values) if found.strip()), "")


def joined(content: object) -> str:
    """The text of all blocks of a message, one after another."""
    return "\n".join(found for block in blocks(content) if (found := text(block.get("text"))))


def as_text(value: object) -> str:
    """Text as it is, any other value as JSON."""
    if isinstance(value, str | bytes) or value is None:
        return text(value)
    try:
        return text(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return ""


def digest(*parts: str | int) -> str:
    """A hash of these parts in this order: an id for something that has none."""
    return blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def timestamp(value: object) -> float | None:
    """Seconds since 1970 of an ISO 8601 time, of seconds or of milliseconds; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return in_calendar(value / 1000 if 1e11 < value < 1e15 else value)
    if not isinstance(value, str):
        return None
    try:
        at = datetime.fromisoformat(value)
        return in_calendar((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return None


def in_calendar(seconds: float) -> float | None:
    """Seconds since 1970 in the years 1 to 9999; None otherwise."""
    return float(seconds) if YEAR_1 <= seconds < YEAR_10000 else None


# --- texts


def message(text: str) -> str:
    """The words of a person or a model, without text that the client added."""
    text = without_injected(text).strip()
    return "" if INTERRUPTED.match(text) else text


def excerpt(text: str) -> str:
    """The part of a text that is searched: without base64, and shortened if it is very long."""
    return shorten(without_base64(text), TEXT_LIMIT)


def reasoning(parts: Iterable[str]) -> str:
    return shorten("\n\n".join(part for part in parts if part.strip()), REASONING_LIMIT)


def without_injected(text: str) -> str:
    """The text without what a client added. A tag that is never closed stays."""
    kept: list[str] = []
    unclosed: set[str] = set()
    end = 0
    for tag in INJECTED.finditer(text):
        closing = f"</{tag.group(1)}>"
        if tag.start() < end or closing in unclosed:
            continue
        at = text.find(closing, tag.end())
        if at < 0:
            unclosed.add(closing)  # searched once, so that the time stays linear
            continue
        kept.append(text[end : tag.start()])
        end = at + len(closing)
    return "".join([*kept, text[end:]])


def without_base64(text: str) -> str:
    """The text with each long run of base64 replaced by its length."""
    return BASE64.sub(lambda run: f"[{len(run.group()):,} characters of data]", text)


def shorten(text: str, limit: int) -> str:
    """At most about `limit` characters: the beginning, the end, and the number of characters left out.

    Secrets at the cuts are redacted first: no rule recognises half of one.
    """
    text = text.replace("\0", "").strip()
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    if len(text) > limit + 2 * MARGIN and "-----BEGIN" not in text:
        first, last = redact(text[: head + MARGIN]).text, redact(text[-tail - MARGIN :]).text
    else:
        first = last = redact(text).text
        if len(first) <= limit:
            return first
    return f"{first[:head]}\n[… {len(text) - head - tail:,} characters …]\n{last[-tail:]}"
