"""Cursor CLI: messages without names, times or results, in a file that is written anew on every resume."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from lore.transcripts import fields, words
from lore.transcripts.base import Role, Said, State, Turn
from lore.transcripts.lines import keep_last, name_of, named, objects_of, record_of

NAME = "cursor-cli"

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
QUERY, QUERY_END = "<user_query>", "</user_query>"
REDACTED = "[REDACTED]"
"""Stands where the model thought."""
SUBAGENTS = "subagents"
MOST_SAID = 2_000
"""What was said longer ago is taken for new if it comes again, and gets the name of the first time."""


class Reader:
    """Reads one transcript. said: how often each thing came so far, which makes its name."""

    def __init__(self, path: str, state: Mapping[str, Any]) -> None:
        root = place = PurePath(path)
        while root.parent.name == SUBAGENTS:
            root = root.parent.parent
        self._id = named(place.stem)
        self._session, self._agent = (self._id, "") if root == place else (named(root.name), self._id)
        self.state: State = {"said": dict(fields.mapping(state.get("said")))}

    def read(self, number: int, line: bytes) -> Sequence[Said]:
        record = record_of(line)
        role = ROLES.get(fields.text(record.get("role")))
        return list(self._message(number, role, record.get("message"))) if role else []

    def _message(self, number: int, role: Role, message: object) -> Iterator[Turn]:
        content = fields.mapping(message).get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else objects_of(content)
        texts = (fields.text(part.get("text")) for part in parts if part.get("type") == "text")
        if text := _said(role, "\n".join(filter(None, texts))):
            yield self._turn(number, role, text)
        for part in parts:
            given = part.get("input")
            if part.get("type") == "tool_use" and (call := fields.call(given)).brief:
                name = named(part.get("name"))
                turn = self._turn(number, "tool", call.brief, name)
                yield replace(turn, full=call.full, tool=fields.tool_name(name, given))

    def _turn(self, number: int, role: Role, text: str, tool: str = "") -> Turn:
        said = words.excerpt(text)
        uuid = name_of(self._id, role, tool, said, self._before(name_of(role, tool, said)[:16]))
        return Turn(
            uuid=uuid, session=self._session, role=role, text=text, tool=tool, agent=self._agent, line=number
        )

    def _before(self, said: str) -> int:
        """How often a thing came before; it is now the last that came."""
        before = int(self.state["said"].pop(said, 0))
        self.state["said"][said] = before + 1
        keep_last(self.state["said"], MOST_SAID)
        return before


def _said(role: Role, text: str) -> str:
    """What a person wrote stands between tags, if there are any; all around it is the client's."""
    if role == "user":
        opened = (part.partition(QUERY_END) for part in text.split(QUERY)[1:])
        return words.spoken("\n".join(query.strip() for query, end, _ in opened if end) or text)
    return words.spoken(text.rstrip().removesuffix(REDACTED))
