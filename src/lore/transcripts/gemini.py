"""Gemini CLI: a header, records of messages, and patches; of a message's records the last one counts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any
from uuid import UUID

from lore.transcripts import fields, foreign, words
from lore.transcripts.base import Heading, Role, Said, State, Turn
from lore.transcripts.lines import at_least, name_of, named, objects_of, record_of, texts_of

NAME = "gemini"

ROLES: dict[str, Role] = {"user": "user", "gemini": "assistant"}
UNDONE = {"error", "cancelled"}
SNAPSHOT = "<state_snapshot>"
"""How a conversation that was compressed begins anew."""
FILES = "--- Content from referenced files ---"
CHATS, PROJECT_ROOT = "chats", ".project_root"
"""The folder of a project's sessions, and the file beside it that holds the path of the project."""
UNTRUSTED = re.compile(r"</?untrusted_context>\n?")


class Reader:
    """Reads one session. A subagent's file lies in a folder that has the name of the one that sent it.

    id: the session's, sender: the one that sent it, if it is a subagent; earlier: what the last turns told.
    """

    def __init__(self, path: str, state: Mapping[str, Any]) -> None:
        self._path = Path(path)
        self._folder = _project_root(self._path)
        unread = {"id": named(self._path.stem), "sender": "", "earlier": {}}
        self.state: State = {**unread, **deepcopy(dict(state))}

    def read(self, number: int, line: bytes) -> Sequence[Said]:
        record = record_of(line)
        if "sessionId" in record:
            return self._header(record)
        patch = fields.mapping(record.get("$set"))
        title = "" if self.state["sender"] else named(patch.get("summary"))
        said: list[Said] = [Heading(session=self.state["id"], title=title)] if title else []
        for message in [*objects_of(patch.get("messages")), record]:
            said += self._message(number, message)
        return said

    def _header(self, header: Mapping[str, Any]) -> list[Said]:
        if not (id := named(header.get("sessionId"))):
            return []
        folder = named(self._path.parent.name)
        sent = header.get("kind") not in (None, "main") and folder not in ("", CHATS, id)
        self.state |= {"id": id, "sender": folder if sent else ""}
        at = words.moment(header.get("startTime"))
        title = named(header.get("summary"))
        return [] if sent else [Heading(session=id, title=title, folder=self._folder, at=at)]

    def _message(self, number: int, message: Mapping[str, Any]) -> Iterator[Turn]:
        id, role = named(message.get("id")), ROLES.get(fields.text(message.get("type")))
        if not id or not role:
            return
        uuid = self._uuid(id)
        at = words.moment(message.get("timestamp"))
        text = _said(message, role)
        thoughts = _thoughts(message) if role == "assistant" else ""
        if text:
            kind: Role = "summary" if text.startswith(SNAPSHOT) else role
            yield self._turn(message, uuid=uuid, role=kind, text=text, at=at, reasoning=thoughts, line=number)
            thoughts = ""
        for call, turn in _calls(message):
            more = {**turn, "at": at if turn["at"] is None else turn["at"], "reasoning": thoughts}
            yield self._turn(message, uuid=f"{uuid}/{call}", role="tool", line=number, **more)
            thoughts = ""

    def _uuid(self, id: str) -> str:
        """A name that is no UUID may be made from the text: another session may have it too."""
        try:
            return id if str(UUID(id)) == id else name_of(self.state["id"], id)
        except ValueError:
            return name_of(self.state["id"], id)

    def _turn(self, message: Mapping[str, Any], *, role: Role, **more: Any) -> Turn:
        id, sender = self.state["id"], self.state["sender"]
        model = "" if role == "user" else named(message.get("model"))
        whose = {"session": sender or id, "agent": id if sender else "", "folder": self._folder}
        return at_least(Turn(role=role, model=model, **whose, **more), self.state["earlier"])


def _project_root(session: Path) -> str:
    """The folder that a session was held in; empty if the client does not tell."""
    chats = next((folder for folder in session.parents if folder.name == CHATS), None)
    if chats is None:
        return ""
    try:
        return named(foreign.read_text(chats.with_name(PROJECT_ROOT)).strip())
    except OSError:
        return ""


def _said(message: Mapping[str, Any], role: Role) -> str:
    text = texts_of(message.get("content"))
    if role == "user":
        text = (texts_of(message.get("displayContent")) or text).partition(FILES)[0]
    return words.spoken(text)


def _thoughts(message: Mapping[str, Any]) -> str:
    told = ((each.get("subject"), each.get("description")) for each in objects_of(message.get("thoughts")))
    return fields.thought(": ".join(filter(None, map(fields.text, thought))) for thought in told)


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each tool that a message called: the name of the call, and what is told of it."""
    taken: set[str] = set()
    for place, call in enumerate(objects_of(message.get("toolCalls"))):
        id = named(call.get("id"))
        id = str(place) if not id or id in taken else id
        taken.add(id)
        text, full = fields.exchange(fields.call(call.get("args")), _result(call))
        if text:
            failed = fields.text(call.get("status")) in UNDONE
            at = words.moment(call.get("timestamp"))
            tool = named(call.get("name"))
            yield id, {"text": text, "full": full, "tool": tool, "failed": failed, "at": at}


def _result(call: Mapping[str, Any]) -> str:
    parts = (fields.mapping(part.get("functionResponse")) for part in objects_of(call.get("result")))
    answers = (fields.mapping(part.get("response")) for part in parts)
    told = "\n".join(fields.outcome(answer) for answer in answers if answer)
    return UNTRUSTED.sub("", told) or fields.text(call.get("resultDisplay"))
