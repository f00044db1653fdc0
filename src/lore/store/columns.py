"""Columns: how nouns become rows and back; the same for every database."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any, cast

from lore.admit import admit
from lore.model import Link, Memory
from lore.store.records import (
    KEYS,
    AccessToken,
    AnyRecord,
    Bookmark,
    ConsolidationRun,
    DigestProgress,
    FieldStamps,
    Job,
    Judgement,
    PhaseMark,
    Record,
    SessionAnswers,
    Spending,
    SyncMark,
)

USE = (
    "access_count",
    "access_days",
    "last_accessed_at",
    "last_reinforced_at",
    "activation",
    "activated_at",
)
"""The fields of a Memory that reading changes; they live in `usage`."""

KNOWLEDGE = (
    "namespace", "kind", "type", "title", "summary", "content", "context", "status", "importance", "score",
    "confidence", "confidence_count", "source", "source_type", "session", "channel", "project", "trust",
    "created_at", "updated_at", "superseded_by", "superseded_at", "forgotten_at", "forgotten_reason", "flags",
    "metadata", "author",
)  # fmt: skip
"""The fields of a Memory that a writer decides."""

TEXTS = (
    "type", "title", "summary", "content", "context", "status", "source", "session", "channel",
    "forgotten_reason", "flags", "metadata",
)  # fmt: skip
"""The fields of a Memory that may hold any text, and so a secret."""

LINK = (
    "kind", "type", "weight", "score", "confidence", "confidence_count", "reason", "active", "ended_at",
    "created_at", "updated_at", "created_by",
)  # fmt: skip
"""The fields of a Link besides its ids and ends."""

MEMORY_FIELDS = ("alias", "id", "depth", *KNOWLEDGE, *USE)
LINK_FIELDS = ("alias", "id", "source", "target", *LINK)

Row = tuple[Any, ...]
Parameters = dict[str, Any]
Rows = Callable[[str, Parameters | Sequence[Any]], list[Row]]
"""Runs one statement to its end, with parameters by name or in their order."""

_values = attrgetter(*KNOWLEDGE, *USE)
_texts = attrgetter(*TEXTS)
_link_values = attrgetter(*LINK)
_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
_FLAGS, _METADATA = KNOWLEDGE.index("flags"), KNOWLEDGE.index("metadata")
_ACTIVE = LINK.index("active")
_REAL = tuple(
    place
    for place, name in enumerate((*KNOWLEDGE, *USE))
    if Memory.__annotations__[name] in (float, float | None)
)


def memory_of(row: Row) -> Memory:
    """A row of MEMORY_FIELDS as a Memory."""
    values = dict(zip(MEMORY_FIELDS, row, strict=True))
    values["flags"] = frozenset() if values["flags"] == "[]" else frozenset(json.loads(values["flags"]))
    values["metadata"] = {} if values["metadata"] == "{}" else json.loads(values["metadata"])
    return Memory(**values)


def link_of(row: Row) -> Link:
    """A row of LINK_FIELDS as a Link."""
    values = dict(zip(LINK_FIELDS, row, strict=True))
    values["active"] = bool(values["active"])
    return Link(**values)


def values_of(memory: Memory) -> list[Any]:
    """KNOWLEDGE, then USE, as the columns hold them."""
    values = list(_values(memory))
    values[_FLAGS] = json.dumps(sorted(memory.flags)) if memory.flags else "[]"
    values[_METADATA] = _json(dict(memory.metadata)) if memory.metadata else "{}"
    for place in _REAL:
        if values[place] is not None:
            values[place] = float(values[place])
    return values


def columns_of(memory: Memory) -> Parameters:
    """What a writer decides about a memory, by column."""
    return dict(zip(KNOWLEDGE, values_of(memory), strict=False))


def with_columns(memory: Memory, columns: Parameters) -> Memory:
    """The memory with these columns, which `columns_of` or the journal gave."""
    values = dict(columns)
    if "flags" in values:
        values["flags"] = frozenset(json.loads(values["flags"]))
    if "metadata" in values:
        values["metadata"] = json.loads(values["metadata"])
    return replace(memory, **values)


def admitted(columns: Parameters) -> Parameters:
    """Columns of a memory without secrets, as an older Lore may have stored them."""
    return {
        name: _json(admit(json.loads(value))) if name in ("flags", "metadata") else admit(value)
        for name, value in columns.items()
    }


def clean_memory(memory: Memory) -> Memory:
    """The memory without secrets."""
    texts = _texts(memory)
    clean = admit(texts)
    return memory if clean is texts else replace(memory, **dict(zip(TEXTS, clean, strict=True)))


def clean_link(link: Link) -> Link:
    """The link without secrets."""
    type, reason = admit(link.type), admit(link.reason)
    same = type is link.type and reason is link.reason
    return link if same else replace(link, type=type, reason=reason)


def link_values_of(link: Link) -> list[Any]:
    """LINK as the columns hold it."""
    values = list(_link_values(link))
    values[_ACTIVE] = int(link.active)
    return values


def link_columns_of(link: Link) -> Parameters:
    """What a writer decides about a link, by column."""
    return dict(zip(LINK, link_values_of(link), strict=True))


def link_with_columns(link: Link, columns: Parameters) -> Link:
    """The link with these columns, which `link_columns_of` or the journal gave."""
    values = link_columns_of(link) | columns
    return replace(link, **values | {"active": bool(values["active"])})


@dataclass(frozen=True, slots=True)
class RecordTable:
    """Where the records of one kind are: the table, its key, and its columns.

    as_json: columns that hold JSON. as_text: numbers that are too large for the database's integers.
    """

    name: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    as_json: frozenset[str] = frozenset()
    as_text: frozenset[str] = frozenset()

    def row(self, record: Record) -> list[Any]:
        """The values of a record as the columns hold them."""
        return [self._encoded(name, getattr(record, name)) for name in self.columns]

    def _encoded(self, name: str, value: Any) -> Any:
        if name in self.as_json:
            return _json(dict(value) if isinstance(value, Mapping) else value)
        return str(value) if name in self.as_text else value

    def fields(self, row: Row) -> dict[str, Any]:
        """The fields of a record, from a row of its columns."""
        return {name: self._decoded(name, value) for name, value in zip(self.columns, row, strict=True)}

    def _decoded(self, name: str, value: Any) -> Any:
        if name in self.as_json:
            decoded = json.loads(value)
            return tuple(decoded) if isinstance(decoded, list) else decoded
        return int(value) if name in self.as_text else value


def _table(kind: type[Record], name: str, as_json: str = "", as_text: str = "") -> RecordTable:
    columns = tuple(field.name for field in fields(cast(Any, kind)))
    return RecordTable(name, KEYS[kind], columns, frozenset(as_json.split()), frozenset(as_text.split()))


RECORDS: dict[Any, RecordTable] = {
    Bookmark: _table(Bookmark, "bookmark", as_json="state", as_text="device inode"),
    Job: _table(Job, "job"),
    DigestProgress: _table(DigestProgress, "digest_progress"),
    SessionAnswers: _table(SessionAnswers, "session_answers", as_json="answers"),
    PhaseMark: _table(PhaseMark, "phase_mark", as_json="seen"),
    ConsolidationRun: _table(ConsolidationRun, "consolidation_run", as_json="phases counts remarks"),
    Spending: _table(Spending, "spending"),
    AccessToken: _table(AccessToken, "access_token", as_json="namespaces rights"),
    SyncMark: _table(SyncMark, "sync_mark", as_json="held"),
    FieldStamps: _table(FieldStamps, "field_stamps", as_json="stamps"),
    Judgement: _table(Judgement, "judgement"),
}


def record_of(kind: type[AnyRecord], row: Row) -> AnyRecord:
    """A row of a record's columns as that record."""
    return kind(**RECORDS[kind].fields(row))
