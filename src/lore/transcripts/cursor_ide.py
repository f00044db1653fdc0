"""Cursor's editor: composers and their bubbles, stored as keys and values, become the turns of a session."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import apsw

from lore.transcripts import fields, tool_calls
from lore.transcripts.databases import LATE_MILLISECONDS, RecentHashes, Row, hash_and_size, reaches
from lore.transcripts.turns import Heading, State, Turn, TurnOrHeading

NAME = "cursor-ide"

COMPOSERS = """
    SELECT key, changed FROM (
        SELECT key, CASE WHEN json_valid(CAST(value AS TEXT))
            AND json_type(CAST(value AS TEXT), '$.lastUpdatedAt') IN ('integer', 'real')
            THEN json_extract(CAST(value AS TEXT), '$.lastUpdatedAt') END AS changed
        FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;'
    ) WHERE changed IS NULL OR changed >= :since ORDER BY changed, key
"""
"""Keys of the composers that changed since, or that have no time of change, in the order of their changes.

The range is `composerData:%` in a form that uses the index: the file may have a gigabyte."""
COMPOSER = "SELECT key, CAST(value AS BLOB) FROM cursorDiskKV WHERE key = ?"
BUBBLES = """
    SELECT key, CAST(value AS BLOB) FROM cursorDiskKV
    WHERE key >= 'bubbleId:' || :composer || ':' AND key < 'bubbleId:' || :composer || ';'
"""

PIECE = 200
"""Entries of a conversation in one piece; a longer conversation counts as read after its last piece."""
USER, ASSISTANT = 1, 2
FAILED = {"error", "failed", "cancelled", "rejected", "aborted"}
STEP_SECONDS = 0.001
"""The time between two bubbles if the later one has none."""


class Reader:
    """Composers in the order of their changes; those without a time of change come first."""

    def __init__(self, db: apsw.Connection, state: Mapping[str, Any], written: int) -> None:
        self._db = db
        self._since: float = state.get("since", 0)
        self._hashes = RecentHashes(state)
        self._last: Sequence[Any] = state.get("last", (0, ""))
        self._written = written

    @property
    def state(self) -> State:
        return {"since": self._since, "hashes": self._hashes.listed(), "last": self._last}

    def continues(self) -> bool:
        at, key = self._last
        rows = self._db.execute(COMPOSER, (key,)).fetchall()
        return not key or any(
            reaches(fields.get(fields.parse(value), "lastUpdatedAt"), at) for _, value in rows
        )

    def __iter__(self) -> Iterator[tuple[int, Sequence[TurnOrHeading]]]:
        since = {"since": self._since - LATE_MILLISECONDS}
        for name, changed in self._db.execute(COMPOSERS, since).fetchall():
            key = str(name)
            hash, size, found = self._composer(key)
            if self._hashes.contains(key, hash):
                continue
            for at in range(PIECE, len(found), PIECE):
                yield 0, found[at - PIECE : at]
            self._hashes.add(key, hash)
            if isinstance(changed, int | float):
                self._since = max(self._since, min(changed, self._written))
                self._last = (changed, key) if found else self._last
            yield size, found[-(len(found) % PIECE or PIECE) :]

    def _composer(self, key: str) -> tuple[str, int, list[TurnOrHeading]]:
        """Hash, size and entries of a composer; no entries if it is unchanged. Its bubbles are not held."""
        id = {"composer": composer_id(key)}
        found: list[TurnOrHeading] = []
        with self._db:  # both queries see the same state
            rows = self._db.execute(COMPOSER, (key,)).fetchall()
            hash, size = hash_and_size(chain(rows, self._db.execute(BUBBLES, id)))
            if rows and not self._hashes.contains(key, hash):
                found += entries(rows[0], self._db.execute(BUBBLES, id))
        return hash, size, found


def composer_id(key: object) -> str:
    """The id in the key of a composer, as BUBBLES needs it."""
    return fields.text(key).removeprefix("composerData:")


def entries(row: Row, bubbles: Iterable[Row]) -> Iterator[TurnOrHeading]:
    """One conversation in the order of its headers; none for a draft. Bubbles may come in any order."""
    key, value = row
    session, composer = composer_id(key), fields.parse_object(value)
    began = fields.timestamp(composer.get("createdAt"))
    frame = _frame(session, composer)
    turns = list(_in_order(_positions(composer), _all_bubbles(composer, bubbles), frame, began))
    if not turns or not session:
        return
    if not frame.agent:
        parent = fields.text(fields.get(composer, "subagentInfo", "parentComposerId"))
        title = fields.text(composer.get("name"))
        yield Heading(session=session, title=title, folder=frame.folder, parent=parent, at=began)
    yield from _with_summary(turns, fields.mapping(composer.get("latestConversationSummary")))


def _with_summary(turns: Sequence[Turn], latest: dict[str, Any]) -> Iterator[Turn]:
    """The turns, and the client's summary after the last one that it is about."""
    inner = fields.mapping(latest.get("summary"))
    text = fields.message(fields.first(inner.get("summary"), latest.get("summary")))
    last = fields.first(inner.get("truncationLastBubbleIdInclusive"), latest.get("lastBubbleId"))
    places = [at for at, turn in enumerate(turns) if turn.uuid.partition(":")[0] == last]
    place = places[-1] if places else len(turns) - 1
    yield from turns[: place + 1]
    if text:
        own = turns[place]
        uuid = f"{fields.digest(own.session, last)}:summary"
        yield replace(own, uuid=uuid, role="summary", text=text, full="", tool="", failed=False, reasoning="")
    yield from turns[place + 1 :]


