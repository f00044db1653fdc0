"""A day's use of Lore in an empty home: each step is a process of its own, or several."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from lore.doors.endpoint import Endpoint
from tests.doors.command import LORE
from tests.doors.resident import SECONDS, Agent, an_endpoint, until

KEPT = "The deploy key lives in the vault."
SPOKEN = (
    "We decided to use Postgres for the ferry service because it has row level security.",
    "I prefer short names in the ferry service.",
    "Never edit the main workspace of the ferry service.",
)
LIBRARY = f"""
import lore
memories = lore.connect()
memories.remember(lore.Draft(content="The ferry leaves at noon."))
hits = memories.search(lore.Query(text="where is the secret for releases?")).hits
assert hits[0].memory.content == {KEPT!r}
memories.close()
"""
SEARCH = f"""
import lore
memories = lore.connect()
memories.remember(lore.Draft(content={KEPT!r}))
[hit] = memories.search(lore.Query(text="where is the secret for releases?")).hits
assert hit.memory.content == {KEPT!r}
memories.close()
"""
ABOUT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
CALL = {"name": "search", "arguments": {"query": "secret"}}
MCP = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": ABOUT},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": CALL},
)


def day(home: Path) -> None:
    """Everything but the optional vector stores; in the home is a transcript."""
    lore("status")
    lore("remember", KEPT)
    assert KEPT in lore("search", "where is the secret for releases?")
    python("-c", LIBRARY)
    assert '"id":2' in lore("mcp", input="".join(json.dumps(message) + "\n" for message in MCP))
    with an_endpoint(home / ".lore") as endpoint:
        _conversation(endpoint)
        until(lambda: json.loads(lore("sessions", "--json")))
        for command in ("search ferry", "ingest", "consolidate", "doctor", "status"):
            lore(*command.split())


def search_day() -> None:
    """A memory is kept and found, by one process: loading a vector store takes seconds."""
    python("-c", SEARCH)


def lore(*arguments: str, input: str = "") -> str:
    """What the command prints; it must succeed."""
    return _output([*LORE, *arguments], input)


def python(*arguments: str) -> str:
    return _output([sys.executable, *arguments])


def _output(command: list[str], input: str = "") -> str:
    done = subprocess.run(command, input=input, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _conversation(endpoint: Endpoint) -> None:
    """Of an agent whose relay starts the daemon."""
    with Agent(endpoint, LORE_EMBEDDING_MODEL="gte-small", LORE_SURFACES="tree").greet() as agent:
        agent.call("store", content="The pilot boards at ten.")
        hits = agent.call("search", query="when does the pilot come on board?")["results"]
        assert agent.call("read", id=hits[0]["id"])["content"] == "The pilot boards at ten."
        for event in ("SessionStart", "Stop"):
            python("-m", "lore.doors.hook", event)


def write_transcript(home: Path) -> None:
    """A conversation of last year, as Claude Code keeps it."""
    folder = home / ".claude" / "projects" / "ferry"
    folder.mkdir(parents=True)
    with (folder / "ferry.jsonl").open("w") as file:
        for number, text in enumerate(SPOKEN):
            turn: dict[str, Any] = {"type": "user", "uuid": f"ferry-{number}", "sessionId": "ferry"}
            turn |= {"message": {"role": "user", "content": text}, "cwd": "/gone/ferry"}
            file.write(json.dumps(turn | {"timestamp": f"2025-01-15T20:00:{number:02}.000Z"}) + "\n")
