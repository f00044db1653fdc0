"""OpenCode: rows of the tables session, message and part of its database become turns.

Each statement is repeated from the position that its last rows reached until it returns none. A message that
is still being written is read again when it has changed, with the same ids.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, TypeAlias

import apsw

from lore.transcripts import fields, tool_calls, user_words
from lore.transcripts.databases import LATE_MILLISECONDS, RecentHashes, Row, hash_and_size, reaches
from lore.transcripts.turns import Heading, Role, State, Turn, TurnOrHeading

NAME = "opencode"
ASKING = "question"
"""The tool by which an agent asks the user."""

Position: TypeAlias = tuple[int, str]
"""The time of the latest change that was read, in milliseconds, and the id of the changed row."""
BEGINNING: Position = (0, "")
PAGE = 200
"""Messages per query."""

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
"""The next `:limit` messages that changed, whole and in the order of the conversation, each before its parts.

They belong to the session that a person began; the session of a subagent comes last and only names the
speaker. Data is cast to BLOB: text that is not UTF-8 would end the reading."""
STATEMENTS = (SESSIONS, MESSAGES)
HEADINGS = f"SELECT * FROM ({SESSIONS}) WHERE id IN (SELECT value FROM json_each(:ids))"
CHANGED = """
    SELECT max(time_updated, ifnull((SELECT max(p.time_updated) FROM part p WHERE p.message_id = m.id), 0))
    FROM message m WHERE id = :id
"""


class Reader:
    """Messages in the order of their changes, after the heading of their session; then changed sessions."""

    def __init__(self, db: apsw.Connection, state: Mapping[str, Any], written: int) -> None:
        self._db = db
        self._positions: dict[str, Position] = dict.fromkeys(STATEMENTS, BEGINNING)
        for statement, (at, id) in zip(STATEMENTS, state.get("positions", []), strict=False):
            self._positions[statement] = (at, id)
        self._hashes = RecentHashes(state)
        self._last: Sequence[Any] = state.get("last", BEGINNING)
        self._written: Position = (written, "")
        self._headed: set[str] = set()

    @property
    def state(self) -> State:
        positions = list(self._positions.values())
        return {"positions": positions, "hashes": self._hashes.listed(), "last": self._last}

    def continues(self) -> bool:
        at, id = self._last
        return not id or reaches(self._db.execute(CHANGED, {"id": id}).get, at)

    def __iter__(self) -> Iterator[tuple[int, Sequence[TurnOrHeading]]]:
        for position, size, turns in self._changed(MESSAGES):
            self._last = position if position[1] else self._last
            yield size, [*self._headings(turns), *turns]
        for _, size, headings in self._changed(SESSIONS):
            yield size, headings

    def _changed(self, statement: str) -> Iterator[tuple[Position, int, list[TurnOrHeading]]]:
        """Position, size and entries of each changed message or session; an empty piece ends a page."""
        position: Position = (max(0, self._positions[statement][0] - LATE_MILLISECONDS), "")
        while rows := self._rows(statement, position, PAGE):
            changed = False
            for id, group in groupby(rows, key=lambda row: str(row[2])):
                own = list(group)
                hash, size = hash_and_size(own)
                if not self._hashes.contains(id, hash):
                    changed = True
                    self._hashes.add(id, hash)
                    yield reached(own), size, list(entries(own))
            before, position = position, reached(rows, position)
            self._positions[statement] = max(self._positions[statement], min(position, self._written))
            if changed:
                yield BEGINNING, 0, []
            if position == before:
                return

    def _headings(self, turns: Sequence[TurnOrHeading]) -> list[TurnOrHeading]:
        """The headings of the sessions of these turns, each once per reading."""
        new = sorted({turn.session for turn in turns} - self._headed)
        self._headed.update(new)
        return list(entries(self._rows(HEADINGS, BEGINNING, -1, ids=json.dumps(new)))) if new else []

    def _rows(self, statement: str, position: Position, limit: int, **more: str) -> list[Row]:
        since, after = position
        return list(self._db.execute(statement, {"since": since, "after": after, "limit": limit, **more}))


def reached(rows: Iterable[Row], position: Position = BEGINNING) -> Position:
    """The latest position of these rows.

    A later run begins at this time without an id: more rows may have changed in the same millisecond.
    """
    for _, at, id, *_ in rows:
        if isinstance(at, int) and isinstance(id, str):
            position = max(position, (at, id))
    return position


def entries(rows: Iterable[Row]) -> Iterator[TurnOrHeading]:
    """The entries of rows of the statements, in their order."""
    message = None
    for row in rows:
        if row[0] == "session":
            yield from _heading(row)
        elif row[0] == "message":
            message = _Message(row)
        elif row[0] == "part" and message:
            yield from message.part(row)


def _heading(row: Row) -> Iterator[Heading]:
    """The heading of a session that is not a subagent's."""
    _, _, id, sender, title, folder, created, *_ = row
    if (session := fields.text(id)) and not fields.text(sender):
        at = fields.timestamp(created)
        yield Heading(session=session, title=fields.text(title), folder=fields.text(folder), at=at)


