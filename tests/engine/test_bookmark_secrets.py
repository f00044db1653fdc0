"""What a reader remembers between two readings holds no secret either. The secret here is made up."""

import json
import random
import string
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lore import Filter, Lore
from lore.engine.ingest import Ingested
from lore.store.records import Bookmark
from lore.transcripts.sources import SOURCES

SECRET = "ghp_" + "".join(random.Random(9).choices(string.ascii_letters + string.digits, k=36))
COMMAND = f"git push https://{SECRET}@git.example.org && DB_PASSWORD=tr0ub4dor make"
SESSION = "0d6f2f0b-8c11-4c55-9a5e-7b0c6b1e5d0f"

Line = Mapping[str, Any]


def _claude(role: str, number: int, block: Line) -> Line:
    message = {"role": role, "content": [block], "id": "m1"}
    return {"type": role, "uuid": f"u{number}", "sessionId": SESSION, "cwd": "/gone", "message": message}


CLAUDE = [
    _claude("assistant", 1, {"type": "thinking", "thinking": f"They told me {SECRET}."}),
    _claude("assistant", 2, {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": COMMAND}}),
    _claude("user", 3, {"type": "tool_result", "tool_use_id": "t1", "content": f"pushed as {SECRET}"}),
]
CODEX = [
    {"type": "session_meta", "payload": {"id": SESSION, "cwd": "/gone"}},
    {"type": "event_msg", "payload": {"type": "user_message", "message": "Push it."}},
    {"type": "event_msg", "payload": {"type": "agent_reasoning", "text": f"They told me {SECRET}."}},
    {
        "type": "response_item",
        "payload": {
            "type": "function_call", "call_id": "c1", "name": "shell",
            "arguments": json.dumps({"command": ["bash", "-lc", COMMAND]}),
        },
    },
    {
        "type": "response_item",
        "payload": {"type": "function_call_output", "call_id": "c1", "output": f"pushed as {SECRET}"},
    },
]  # fmt: skip


@pytest.mark.parametrize(("source", "lines"), [("claude-code", CLAUDE), ("codex", CODEX)])
def test_a_tool_call_that_waits_for_its_result_waits_without_its_secrets(
    source: str, lines: Iterable[Line], lore: Lore, tmp_path: Path
) -> None:
    file = tmp_path / f"rollout-2026-01-01T00-00-00-{SESSION}.jsonl"
    remembered = ""
    for line in lines:
        with file.open("a") as transcript:
            transcript.write(json.dumps({"timestamp": "2026-01-01T00:00:00.000Z", **line}) + "\n")
        sum(lore.ingest(file, SOURCES[source]), Ingested())
        [bookmark] = lore.store.reader(lore.namespace).records(Bookmark)
        remembered += json.dumps(dict(bookmark.state))
    assert "[redacted: github token]" in remembered
    assert "git push" in remembered
    kept = Path(lore.store.report().location)
    log = kept.with_name(f"{kept.name}-wal")
    for secret in (SECRET, "tr0ub4dor"):
        assert secret not in remembered
        assert secret.encode() not in kept.read_bytes() + log.read_bytes()
    [turn] = lore.select(Filter(kinds=frozenset({"turn"}), types=frozenset({"tool"})), 10)
    assert "git push https://[redacted: github token]@git.example.org" in turn.content
