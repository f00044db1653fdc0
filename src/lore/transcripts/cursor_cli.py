"""Cursor CLI: messages without ids, times or results, in a file that is rewritten on every resume."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from lore.transcripts import fields, tool_calls
from lore.transcripts.turns import Role, State, Turn, TurnOrHeading, keep_newest

NAME = "cursor-cli"

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
QUERY, QUERY_END = "<user_query>", "</user_query>"
REDACTED = "[REDACTED]"
"""Replaces the model's reasoning."""
SUBAGENTS = "subagents"
MOST_COUNTED = 2_000
"""Texts whose occurrences are counted. An older text that occurs again gets its first id again."""


class Reader:
    """Reads one transcript. state: `counts` has the occurrences of each text, which are part of its id."""

    def __init__(self, path: str, state: Mapping[str, Any]) -> None:
        root = own = PurePath(path)
        while root.parent.name == SUBAGENTS:
            root = root.parent.parent
        self._id = fields.label(own.stem)
        self._session, self._agent = (self._id, "") if root == own else (fields.label(root.name), self._id)
        self.state: State = {"counts": dict(fields.mapping(state.get("counts")))}

    def read(self, number: int, line: bytes) -> Sequence[TurnOrHeading]:
        record = fields.parse_object(line)
        role = ROLES.get(fields.text(record.get("role")))
        return list(self._message(number, role, fields.get(record, "message", "content"))) if role else []

    def _message(self, number: int, role: Role, content: object) -> Iterator[Turn]:
        blocks = fields.blocks(content)
        if text := _text(role, fields.joined([block for block in blocks if block.get("type") == "text"])):
            yield self._turn(number, role, text)
        for block in blocks:
            arguments = block.get("input")
            if block.get("type") == "tool_use" and (call := tool_calls.call(arguments)).text:
                name = fields.label(block.get("name"))
                turn = self._turn(number, "tool", call.text, name)
                yield replace(turn, full=call.full, tool=tool_calls.tool_name(name, arguments))

    def _turn(self, number: int, role: Role, text: str, tool: str = "") -> Turn:
        searched, counts = fields.excerpt(text), self.state["counts"]
        key = fields.digest(role, tool, searched)[:16]
        before = int(counts.pop(key, 0))
        counts[key] = before + 1
        keep_newest(counts, MOST_COUNTED)
        return Turn(
            uuid=fields.digest(self._id, role, tool, searched, before),
            session=self._session,
            role=role,
            text=text,
            tool=tool,
            agent=self._agent,
            line=number,
        )


def _text(role: Role, text: str) -> str:
    """The words of a message. A person's words stand between tags, if there are any."""
    if role == "user":
        queries = (part.partition(QUERY_END) for part in text.split(QUERY)[1:])
        return fields.message("\n".join(query.strip() for query, end, _ in queries if end) or text)
    return fields.message(text.rstrip().removesuffix(REDACTED))
