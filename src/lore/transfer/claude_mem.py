"""claude-mem: its database with sessions, the user's prompts, observations and summaries of sessions.

Its versions name the columns of sessions differently; rows are read by whichever names they have.
"""

import json
from collections.abc import Iterator

import apsw

from lore.model import DERIVED, Link, Memory
from lore.text import preview
from lore.transfer.conversations import TITLE, Message, Session, links_of, memory_of, turns_of
from lore.transfer.items import Item, Unreadable, id_of, kept, link_between, seconds_of, text
from lore.transfer.tables import Fields, rows_of

NAME = "claude-mem"
TABLES = ("sdk_sessions", "observations", "session_summaries", "user_prompts")
CLIENT_SESSION = ("content_session_id", "claude_session_id")
OWN_SESSION = ("memory_session_id", "sdk_session_id", "session_id")
SUMMARY = {
    "request": "Request", "investigated": "Investigated", "learned": "Learned", "completed": "Completed",
    "next_steps": "Next steps", "notes": "Notes",
}  # fmt: skip
LISTS = ("facts", "concepts", "files_read", "files_modified", "files_edited")


def of_database(db: apsw.Connection) -> Iterator[Item]:
    """The sessions with their prompts, the observations and the summaries."""
    sessions = dict(_sessions(db))
    names = {row_id: session.name for row_id, session in sessions.items()}
    messages = _prompts(db)
    by_name = {session.name: session for session in sessions.values()}
    for name, session in by_name.items():
        yield memory_of(session, messages.get(name, []))
        yield from turns_of(session, messages.get(name, []))
    for table in ("observations", "session_summaries"):
        for row in rows_of(db, table):
            yield _observation(row, names) if table == "observations" else _summary(row, names)
    for name, session in by_name.items():
        yield from links_of(session, messages.get(name, []))
    for table in ("observations", "session_summaries"):
        yield from (link for row in rows_of(db, table) for link in _origin(table, row, sessions))


def _sessions(db: apsw.Connection) -> Iterator[tuple[str, Session]]:
    """Its own name of each session, and the session under the name that the client gave it."""
    for row in rows_of(db, "sdk_sessions"):
        own, name = text(row, *OWN_SESSION), text(row, *CLIENT_SESSION, *OWN_SESSION)
        if name:
            at = _at(row, "started_at", "created_at")
            title = preview(text(row, "custom_title", "user_prompt"), TITLE)
            yield (
                own or name,
                Session(source=NAME, name=name, at=at, title=title, project=text(row, "project")),
            )


def _prompts(db: apsw.Connection) -> dict[str, list[Message]]:
    messages: dict[str, list[Message]] = {}
    for row in rows_of(db, "user_prompts"):
        if prompt := text(row, "prompt_text"):
            one = Message(key=text(row, "id"), role="user", text=prompt, at=_at(row, "created_at"))
            messages.setdefault(text(row, *CLIENT_SESSION, *OWN_SESSION), []).append(one)
    return messages


def _observation(row: Fields, names: dict[str, str]) -> Item:
    lists = {name: values for name in LISTS if (values := _listed(row.get(name)))}
    facts = "\n".join(f"- {fact}" for fact in lists.pop("facts", []))
    body = "\n\n".join(part for part in (text(row, "narrative", "text"), facts) if part)
    content = body or text(row, "subtitle", "title")
    if not content:
        return Unreadable(f"observation {text(row, 'id')}", "it has no text")
    at, session = _at(row, "created_at"), text(row, *OWN_SESSION)
    return kept(
        Memory(
            id=id_of(NAME, "observations", text(row, "id")),
            namespace="",
            type=text(row, "type"),
            title=text(row, "title"),
            summary=text(row, "subtitle"),
            content=content,
            source=NAME,
            source_type="inferred",
            session=names.get(session, session),
            project=text(row, "project"),
            created_at=at,
            updated_at=at,
            metadata={"claude_mem_id": text(row, "id"), **lists},
        )
    )


def _summary(row: Fields, names: dict[str, str]) -> Item:
    sections = [f"{heading}: {body}" for name, heading in SUMMARY.items() if (body := text(row, name))]
    if not sections:
        return Unreadable(f"summary {text(row, 'id')}", "it has no text")
    at, session = _at(row, "created_at"), text(row, *OWN_SESSION)
    return kept(
        Memory(
            id=id_of(NAME, "session_summaries", text(row, "id")),
            namespace="",
            kind="reflection",
            type="session",
            title=text(row, "request", "completed"),
            content="\n\n".join(sections),
            source=NAME,
            source_type="inferred",
            session=names.get(session, session),
            project=text(row, "project"),
            created_at=at,
            updated_at=at,
            metadata={"claude_mem_id": text(row, "id")},
        )
    )


def _origin(table: str, row: Fields, sessions: dict[str, Session]) -> Iterator[Link]:
    """From an observation or a summary to the session that it came from."""
    if session := sessions.get(text(row, *OWN_SESSION)):
        source = id_of(NAME, table, text(row, "id"))
        yield link_between(
            source, session.id, "relation", _at(row, "created_at"), type=DERIVED, created_by=NAME
        )


def _at(row: Fields, *names: str) -> float:
    for name in names:
        for value in (row.get(f"{name}_epoch"), row.get(name)):
            if (at := seconds_of(value)) is not None:
                return at
    return 0.0


def _listed(value: object) -> list[str]:
    """A list that is kept as JSON, or one entry per line."""
    if not isinstance(value, str) or not value.strip():
        return []
    try:
        found = json.loads(value)
    except ValueError:
        return [line.strip() for line in value.splitlines() if line.strip()]
    return [str(one) for one in found] if isinstance(found, list) else [str(found)]
