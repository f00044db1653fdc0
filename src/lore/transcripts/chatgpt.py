"""ChatGPT: a conversation of its export is a tree of messages; its last branch becomes turns."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lore.transcripts import fields, words
from lore.transcripts.base import Heading, Said, Turn

NAME = "chatgpt"

CITATION = re.compile("\ue200[^\ue200\ue201]*\ue201")
"""Marks that only the page can show."""
TO_EVERYBODY = ("all", "")


def turns(conversation: dict[str, Any]) -> Iterator[Said]:
    """One conversation; nothing if nobody said anything in it."""
    session = fields.first((conversation.get("conversation_id"), conversation.get("id")))
    branch = _Branch(session)
    said = [turn for id, message in _walk(conversation) for turn in branch.message(id, message)]
    said += branch.unanswered()
    if said and session:
        at = words.moment(conversation.get("create_time"))
        yield Heading(session=session, title=fields.text(conversation.get("title")), at=at)
        yield from said


def _walk(conversation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The messages from the root to the current one; without a current one, to the latest."""
    nodes = {id: fields.mapping(node) for id, node in fields.mapping(conversation.get("mapping")).items()}
    id = conversation.get("current_node")
    if not isinstance(id, str) or id not in nodes:
        id = max(nodes, key=lambda name: _time(nodes[name]), default=None)
    path: dict[str, dict[str, Any]] = {}
    while isinstance(id, str) and id in nodes and id not in path:
        path[id] = fields.mapping(nodes[id].get("message"))
        id = nodes[id].get("parent")
    yield from reversed(path.items())


def _time(node: dict[str, Any]) -> float:
    return words.moment(fields.mapping(node.get("message")).get("create_time")) or 0.0


class _Branch:
    """One way through the tree; thoughts wait for what is said, calls for their results."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.thoughts: list[str] = []
        self.call: Turn | None = None

    def message(self, id: str, message: dict[str, Any]) -> Iterator[Turn]:
        author, metadata = fields.mapping(message.get("author")), fields.mapping(message.get("metadata"))
        role, content = author.get("role"), fields.mapping(message.get("content"))
        if metadata.get("is_visually_hidden_from_conversation") is True:
            return
        like = Turn(
            uuid=fields.first((message.get("id"), id)),
            session=self.session,
            role="user",
            text=CITATION.sub("", _text(content)),
            at=words.moment(message.get("create_time")),
        )
        if role == "user":
            self.thoughts = []
            yield from self._said(like)
        elif role == "assistant":
            like = replace(like, role="assistant", model=fields.text(metadata.get("model_slug")))
            yield from self._assistant(like, message, content)
        elif role == "tool":
            failed = content.get("content_type") == "system_error" or _failed(metadata)
            yield from self._result(replace(like, tool=fields.text(author.get("name")), failed=failed))

    def unanswered(self) -> list[Turn]:
        """The call that waits for a result, if there is one."""
        waiting, self.call = self.call, None
        return [waiting] if waiting else []

    def _assistant(self, like: Turn, message: dict[str, Any], content: dict[str, Any]) -> Iterator[Turn]:
        to = fields.text(message.get("recipient"))
        if content.get("content_type") == "thoughts":
            thoughts = map(fields.mapping, fields.several(content.get("thoughts")))
            self.thoughts += [fields.first((one.get("content"), one.get("summary"))) for one in thoughts]
        elif to not in TO_EVERYBODY:
            yield from self.unanswered()
            asked = words.cut(like.text, words.LONGEST_TOOL)
            full = "" if like.text.strip() == asked else like.text
            self.call = replace(like, role="tool", tool=to, text=asked, full=full) if asked else None
        else:
            yield from self._said(replace(like, reasoning=fields.thought(self.thoughts)))

    def _said(self, like: Turn) -> Iterator[Turn]:
        yield from self.unanswered()
        if text := words.spoken(like.text):
            self.thoughts = []
            yield replace(like, text=text)

    def _result(self, like: Turn) -> Iterator[Turn]:
        call, self.call = self.call, None
        asked = fields.Call(call.text, call.full) if call else fields.Call()
        text, full = fields.exchange(asked, like.text)
        if text:
            tool = like.tool or (call.tool if call else "")
            model = call.model if call else ""
            yield replace(like, role="tool", text=text, full=full, tool=tool, model=model)


def _text(content: dict[str, Any]) -> str:
    """The words of a message of any type: parts, or one text; pictures have none."""
    parts = fields.several(content.get("parts"))
    found = (fields.first((part, fields.mapping(part).get("text"))) for part in parts)
    joined = "\n".join(filter(None, found))
    return fields.first((joined, content.get("text"), content.get("result")))


def _failed(metadata: dict[str, Any]) -> bool:
    return fields.text(fields.mapping(metadata.get("aggregate_result")).get("status")).startswith("failed")
