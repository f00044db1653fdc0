"""Rows: how databases give pages, traces, entries, suggestions and whole texts; the same for each of them."""

import base64
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from lore.errors import Invalid
from lore.model import Cause, Entry, Order, Trace
from lore.store.columns import Parameters, Row
from lore.store.values import Suggestion, SuggestionStatus
from lore.text import preview

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TRACE_FIELDS = tuple(Trace.__dataclass_fields__)
TEXT_KEYS: Mapping[Order, int] = {"shuffled": 1}
"""The number of sort keys of an order that are texts; they come first. All others are numbers."""
LARGEST = 1 << 63
"""Integers of a database are smaller."""


# --- pages
def encoded(position: Sequence[Any]) -> str:
    """A position in a listing as a cursor: opaque to callers."""
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode()


def decoded(cursor: str, length: int, texts: int = 0) -> list[Any]:
    """The position of a cursor; Invalid if no listing of `length` sort keys gave it.

    texts: the number of these keys that are texts.
    """
    try:
        position = json.loads(base64.urlsafe_b64decode(cursor))
    except (ValueError, RecursionError):
        position = None
    if not isinstance(position, list) or len(position) != length or not _is_place(position, texts):
        raise Invalid(
            f"unknown cursor {preview(cursor, 80)!r}; give the one of the page before, with the same order"
        )
    return position


def _is_place(position: list[Any], texts: int) -> bool:
    return all(map(_is_end_of_id, position[:texts])) and all(map(_is_number, position[texts:]))


def _is_end_of_id(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and "\0" not in value


def _is_number(value: Any) -> bool:
    """Whether a database has this number."""
    return type(value) in (int, float) and -LARGEST <= value < LARGEST


# --- values
def trace_of(row: Row) -> Trace:
    """A row of TRACE_FIELDS."""
    return Trace(**dict(zip(TRACE_FIELDS, row, strict=True)))


def entry_of(row: Row) -> Entry:
    """A row of the journal."""
    seq, at, batch, verb, surface, actor, reason, noun, id, before, after = row
    return Entry(
        seq=seq,
        at=at,
        batch=batch,
        cause=Cause(verb=verb, surface=surface, actor=actor, reason=reason),
        noun=cast(Literal["memory", "link"], noun),
        id=id,
        before=None if before is None else json.loads(before),
        after=None if after is None else json.loads(after),
    )


def suggestion_of(row: Row) -> Suggestion:
    """A row of a suggestion with the ids of its ends."""
    id, source, target, score, signals, type, status, created_at, updated_at = row
    return Suggestion(
        id=id,
        source=source,
        target=target,
        score=score,
        signals=json.loads(signals),
        type=type,
        status=cast(SuggestionStatus, status),
        created_at=created_at,
        updated_at=updated_at,
    )


# --- changes
def difference(old: Parameters, new: Parameters) -> tuple[Parameters, Parameters]:
    """The columns that differ: before and after."""
    changed = [name for name in new if new[name] != old[name]]
    return {name: old[name] for name in changed}, {name: new[name] for name in changed}


def columns_json(fields: Parameters | None) -> str | None:
    """Columns as the journal holds them."""
    if not fields:
        return None if fields is None else "{}"
    return json.dumps(fields, ensure_ascii=False)


def in_json(text: str) -> str:
    """A text as it stands inside a JSON document of a record."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


# --- whole texts
def packed_text(text: str) -> tuple[int, bytes]:
    """The number of characters and the bytes of a text."""
    return len(text), zstd.compress(text.encode())


def unpacked_text(characters: int, data: bytes) -> str | None:
    """The text of a row; None if the row is damaged."""
    try:
        text = zstd.decompress(data).decode()
    except (zstd.ZstdError, UnicodeDecodeError):
        return None
    return text if len(text) == characters else None