def _positions(composer: dict[str, Any]) -> dict[str, tuple[int, object]]:
    """The position of each bubble in the conversation, and the type that its header gives."""
    headers = fields.array(composer.get("fullConversationHeadersOnly"))
    headers = headers or fields.array(composer.get("conversation"))
    ids = ((fields.text(header.get("bubbleId")), header) for header in fields.objects(headers))
    return {id: (number, header.get("type")) for number, (id, header) in enumerate(ids, 1) if id}


def _all_bubbles(composer: dict[str, Any], rows: Iterable[Row]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Bubbles with keys of their own, and those that older versions kept inside the composer."""
    for bubble in fields.objects(composer.get("conversation")):
        yield fields.text(bubble.get("bubbleId")), bubble
    for key, value in rows:
        yield fields.text(key).rpartition(":")[2], fields.parse_object(value)


def _frame(session: str, composer: dict[str, Any]) -> Turn:
    """The fields that all turns of a composer share. A subagent's turns belong to the root conversation.

    A best-of-n attempt has a parent as well, but it is a fork, not a subagent.
    """
    info = fields.mapping(composer.get("subagentInfo"))
    root = fields.first(info.get("rootParentConversationId"), info.get("parentComposerId"))
    named = fields.first(info.get("subagentTypeName"), session if root not in ("", session) else "")
    agent = "" if composer.get("isBestOfNSubcomposer") else named
    session = (root or session) if agent else session
    uri = fields.get(composer, "workspaceIdentifier", "uri")
    return Turn(
        uuid="",
        session=session,
        role="assistant",
        text="",
        agent=agent,
        folder=fields.first(fields.get(uri, "fsPath"), fields.get(uri, "path")),
        model=fields.text(fields.get(composer, "modelConfig", "modelName")),
    )


def _in_order(
    positions: dict[str, tuple[int, object]],
    bubbles: Iterable[tuple[str, dict[str, Any]]],
    frame: Turn,
    at: float | None,
) -> Iterator[Turn]:
    """The turns in the order of the conversation. Bubbles are large, so only their turns are held."""
    found: dict[int, list[Turn]] = {}
    for id, bubble in bubbles:
        if id in positions:
            line, type = positions[id]
            found[line] = list(_bubble(bubble, bubble.get("type", type), replace(frame, uuid=id, line=line)))
    reasoning: list[str] = []
    for turn in chain.from_iterable(turns for _, turns in sorted(found.items())):
        if turn.role == "user":
            reasoning = []
        elif turn.role == "assistant":
            reasoning.append(turn.reasoning)
        if turn.text:
            at = _later(at, turn.at)
            own = ""
            if turn.role == "assistant":
                own, reasoning = fields.reasoning(reasoning), []
            yield replace(turn, at=at, reasoning=own)


def _later(before: float | None, own: float | None) -> float | None:
    if before is None:
        return own
    return round(before + STEP_SECONDS, 3) if own is None or own <= before else own


def _bubble(bubble: dict[str, Any], type: object, frame: Turn) -> Iterator[Turn]:
    """The message and the tool call of one bubble. A turn without text only carries reasoning."""
    at, text = fields.timestamp(bubble.get("createdAt")), fields.message(fields.text(bubble.get("text")))
    if type == USER and text:
        yield replace(frame, role="user", text=text, at=at, model="")
    if type != ASSISTANT:
        return
    reasoning = fields.first(fields.get(bubble, "thinking", "text"), bubble.get("thinking"))
    model = fields.text(fields.get(bubble, "modelInfo", "modelName")) or frame.model
    frame = replace(frame, at=at, model=model)
    if text or reasoning:
        yield replace(frame, text=text, reasoning=reasoning)
    yield from _tool(fields.mapping(bubble.get("toolFormerData")), frame)


def _tool(data: dict[str, Any], frame: Turn) -> Iterator[Turn]:
    status = fields.first(fields.get(data, "additionalData", "status"), data.get("status"))
    outputs = (tool_calls.output(_embedded(data.get(key))) for key in ("result", "error"))
    result = next(filter(None, outputs), "")
    if not result and status not in FAILED | {"completed", "success"}:
        return
    arguments = _embedded(data.get("params")) or _embedded(data.get("rawArgs"))
    tool = tool_calls.tool_name(fields.text(data.get("name")), arguments)
    text, full = tool_calls.with_result(tool_calls.call(arguments), result)
    frame = replace(frame, uuid=f"{frame.uuid}:tool", role="tool", tool=tool, failed=status in FAILED)
    yield replace(frame, text=text or tool.strip(), full=full)


def _embedded(value: object) -> object:
    """The value of JSON inside a text; any other value as it is."""
    inside = fields.parse(value)
    return value if inside is None else inside
