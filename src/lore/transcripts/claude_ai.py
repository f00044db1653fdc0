"""Claude.ai: a conversation of its export becomes turns."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lore.transcripts import fields, words
from lore.transcripts.base import Heading, Said, Turn

NAME = "claude-ai"


def turns(conversation: dict[str, Any]) -> Iterator[Said]:
    """One conversation; nothing if nobody said anything in it."""
    session = fields.text(conversation.get("uuid"))
    messages = map(fields.mapping, fields.several(conversation.get("chat_messages")))
    said = [turn for message in messages for turn in _message(message, session)] if session else []
    if said:
        at = words.moment(conversation.get("created_at"))
        yield Heading(session=session, title=fields.text(conversation.get("name")), at=at)
    yield from said


def _message(message: dict[str, Any], session: str) -> Iterator[Turn]:
    uuid, at = fields.text(message.get("uuid")), words.moment(message.get("created_at"))
    sender = message.get("sender")
    if not uuid:
        return
    if sender == "human":
        text, full = (words.spoken("\n\n".join(_human(message, whole))) for whole in (False, True))
        if text:
            full = "" if full == text else full
            yield Turn(uuid=uuid, session=session, role="user", text=text, full=full, at=at)
    elif sender == "assistant":
        yield from _assistant(message, Turn(uuid=uuid, session=session, role="assistant", text="", at=at))


def _human(message: dict[str, Any], whole: bool) -> Iterator[str]:
    """What was written, then what was attached, whole or as far as it is searched."""
    blocks = map(fields.mapping, fields.several(message.get("content")))
    written = "\n\n".join(fields.text(block.get("text")) for block in blocks if block.get("type") == "text")
    if text := fields.first((written, message.get("text"))):
        yield text
    for attachment in map(fields.mapping, fields.several(message.get("attachments"))):
        if inside := fields.text(attachment.get("extracted_content")).strip():
            name = fields.text(attachment.get("file_name")) or "attachment"
            yield f"[{name}]\n{inside if whole else words.cut(inside, words.LONGEST_TOOL)}"


def _assistant(message: dict[str, Any], like: Turn) -> Iterator[Turn]:
    """Each run of text is a turn, each result of a tool another; the first of them has the message's name."""
    blocks = [*map(fields.mapping, fields.several(message.get("content"))), {"type": "end"}]
    if not any(block.get("type") in ("text", "tool_result") for block in blocks):
        blocks.insert(-1, {"type": "text", "text": message.get("text")})
    written: list[str] = []
    thoughts: list[str] = []
    calls: dict[str, object] = {}
    name = like.uuid
    for number, block in enumerate(blocks):
        kind = block.get("type")
        if kind == "text":
            written.append(fields.text(block.get("text")))
        elif kind == "thinking":
            thoughts.append(fields.text(block.get("thinking")))
        elif kind == "tool_use":
            calls[fields.text(block.get("id"))] = block.get("input")
        elif kind in ("tool_result", "end") and (text := words.spoken("\n\n".join(filter(None, written)))):
            yield replace(like, uuid=name, text=text, reasoning=fields.thought(thoughts))
            written, thoughts = [], []
            name = f"{like.uuid}:{number}"
        if kind == "tool_result":
            asked = fields.call(calls.pop(fields.text(block.get("tool_use_id")), None))
            yield from _result(block, asked, replace(like, uuid=f"{like.uuid}:{number}:tool"))


def _result(block: dict[str, Any], asked: fields.Call, like: Turn) -> Iterator[Turn]:
    text, full = fields.exchange(asked, _answer(block.get("content")))
    if text:
        tool = fields.text(block.get("name"))
        yield replace(
            like, role="tool", text=text, full=full, tool=tool, failed=block.get("is_error") is True
        )


def _answer(content: object) -> str:
    """The text of a result, which comes as it is, or as a list of blocks."""
    if isinstance(content, list):
        parts = (fields.first((fields.mapping(part).get("text"), part)) for part in content)
        return "\n".join(filter(None, parts))
    return fields.outcome(content)