class _Message:
    """One message, whose parts follow. Reasoning waits for the next text."""

    def __init__(self, row: Row) -> None:
        _, _, id, session, _, data, began, directory, subagent = row
        record = fields.parse_object(data)
        self.id = fields.text(id)
        self.role = record.get("role")
        self.is_summary = record.get("summary") is True
        self.reasoning: list[str] = []
        self.frame = Turn(
            uuid="",
            session=fields.text(session),
            role="user" if self.role == "user" else "assistant",
            text="",
            at=fields.timestamp(fields.get(record, "time", "created")) or fields.timestamp(began),
            folder=fields.first(fields.get(record, "path", "cwd"), directory),
            model=fields.first(record.get("modelID"), fields.get(record, "model", "modelID")),
            agent=fields.first(record.get("agent"), subagent) if fields.text(subagent) else "",
        )

    def part(self, row: Row) -> Iterator[Turn]:
        _, _, message, _, id, data, *_ = row
        part, uuid = fields.parse_object(data), fields.text(id)
        own = self.frame.session and fields.text(message) == self.id and self.role in ("user", "assistant")
        if not uuid or not own:
            return
        frame, kind = replace(self.frame, uuid=uuid), part.get("type")
        if kind == "text" and not part.get("synthetic") and not part.get("ignored"):
            if text := fields.message(fields.text(part.get("text"))):
                role: Role = "summary" if self.is_summary and frame.role != "user" else frame.role
                reasoning, self.reasoning = fields.reasoning(self.reasoning), []
                yield _timed(replace(frame, role=role, text=text, reasoning=reasoning), part)
        elif kind == "reasoning":
            self.reasoning.append(fields.text(part.get("text")))
        elif kind == "tool":
            yield from _tool(part, frame)
        elif kind == "compaction" and (
            text := fields.message(fields.first(part.get("summary"), part.get("text")))
        ):
            yield _timed(replace(frame, role="summary", text=text), part)


def _tool(part: Mapping[str, Any], frame: Turn) -> Iterator[Turn]:
    state = fields.mapping(part.get("state"))
    status, exit = state.get("status"), fields.get(state, "metadata", "exit")
    if status not in ("completed", "error"):
        return
    output = tool_calls.output(state.get("error" if status == "error" else "output"))
    tool = fields.text(part.get("tool"))
    failed = status == "error" or (isinstance(exit, int) and exit != 0)
    text, full = tool_calls.with_result(tool_calls.call(state.get("input")), output)
    if text := text or tool.strip():
        yield _timed(replace(frame, role="tool", text=text, full=full, tool=tool, failed=failed), state)
    if tool == ASKING and not failed and (words := "\n".join(user_words.answers_of(output, {}))):
        yield _timed(replace(frame, uuid=f"{frame.uuid}:user", role="user", text=words, tool=tool), state)


def _timed(turn: Turn, record: Mapping[str, Any]) -> Turn:
    """The turn with the record's own time, if it has one. A user's turn has no model."""
    at = fields.timestamp(fields.get(record, "time", "start"))
    model = "" if turn.role == "user" else turn.model
    return replace(turn, at=turn.at if at is None else at, model=model)
