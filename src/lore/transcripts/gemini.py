"""Gemini CLI: a header, message records and patches; the last record of a message counts."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

from lore.patterns import regex
from lore.transcripts import fields, tool_calls, untrusted_files
from lore.transcripts.turns import Heading, Role, State, Turn, TurnOrHeading, with_earlier_fields

NAME = "gemini"

ROLES: dict[str, Role] = {"user": "user", "gemini": "assistant"}
FAILED = {"error", "cancelled"}
SNAPSHOT = "<state_snapshot>"
"""The first text of a conversation after it was compressed."""
FILES = "--- Content from referenced files ---"
CHATS, PROJECT_ROOT = "chats", ".project_root"
"""The folder of a project's sessions, and the file beside it that contains the project's path."""
HOOK_CONTEXT = ("<hook_context>", "</hook_context>")
"""The tags around texts that hooks add to a prompt."""
UNTRUSTED = regex(r"</?untrusted_context>\n?")


class Reader:
    """Reads one session. A subagent's file lies in a folder that has the id of its sender.

    state: `id` of the session, `agent` is the same if it is a subagent's, `sender` started it if known, and
    `earlier` are fields of the latest turns.
    """

    def __init__(self, path: str, state: Mapping[str, Any]) -> None:
        self._path = Path(path)
        self._folder = _project_root(self._path)
        unread = {"id": fields.label(self._path.stem), "agent": "", "sender": "", "earlier": {}}
        self.state: State = {**unread, **deepcopy(dict(state))}

    def read(self, number: int, line: bytes) -> Sequence[TurnOrHeading]:
        record = fields.parse_object(line)
        if "sessionId" in record:
            return self._header(record)
        patch = fields.mapping(record.get("$set"))
        title = "" if self.state["agent"] else fields.label(patch.get("summary"))
        entries: list[TurnOrHeading] = [Heading(session=self.state["id"], title=title)] if title else []
        for message in [*fields.objects(patch.get("messages")), record]:
            entries += self._message(number, message)
        return entries

    def _header(self, header: Mapping[str, Any]) -> list[TurnOrHeading]:
        if not (id := fields.label(header.get("sessionId"))):
            return []
        folder = fields.label(self._path.parent.name)
        subagent = header.get("kind") not in (None, "main")
        sender = folder if subagent and folder not in ("", CHATS, id) else ""
        self.state |= {"id": id, "agent": id if subagent else "", "sender": sender}
        at, title = fields.timestamp(header.get("startTime")), fields.label(header.get("summary"))
        return [] if sender else [Heading(session=id, title=title, folder=self._folder, at=at)]

    def _message(self, number: int, message: Mapping[str, Any]) -> Iterator[Turn]:
        id, role = fields.label(message.get("id")), ROLES.get(fields.text(message.get("type")))
        if not id or not role:
            return
        session, sender = self.state["id"], self.state["sender"]
        text = _text(message, role)
        summary = text.startswith(SNAPSHOT)
        frame = Turn(
            uuid=_uuid(id, session),
            session=sender or session,
            agent=self.state["agent"],
            folder=self._folder,
            role="summary" if summary else role,
            text=text,
            at=fields.timestamp(message.get("timestamp")),
            model="" if role == "user" and not summary else fields.label(message.get("model")),
            reasoning=_reasoning(message) if role == "assistant" else "",
            line=number,
        )
        for turn in [*([frame] if text else []), *_calls(message, frame)]:
            yield with_earlier_fields(replace(turn, reasoning=frame.reasoning), self.state["earlier"])
            frame = replace(frame, reasoning="")


def without_hook_context(text: str) -> str:
    """A prompt without the texts that hooks have added."""
    begin, end = HOOK_CONTEXT
    first, *rest = text.split(begin)
    return "".join([first, *(part.partition(end)[2] for part in rest)])


def _uuid(id: str, session: str) -> str:
    """The message's id if it is a UUID. Any other id may occur in several sessions."""
    try:
        return id if str(UUID(id)) == id else fields.digest(session, id)
    except ValueError:
        return fields.digest(session, id)


def _project_root(session: Path) -> str:
    """The project folder of a session; empty if the client has not recorded it."""
    chats = next((folder for folder in session.parents if folder.name == CHATS), None)
    if chats is None:
        return ""
    try:
        return fields.label(untrusted_files.read_text(chats.with_name(PROJECT_ROOT)).strip())
    except OSError:
        return ""


def _text(message: Mapping[str, Any], role: Role) -> str:
    text = fields.joined(message.get("content"))
    if role == "user":
        text = fields.joined(message.get("displayContent")) or text
        text = without_hook_context(text).partition(FILES)[0]
    return fields.message(text)


def _reasoning(message: Mapping[str, Any]) -> str:
    thoughts = fields.objects(message.get("thoughts"))
    parts = ([fields.text(thought.get(key)) for key in ("subject", "description")] for thought in thoughts)
    return fields.reasoning(": ".join(filter(None, part)) for part in parts)


def _calls(message: Mapping[str, Any], frame: Turn) -> Iterator[Turn]:
    """A turn for each tool that a message called. Calls without an id of their own are numbered."""
    taken: set[str] = set()
    for place, call in enumerate(fields.objects(message.get("toolCalls"))):
        id = fields.label(call.get("id"))
        id = str(place) if not id or id in taken else id
        taken.add(id)
        text, full = tool_calls.with_result(tool_calls.call(call.get("args")), _result(call))
        if text:
            at = fields.timestamp(call.get("timestamp"))
            yield replace(
                frame,
                uuid=f"{frame.uuid}/{id}",
                role="tool",
                text=text,
                full=full,
                tool=fields.label(call.get("name")),
                failed=fields.text(call.get("status")) in FAILED,
                at=frame.at if at is None else at,
            )


def _result(call: Mapping[str, Any]) -> str:
    parts = fields.objects(call.get("result"))
    responses = (fields.mapping(fields.get(part, "functionResponse", "response")) for part in parts)
    text = "\n".join(tool_calls.output(response) for response in responses if response)
    return UNTRUSTED.sub("", text) or fields.text(call.get("resultDisplay"))
