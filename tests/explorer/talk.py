"""Conversations with an agent, as Claude Code records them, with calls of tools."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from lore.engine import Lore
from lore.transcripts.sources import SOURCES

MINUTE = 60


class Said(NamedTuple):
    """A message, or a call of a tool with its output. who: `user`, `assistant` or the name of the tool."""

    who: str
    text: str
    output: str = ""
    failed: bool = False


def hold(lore: Lore, folder: Path, name: str, said: Sequence[Said], began_at: float) -> None:
    """Have a conversation of this name in a folder, which is its project; one message a minute."""
    project = folder / "project"
    project.mkdir(parents=True, exist_ok=True)
    file = folder / "claude" / f"{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    entries = [
        {
            **entry,
            "uuid": f"{name}-{place}-{part}",
            "sessionId": name,
            "cwd": str(project),
            "gitBranch": "main",
            "timestamp": datetime.fromtimestamp(began_at + place * MINUTE, UTC).isoformat(),
        }
        for place, one in enumerate(said)
        for part, entry in enumerate(_entries(one, f"{name}-{place}"))
    ]
    file.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries), encoding="utf-8")
    list(lore.ingest(file, SOURCES["claude-code"]))


def _entries(said: Said, id: str) -> list[dict[str, Any]]:
    if said.who == "user":
        return [_of_user(said.text)]
    if said.who == "assistant":
        return [_of_agent(id, {"type": "text", "text": said.text})]
    call = {"type": "tool_use", "id": id, "name": said.who, "input": {"command": said.text}}
    result = {"type": "tool_result", "tool_use_id": id, "content": said.output, "is_error": said.failed}
    return [_of_agent(id, call), _of_user([result])]


def _of_user(content: object) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}}


def _of_agent(id: str, block: dict[str, Any]) -> dict[str, Any]:
    message = {"id": id, "role": "assistant", "model": "claude-opus", "content": [block]}
    return {"type": "assistant", "message": message}
