"""Lorekeeper: the JSON that its dashboard exports, and its SQLite database with sessions and suggestions."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, cast

import apsw

from lore.model import LinkKind, Memory
from lore.store.values import Suggestion, SuggestionStatus
from lore.transfer.items import (
    Item,
    Unreadable,
    id_of,
    kept,
    link_between,
    number,
    seconds_of,
    text,
)
from lore.transfer.tables import Fields, rows_of

NAME = "lorekeeper"
TABLES = ("memories", "memory_links", "sessions", "reflections", "link_suggestions")
LEGACY = {
    "related_to": "references", "used_in": "part_of", "used_for": "references", "used_by": "depends_on",
    "used_as": "references",
}  # fmt: skip
"""Relation types of its older versions -> those that it reads them as."""
SECTIONS = {
    "summary": "",
    "what_was_done": "What was done",
    "decisions": "Decisions",
    "lessons_learnt": "Lessons learnt",
    "good_patterns": "Good patterns",
    "user_profile_updates": "About the user",
    "user_profile": "About the user",
    "factual_discoveries": "Discoveries",
    "discoveries": "Discoveries",
}
"""Fields of a session and its reflection -> headings in the account of the session."""
RELATION: LinkKind = "associative"


def of_document(document: Fields) -> Iterator[Item]:
    """The memories and links of an export."""
    yield from _memories(_list(document, "memories"))
    yield from _links(_list(document, "links"))


def of_database(db: apsw.Connection) -> Iterator[Item]:
    """The memories, sessions, links and judged suggestions of a database."""
    yield from _memories(rows_of(db, "memories"))
    reflections = {text(row, "id"): row for row in rows_of(db, "reflections")}
    for row in rows_of(db, "sessions"):
        yield _session(row, reflections.get(text(row, "reflection_id"), {}))
    yield from _links(rows_of(db, "memory_links"))
    yield from _suggestions(rows_of(db, "link_suggestions"))


def _list(document: Fields, name: str) -> list[Any]:
    value = document.get(name)
    return value if isinstance(value, list) else []


def _memories(rows: Iterable[Any]) -> Iterator[Item]:
    for place, row in enumerate(rows, 1):
        if isinstance(row, dict) and text(row, "id") and text(row, "content", "description", "title"):
            yield kept(_memory(row))
        else:
            yield Unreadable(f"memory {place}", "it has no id or no text")


def _memory(row: Fields) -> Memory:
    created = seconds_of(row.get("created_at"), 0.0) or 0.0
    updated = seconds_of(row.get("updated_at"), created) or created
    used, uses = seconds_of(row.get("last_used")), int(number(row, "usage_count", 0))
    title, description = text(row, "title"), text(row, "description")
    rating = row.get("confidence")
    return Memory(
        id=id_of(NAME, text(row, "id")),
        namespace=text(row, "namespace"),
        title=title,
        summary="" if description == title else description,
        content=text(row, "content", "description", "title"),
        score=number(row, "score", 5.0, most=10.0),
        confidence=number(row, "confidence", 0.0, most=10.0) if isinstance(rating, int | float) else None,
        confidence_count=int(number(row, "confidence_count", 0)),
        source=NAME,
        source_type=text(row, "source_type") or "unknown",
        created_at=created,
        updated_at=updated,
        forgotten_at=updated if row.get("soft_deleted") else None,
        forgotten_reason="soft-deleted in Lorekeeper" if row.get("soft_deleted") else "",
        access_count=uses,
        access_days=min(uses, 1),
        last_accessed_at=used,
        last_reinforced_at=used,
        metadata={"lorekeeper_id": text(row, "id")},
    )


def _session(row: Fields, reflection: Fields) -> Item:
    """A session with its reflection: one account, as `reflect` keeps it."""
    name, fields = text(row, "session_id"), {**row, **{k: v for k, v in reflection.items() if v}}
    sections = dict.fromkeys(
        f"{heading}:\n{body}" if heading else body
        for field, heading in SECTIONS.items()
        if (body := text(fields, field))
    )
    if not name or not sections:
        return Unreadable(f"session {name or '?'}", "it has no id or no text")
    at = seconds_of(row.get("reviewed_at")) or seconds_of(reflection.get("created_at")) or 0.0
    details = {key: text(row, key) for key in ("session_date", "task_type") if text(row, key)}
    ids = [id_of(NAME, id) for id in _json_list(reflection.get("memory_ids")) if isinstance(id, str)]
    return kept(
        Memory(
            id=id_of(NAME, "session", name),
            namespace="",
            kind="reflection",
            type="session",
            title=text(row, "topic") or next(iter(sections)),
            content="\n\n".join(sections),
            session=name,
            source=NAME,
            created_at=at,
            updated_at=at,
            metadata={**details, **({"memory_ids": ids} if ids else {})},
        )
    )


def _json_list(value: object) -> list[Any]:
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return []
    return found if isinstance(found, list) else []


def _links(rows: Iterable[Any]) -> Iterator[Item]:
    for place, row in enumerate(rows, 1):
        ends = (
            [text(row, f"{end}_memory_id") for end in ("source", "target")] if isinstance(row, dict) else []
        )
        if not all(ends) or len(set(ends)) != 2:
            yield Unreadable(f"link {place}", "it has no two ends")
            continue
        type = text(row, "relation_type") or "references"
        rating = row.get("confidence")
        yield link_between(
            id_of(NAME, ends[0]),
            id_of(NAME, ends[1]),
            RELATION,
            seconds_of(row.get("created_at"), 0.0) or 0.0,
            type=LEGACY.get(type, type),
            score=number(row, "score", 1.0),
            confidence=float(rating) if isinstance(rating, int | float) else None,
            confidence_count=int(number(row, "confidence_count", 0)),
            reason=text(row, "reason"),
            created_by=NAME,
        )


def _suggestions(rows: Iterable[Fields]) -> Iterator[Item]:
    """Judged pairs, so that they are not suggested again."""
    for row in rows:
        source, target = (id_of(NAME, text(row, f"{end}_memory_id")) for end in ("source", "target"))
        status = text(row, "status")
        if status in ("accepted", "rejected"):
            at = seconds_of(row.get("created_at"), 0.0) or 0.0
            yield Suggestion(
                id=id_of(NAME, "suggestion", source, target),
                source=min(source, target),
                target=max(source, target),
                score=number(row, "weighted_score", 0.0, most=1.0),
                signals={
                    name: number(row, f"{name}_score", 0.0, most=1.0)
                    for name in ("cosine", "bm25", "entity", "temporal")
                },
                created_at=at,
                updated_at=seconds_of(row.get("updated_at"), at) or at,
                type=text(row, "suggested_type"),
                status=cast(SuggestionStatus, status),
            )
