"""Cursor's editor: a composer and its bubbles, kept as keys and values, become the turns of a session."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from lore.transcripts import fields, words
from lore.transcripts.base import Heading, Said, Turn

NAME = "cursor-ide"

Row: TypeAlias = Sequence[object]

COMPOSERS = """
    SELECT key, CAST(value AS BLOB), changed FROM (
        SELECT key, value, CASE WHEN json_valid(CAST(value AS TEXT))
            AND json_type(CAST(value AS TEXT), '$.lastUpdatedAt') IN ('integer', 'real')
            THEN json_extract(CAST(value AS TEXT), '$.lastUpdatedAt') END AS changed
        FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;' AND key > :after
    ) WHERE changed IS NULL OR changed >= :since ORDER BY key LIMIT :limit
"""
"""The next `:limit` composers behind the key `:after` that changed since, or do not tell when they did.

The ends of the range are `composerData:%` in the words of an index: the file may have a gigabyte."""
BUBBLES = """
    SELECT key, CAST(value AS BLOB) FROM cursorDiskKV
    WHERE key >= 'bubbleId:' || :composer || ':' AND key < 'bubbleId:' || :composer || ';'
"""

USER, ASSISTANT = 1, 2
FAILED = {"error", "failed", "cancelled", "rejected", "aborted"}
STEP_SECONDS = 0.001
"""What lies between two bubbles of which the later one does not tell its time."""


def composer_of(key: object) -> str:
    """The id that BUBBLES asks for, from the key of a composer."""
    return fields.text(key).removeprefix("composerData:")


def turns(composer: Row, bubbles: Iterable[Row]) -> Iterator[Said]:
    """One conversation in the order of its headers; nothing of a draft. Bubbles may come in any order."""
    key, value = fields.columns(composer, 2)
    session, told = composer_of(key), fields.mapping(fields.loaded(value))
    began = words.moment(told.get("createdAt"))
    like = _like(session, told)
    said = list(_in_order(_positions(told), _all_bubbles(told, bubbles), like, began))
    if not said or not session:
        return
    if not like.agent:
        parent = fields.text(fields.mapping(told.get("subagentInfo")).get("parentComposerId"))
        title = fields.text(told.get("name"))
        yield Heading(session=session, title=title, folder=like.folder, parent=parent, at=began)
    yield from said


def _positions(told: dict[str, Any]) -> dict[str, tuple[int, object]]:
    """Where in the conversation each bubble stands, and of which type its header says it is."""
    lists = map(fields.several, (told.get("fullConversationHeadersOnly"), told.get("conversation")))
    headers = next(filter(None, lists), [])
    named = ((fields.text(header.get("bubbleId")), header) for header in headers if isinstance(header, dict))
    return {id: (number, header.get("type")) for number, (id, header) in enumerate(named, 1) if id}


def _all_bubbles(told: dict[str, Any], rows: Iterable[Row]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Bubbles of their own keys, and those that older versions kept inside of the composer."""
    for bubble in map(fields.mapping, fields.several(told.get("conversation"))):
        yield fields.text(bubble.get("bubbleId")), bubble
    for row in rows:
        key, value = fields.columns(row, 2)
        yield fields.text(key).rpartition(":")[2], fields.mapping(fields.loaded(value))


def _like(session: str, told: dict[str, Any]) -> Turn:
    """What all turns of a composer have in common. A subagent's belong to the first one that sent another.

    One of several attempts at the same thing has a parent as well, but nobody sent it: it is a fork.
    """
    model = fields.text(fields.mapping(told.get("modelConfig")).get("modelName"))
    sent = fields.mapping(told.get("subagentInfo"))
    root = fields.first((sent.get("rootParentConversationId"), sent.get("parentComposerId")))
    agent = ""
    if root not in ("", session) and not told.get("isBestOfNSubcomposer"):
        agent, session = fields.first((sent.get("subagentTypeName"), session)), root
    return Turn(
        uuid="", session=session, role="assistant", text="", agent=agent, folder=_folder(told), model=model
    )


def _folder(told: dict[str, Any]) -> str:
    uri = fields.mapping(fields.mapping(told.get("workspaceIdentifier")).get("uri"))
    return fields.first((uri.get("fsPath"), uri.get("path")))


def _in_order(
    positions: dict[str, tuple[int, object]],
    bubbles: Iterable[tuple[str, dict[str, Any]]],
    like: Turn,
    at: float | None,
) -> Iterator[Turn]:
    """Bubbles are big and their turns are small: each is read as it comes, and then they are sorted."""
    found: dict[int, list[Turn]] = {}
    for id, bubble in bubbles:
        if id in positions:
            line, type = positions[id]
            found[line] = list(_bubble(bubble, bubble.get("type", type), replace(like, uuid=id, line=line)))
    thoughts: list[str] = []
    for _, said in sorted(found.items()):
        for turn in said:
            if turn.role == "user":
                thoughts = []
            elif turn.role == "assistant":
                thoughts.append(turn.reasoning)
            if turn.text:
                at = _after(at, turn.at)
                reasoning = fields.thought(thoughts) if turn.role == "assistant" else ""
                thoughts = [] if turn.role == "assistant" else thoughts
                yield replace(turn, at=at, reasoning=reasoning)


def _after(before: float | None, own: float | None) -> float | None:
    if before is None:
        return own
    return round(before + STEP_SECONDS, 3) if own is None or own <= before else own


def _bubble(bubble: dict[str, Any], type: object, like: Turn) -> Iterator[Turn]:
    """What is said and what is done in one bubble; a turn without text only carries what was thought."""
    at = words.moment(bubble.get("createdAt"))
    text = words.spoken(fields.text(bubble.get("text")))
    if type == USER and text:
        yield replace(like, role="user", text=text, at=at, model="")
    if type != ASSISTANT:
        return
    thinking = bubble.get("thinking")
    reasoning = fields.first((fields.mapping(thinking).get("text"), thinking))
    model = fields.text(fields.mapping(bubble.get("modelInfo")).get("modelName")) or like.model
    if text or reasoning:
        yield replace(like, text=text, reasoning=reasoning, at=at, model=model)
    yield from _tool(fields.mapping(bubble.get("toolFormerData")), replace(like, at=at, model=model))


def _tool(told: dict[str, Any], like: Turn) -> Iterator[Turn]:
    status = fields.first((fields.mapping(told.get("additionalData")).get("status"), told.get("status")))
    answer = fields.outcome(_embedded(told.get("result"))) or fields.outcome(_embedded(told.get("error")))
    if not answer and status not in FAILED | {"completed", "success"}:
        return
    given = _embedded(told.get("params")) or _embedded(told.get("rawArgs"))
    asked = fields.call(given)
    tool = fields.tool_name(fields.text(told.get("name")), given)
    text, full = fields.exchange(asked, answer)
    done = replace(like, uuid=f"{like.uuid}:tool", role="tool", tool=tool, failed=status in FAILED)
    yield replace(done, text=text or tool.strip(), full=full)


def _embedded(value: object) -> object:
    """JSON inside of a text, as it mostly comes; any other text is itself."""
    inside = fields.loaded(value)
    return value if inside is None else inside
