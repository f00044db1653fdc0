"""clean: take secrets out of a turn → cut it to an excerpt to search, and the whole beside it."""

from collections import Counter
from dataclasses import replace

from lore.redact import redact
from lore.transcripts import fields
from lore.transcripts.turns import Heading, Turn

LONGEST_BYTES = 49_000
"""Bytes of a memory's content."""


def clean_turn(turn: Turn, hidden: Counter[str]) -> Turn:
    """The turn without secrets: `text` as far as it is searched, `full` the whole if that is more.

    hidden: counts the secrets, by kind.
    """
    whole = _without_secrets(turn.full or turn.text, hidden)
    text = _limited(fields.excerpt(_without_secrets(turn.text, Counter()) if turn.full else whole))
    reasoning = _limited(_without_secrets(turn.reasoning, hidden))
    full = "" if whole == text else whole
    if (text, full, reasoning) == (turn.text, turn.full, turn.reasoning):
        return turn
    return replace(turn, text=text, full=full, reasoning=reasoning)


def clean_heading(heading: Heading, hidden: Counter[str]) -> Heading:
    """The heading without secrets, which are counted."""
    return replace(heading, title=_limited(_without_secrets(heading.title, hidden)))


def _without_secrets(text: str, hidden: Counter[str]) -> str:
    if not text:
        return text
    redacted = redact(_storable(text).strip())
    if redacted.found:
        hidden.update(redacted.found)
    return redacted.text


def _storable(text: str) -> str:
    """In characters that can be stored."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _limited(text: str) -> str:
    """As much as a memory holds."""
    return text if len(text) * 4 <= LONGEST_BYTES else text.encode()[:LONGEST_BYTES].decode("utf-8", "ignore")
