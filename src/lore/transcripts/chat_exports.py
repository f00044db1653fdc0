"""Conversations of the exports of Claude.ai and ChatGPT as turns."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lore.patterns import regex
from lore.transcripts import fields, tool_calls
from lore.transcripts.tool_calls import Call
from lore.transcripts.turns import Heading, Turn, TurnOrHeading

CITATION = regex("\ue200[^\ue200\ue201]*\ue201")
"""Marks in texts of ChatGPT that only its page can show."""
EVERYBODY = ("all", "")
"""Recipients of messages of ChatGPT that are not tool calls."""


# --- Claude.ai


def claude_ai(conversation: dict[str, Any]) -> Iterator[TurnOrHeading]:
    """One conversation of Claude.ai; no entries if it has no messages."""
    session = fields.text(conversation.get("uuid"))
    messages = fields.objects(conversation.get("chat_messages")) if session else []
    turns = [turn for message in messages for turn in _claude_message(message, session)]
    if turns:
        at = fields.timestamp(conversation.get("created_at"))
        yield Heading(session=session, title=fields.text(conversation.get("name")), at=at)
    yield from turns


def _claude_message(message: dict[str, Any], session: str) -> Iterator[Turn]:
    uuid, at = fields.text(message.get("uuid")), fields.timestamp(message.get("created_at"))
    frame = Turn(uuid=uuid, session=session, role="user", text="", at=at)
    if uuid and message.get("sender") == "human":
        text, full = (fields.message("\n\n".join(_human_texts(message, whole))) for whole in (False, True))
        if text:
            yield replace(frame, text=text, full="" if full == text else full)
    elif uuid and message.get("sender") == "assistant":
        yield from _claude_answer(message, replace(frame, role="assistant"))


def _human_texts(message: dict[str, Any], whole: bool) -> Iterator[str]:
    """The message, then its attachments, whole or as far as they are searched."""
    blocks = fields.objects(message.get("content"))
    text = "\n\n".join(fields.text(block.get("text")) for block in blocks if block.get("type") == "text")
    if text := fields.first(text, message.get("text")):
        yield text
    for attachment in fields.objects(message.get("attachments")):
        if content := fields.text(attachment.get("extracted_content")).strip():
            name = fields.text(attachment.get("file_name")) or "attachment"
            yield f"[{name}]\n{content if whole else fields.shorten(content, fields.RESULT_LIMIT)}"


def _claude_answer(message: dict[str, Any], frame: Turn) -> Iterator[Turn]:
    """A turn for each run of text and for each tool result; the first run has the uuid of the message."""
    blocks = [*fields.objects(message.get("content")), {"type": "end"}]
    if not any(block.get("type") in ("text", "tool_result") for block in blocks):
        blocks.insert(-1, {"type": "text", "text": message.get("text")})
    texts: list[str] = []
    reasoning: list[str] = []
    calls: dict[str, object] = {}
    uuid = frame.uuid
    for number, block in enumerate(blocks):
        kind = block.get("type")
        if kind == "text":
            texts.append(fields.text(block.get("text")))
        elif kind == "thinking":
            reasoning.append(fields.text(block.get("thinking")))
        elif kind == "tool_use":
            calls[fields.text(block.get("id"))] = block.get("input")
        elif kind in ("tool_result", "end") and (text := fields.message("\n\n".join(filter(None, texts)))):
            yield replace(frame, uuid=uuid, text=text, reasoning=fields.reasoning(reasoning))
            texts, reasoning = [], []
            uuid = f"{frame.uuid}:{number}"
        if kind == "tool_result":
            call = tool_calls.call(calls.pop(fields.text(block.get("tool_use_id")), None))
            yield from _claude_result(block, call, replace(frame, uuid=f"{frame.uuid}:{number}:tool"))


def _claude_result(block: dict[str, Any], call: Call, frame: Turn) -> Iterator[Turn]:
    content = block.get("content")
    if isinstance(content, list):
        parts = (fields.first(fields.get(part, "text"), part) for part in content)
        result = "\n".join(filter(None, parts))
    else:
        result = tool_calls.output(content)
    text, full = tool_calls.with_result(call, result)
    if text:
        tool, failed = fields.text(block.get("name")), block.get("is_error") is True
        yield replace(frame, role="tool", text=text, full=full, tool=tool, failed=failed)


# --- ChatGPT


def chatgpt(conversation: dict[str, Any]) -> Iterator[TurnOrHeading]:
    """The current branch of a conversation of ChatGPT; no entries if it has no messages."""
    session = fields.first(conversation.get("conversation_id"), conversation.get("id"))
    branch = _Branch(session)
    turns = [turn for id, message in _current_branch(conversation) for turn in branch.message(id, message)]
    turns += branch.take_call()
    if turns and session:
        at = fields.timestamp(conversation.get("create_time"))
        yield Heading(session=session, title=fields.text(conversation.get("title")), at=at)
        yield from turns


def _current_branch(conversation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The messages from the root of the tree to the current message, or to the latest if none is current."""
    nodes = fields.mapping(conversation.get("mapping"))
    id = conversation.get("current_node")
    if not isinstance(id, str) or id not in nodes:
        times = ((fields.timestamp(fields.get(nodes[id], "message", "create_time")), id) for id in nodes)
        id = max(times, key=lambda time: time[0] or 0.0, default=(None, None))[1]
    path: dict[str, dict[str, Any]] = {}
    while isinstance(id, str) and id in nodes and id not in path:
        path[id] = fields.mapping(fields.get(nodes[id], "message"))
        id = fields.get(nodes[id], "parent")
    yield from reversed(path.items())


