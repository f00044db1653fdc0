"""OpenCode: rows of its database become turns; only the tables session, message and part are read.

Each statement is run again and again with the mark that its last rows reached, until it gives none. What is
still being written comes again when it has changed, under the same name.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from lore.transcripts import fields, words
from lore.transcripts.base import Heading, Role, Said, Turn

NAME = "opencode"

Row: TypeAlias = Sequence[object]
Mark: TypeAlias = tuple[int, str]
"""The time of the latest change that was read, in milliseconds, and the id of what had changed."""

SESSIONS = """
    SELECT 'session', time_updated, id, parent_id, CAST(title AS BLOB), CAST(directory AS BLOB), time_created
    FROM session WHERE (time_updated, id) > (:since, :after) ORDER BY time_updated, id LIMIT :limit
"""
MESSAGES = """
    WITH RECURSIVE changed (id, at) AS MATERIALIZED (
        SELECT id, max(changed) FROM (
            SELECT id, time_updated AS changed FROM message WHERE time_updated >= :since
            UNION ALL SELECT message_id, time_updated FROM part WHERE time_updated >= :since
        ) GROUP BY id HAVING (max(changed), id) > (:since, :after) ORDER BY max(changed), id LIMIT :limit
    ), above (id, sender) AS (
        SELECT m.session_id, m.session_id FROM changed c JOIN message m ON m.id = c.id
        UNION SELECT a.id, s.parent_id FROM above a JOIN session s ON s.id = a.sender WHERE s.parent_id > ''
    ), root (id, session) AS MATERIALIZED (
        SELECT a.id, a.sender FROM above a LEFT JOIN session s ON s.id = a.sender
        WHERE s.parent_id IS NULL OR s.parent_id = ''
    )
    SELECT 'message', c.at, m.id AS message, ifnull(r.session, m.session_id), '' AS part,
        CAST(m.data AS BLOB), m.time_created AS began, CAST(s.directory AS BLOB),
        iif(s.parent_id > '', m.session_id, NULL)
        FROM changed c JOIN message m ON m.id = c.id LEFT JOIN session s ON s.id = m.session_id
        LEFT JOIN root r ON r.id = m.session_id
    UNION ALL
    SELECT 'part', c.at, p.message_id, p.session_id, p.id, CAST(p.data AS BLOB), m.time_created, NULL, NULL
        FROM changed c JOIN message m ON m.id = c.id JOIN part p ON p.message_id = c.id
    ORDER BY began, message, part
"""
"""The `:limit` messages that changed next, whole and as the conversation went, each before its parts.

They belong to the session that was begun by a person: that of a subagent is named last, and only tells who
spoke. Data comes as bytes: text that is not UTF-8 would end the reading."""
STATEMENTS = (SESSIONS, MESSAGES)
BEGINNING: Mark = (0, "")


def reached(rows: Iterable[Row], mark: Mark = BEGINNING) -> Mark:
    """How far rows of one statement go.

    A later run begins at this time with no id, for more may have changed within the same millisecond.
    """
    for row in rows:
        _, at, id = fields.columns(row, 3)
        if isinstance(at, int) and isinstance(id, str):
            mark = max(mark, (at, id))
    return mark


def turns(rows: Iterable[Row]) -> Iterator[Said]:
    """What rows of the statements say, in their order."""
    message = _Message(())
    for row in rows:
        kind = row[0] if row else None
        if kind == "session":
            yield from _heading(row)
        elif kind == "message":
            message = _Message(row)
        elif kind == "part":
            yield from message.part(row)


def _heading(row: Row) -> Iterator[Heading]:
    """What a session is called; a subagent's is none of its own."""
    _, _, id, sender, title, folder, created = fields.columns(row, 7)
    session = fields.text(id)
    if session and not fields.text(sender):
        yield Heading(
            session=session, title=fields.text(title), folder=fields.text(folder), at=words.moment(created)
        )


class _Message:
    """One message, whose parts follow; what the model thought waits for what it says."""

    def __init__(self, row: Row) -> None:
        _, _, id, session, _, data, began, directory, sent = fields.columns(row, 9)
        told = fields.mapping(fields.loaded(data))
        self.id = fields.text(id)
        self.session = fields.text(session)
        self.by = told.get("role")
        self.summary = told.get("summary") is True
        self.at = words.moment(fields.mapping(told.get("time")).get("created")) or words.moment(began)
        self.folder = fields.first((fields.mapping(told.get("path")).get("cwd"), directory))
        self.model = fields.first((told.get("modelID"), fields.mapping(told.get("model")).get("modelID")))
        self.agent = fields.first((told.get("agent"), sent)) if fields.text(sent) else ""
        self.thoughts: list[str] = []

    def part(self, row: Row) -> Iterator[Turn]:
        _, _, message, _, id, data = fields.columns(row, 6)
        part = fields.mapping(fields.loaded(data))
        uuid = fields.text(id)
        own = self.session and fields.text(message) == self.id and self.by in ("user", "assistant")
        if not uuid or not own:
            return
        kind = part.get("type")
        if kind == "text" and not part.get("synthetic") and not part.get("ignored"):
            yield from self._said(uuid, part)
        elif kind == "reasoning":
            self.thoughts.append(fields.text(part.get("text")))
        elif kind == "tool":
            yield from self._done(uuid, part)
        elif kind == "compaction":
            yield from self._summed_up(uuid, part)

    def _said(self, uuid: str, part: dict[str, Any]) -> Iterator[Turn]:
        text = words.spoken(fields.text(part.get("text")))
        if not text:
            return
        role: Role = "user" if self.by == "user" else "summary" if self.summary else "assistant"
        yield self._turn(uuid, role, text, part.get("time"), reasoning=fields.thought(self.thoughts))
        self.thoughts = []

    def _summed_up(self, uuid: str, part: dict[str, Any]) -> Iterator[Turn]:
        if text := words.spoken(fields.first((part.get("summary"), part.get("text")))):
            yield self._turn(uuid, "summary", text, part.get("time"))

    def _done(self, uuid: str, part: dict[str, Any]) -> Iterator[Turn]:
        state = fields.mapping(part.get("state"))
        status = state.get("status")
        if status not in ("completed", "error"):
            return
        exit = fields.mapping(state.get("metadata")).get("exit")
        answer = fields.outcome(state.get("error" if status == "error" else "output"))
        tool = fields.text(part.get("tool"))
        failed = status == "error" or (isinstance(exit, int) and exit != 0)
        text, full = fields.exchange(fields.call(state.get("input")), answer)
        if text := text or tool.strip():
            yield self._turn(uuid, "tool", text, state.get("time"), full=full, tool=tool, failed=failed)

    def _turn(self, uuid: str, role: Role, text: str, time: object, **more: Any) -> Turn:
        at = words.moment(fields.mapping(time).get("start"))
        return Turn(
            uuid=uuid,
            session=self.session,
            role=role,
            text=text,
            at=self.at if at is None else at,
            folder=self.folder,
            model="" if role == "user" else self.model,
            agent=self.agent,
            **more,
        )
