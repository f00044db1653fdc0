"""Reference Lore: its `memory.db` with fragments, edges and staged turns."""

import json
from collections.abc import Iterator
from pathlib import PurePath

import apsw

from lore.model import LINK_KINDS, Link, LinkKind, Memory
from lore.text import title_of
from lore.transfer.conversations import Message, Session, links_of, memory_of, turns_of
from lore.transfer.items import Item, Unreadable, id_of, kept, link_between, number, seconds_of, text
from lore.transfer.tables import Fields, rows_of

NAME = "reference-lore"
TABLES = ("fragments", "edges", "staged_turns")


def of_database(db: apsw.Connection) -> Iterator[Item]:
    """The fragments, the turns that wait to be digested, and all edges of a database."""
    for row in rows_of(db, "fragments"):
        yield _fragment(row)
    staged = list(_staged(db))
    for session, messages in staged:
        yield memory_of(session, messages)
        yield from turns_of(session, messages)
    for session, messages in staged:
        yield from links_of(session, messages)
    yield from _edges(db)


def _fragment(row: Fields) -> Item:
    id, content = text(row, "id"), text(row, "content")
    if not id or not content:
        return Unreadable(f"fragment {id or '?'}", "it has no id or no text")
    created = seconds_of(row.get("created_at"), 0.0) or 0.0
    accessed, successor = seconds_of(row.get("last_accessed")), text(row, "superseded_by")
    uses = int(number(row, "access_count", 0))
    return kept(
        Memory(
            id=id_of(NAME, id),
            namespace="",
            kind="fragment",
            title=title_of(content),
            content=content,
            importance=number(row, "importance", 0.5, most=1.0),
            source=NAME,
            session=text(row, "source_session"),
            superseded_by=id_of(NAME, successor) if successor else None,
            superseded_at=accessed or created if successor else None,
            created_at=created,
            updated_at=created,
            access_count=uses,
            access_days=min(uses, 1),
            last_accessed_at=accessed if uses else None,
            last_reinforced_at=seconds_of(row.get("last_reinforced")),
            metadata=_metadata(row),
        )
    )


def _metadata(row: Fields) -> dict[str, object]:
    try:
        given = json.loads(text(row, "metadata") or "{}")
    except ValueError:
        given = {"text": text(row, "metadata")}
    own = {
        "reference_lore_id": text(row, "id"),
        "relevance_there": number(row, "relevance_score", 1.0, most=1.0),
    }
    return {**(given if isinstance(given, dict) else {"value": given}), **own}


def _edges(db: apsw.Connection) -> Iterator[Link | Unreadable]:
    """The edges; of several parents of a fragment only the first one, because a memory has one place."""
    parents: set[str] = set()
    for row in rows_of(db, "edges"):
        source, target, kind = text(row, "source"), text(row, "target"), text(row, "kind")
        if not source or not target or source == target:
            yield Unreadable(f"edge {text(row, 'id')}", "it has no two ends")
            continue
        kind = kind if kind in LINK_KINDS else "associative"
        if kind == "hierarchical":
            if target in parents:
                yield Unreadable(f"edge {text(row, 'id')}", f"fragment {target} has another parent")
                continue
            parents.add(target)
        yield _edge(row, kind)


def _edge(row: Fields, kind: LinkKind) -> Link:
    return link_between(
        id_of(NAME, text(row, "source")),
        id_of(NAME, text(row, "target")),
        kind,
        seconds_of(row.get("created_at"), 0.0) or 0.0,
        weight=number(row, "weight", 1.0, most=1.0),
        reason=text(row, "content"),
        created_by=NAME,
    )


def _staged(db: apsw.Connection) -> Iterator[tuple[Session, list[Message]]]:
    """Turns that wait to be digested, by the transcript that they came from."""
    files: dict[str, list[Message]] = {}
    for row in rows_of(db, "staged_turns"):
        if content := text(row, "text"):
            at = seconds_of(row.get("staged_at"), 0.0) or 0.0
            one = Message(key=text(row, "id"), role=text(row, "role"), text=content, at=at)
            files.setdefault(text(row, "file_path"), []).append(one)
    for path, turns in files.items():
        yield Session(source=NAME, name=PurePath(path).stem or "staged", at=turns[0].at), turns