class _Branch:
    """One branch of the tree. Reasoning waits for the next text, a tool call for its result."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.reasoning: list[str] = []
        self.call: Turn | None = None

    def message(self, id: str, message: dict[str, Any]) -> Iterator[Turn]:
        metadata, content = fields.mapping(message.get("metadata")), fields.mapping(message.get("content"))
        role = fields.get(message, "author", "role")
        if metadata.get("is_visually_hidden_from_conversation") is True:
            return
        frame = Turn(
            uuid=fields.first(message.get("id"), id),
            session=self.session,
            role="user",
            text=CITATION.sub("", _chatgpt_text(content)),
            at=fields.timestamp(message.get("create_time")),
        )
        if role == "user":
            self.reasoning = []
            yield from self._text(frame)
        elif role == "assistant":
            frame = replace(frame, role="assistant", model=fields.text(metadata.get("model_slug")))
            yield from self._answer(frame, message, content)
        elif role == "tool":
            status = fields.text(fields.get(metadata, "aggregate_result", "status"))
            failed = content.get("content_type") == "system_error" or status.startswith("failed")
            tool = fields.text(fields.get(message, "author", "name"))
            yield from self._result(replace(frame, role="tool", tool=tool, failed=failed))

    def take_call(self) -> list[Turn]:
        """The call that waits for its result, if there is one."""
        waiting, self.call = self.call, None
        return [waiting] if waiting else []

    def _answer(self, frame: Turn, message: dict[str, Any], content: dict[str, Any]) -> Iterator[Turn]:
        recipient = fields.text(message.get("recipient"))
        if content.get("content_type") == "thoughts":
            thoughts = fields.objects(content.get("thoughts"))
            self.reasoning += [fields.first(one.get("content"), one.get("summary")) for one in thoughts]
        elif recipient not in EVERYBODY:
            yield from self.take_call()
            text = fields.shorten(frame.text, fields.RESULT_LIMIT)
            full = "" if frame.text.strip() == text else frame.text
            self.call = replace(frame, role="tool", tool=recipient, text=text, full=full) if text else None
        else:
            yield from self._text(replace(frame, reasoning=fields.reasoning(self.reasoning)))

    def _text(self, frame: Turn) -> Iterator[Turn]:
        yield from self.take_call()
        if text := fields.message(frame.text):
            self.reasoning = []
            yield replace(frame, text=text)

    def _result(self, frame: Turn) -> Iterator[Turn]:
        call = next(iter(self.take_call()), replace(frame, text="", tool=""))
        text, full = tool_calls.with_result(Call(call.text, call.full), frame.text)
        if text:
            yield replace(frame, text=text, full=full, tool=frame.tool or call.tool, model=call.model)


def _chatgpt_text(content: dict[str, Any]) -> str:
    """The text of a message of any type: in parts or in one field; pictures have none."""
    parts = fields.array(content.get("parts"))
    joined = "\n".join(filter(None, (fields.first(part, fields.get(part, "text")) for part in parts)))
    return fields.first(joined, content.get("text"), content.get("result"))
