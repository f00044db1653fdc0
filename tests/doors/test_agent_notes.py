"""Notes of agents at the doors: `lore ingest`, the daemon, hooks, `lore status` and `lore forget`."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from lore.config import Config
from lore.doors.endpoint import Endpoint
from lore.doors.starting import start
from lore.embed.hashing import HashEmbedder
from lore.transcripts.sources import VARIABLES
from tests.doors.command import Command
from tests.doors.in_process import served
from tests.doors.resident import SECONDS, SETTINGS, Agent, an_endpoint, short_folder, until

PORT = "The harbour office answers on port 4711."
BRIDGE = "## Gemini Added Memories\n- The bridge opens at six.\n"


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Of somebody who uses Claude Code and Gemini CLI."""
    with short_folder() as folder:
        for name, value in SETTINGS.items():
            monkeypatch.setenv(name, value)
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HOME", str(folder))
        monkeypatch.setenv("LORE_INGEST_PAUSED", "no")
        write(folder / ".claude" / "projects" / "-gone-ferry" / "memory" / "port.md", PORT)
        write(folder / ".gemini" / "GEMINI.md", BRIDGE)
        yield folder


@pytest.fixture
def run(home: Path) -> Command:
    return Command(home / ".lore")


@pytest.fixture
def endpoint(home: Path) -> Iterator[Endpoint]:
    with an_endpoint(home / ".lore") as endpoint:
        yield endpoint


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_they_are_read_with_the_transcripts_and_counted(home: Path, run: Command) -> None:
    assert "Notes of agents: 2 new." in run("ingest").output
    assert "notes of agents 1 from claude-code, 1 from gemini" in " ".join(run("status").output.split())
    assert run.document("status")["agent_notes"] == {"claude-code": 1, "gemini": 1}
    (home / ".gemini" / "GEMINI.md").unlink()
    read = run.document("ingest")["agent_notes"]
    assert (read["new"], read["forgotten"], read["failed"]) == (0, 1, {})


def test_only_those_of_the_chosen_clients_are_read_and_none_if_a_person_wants_none(
    run: Command, tmp_path: Path
) -> None:
    assert run.document("ingest", str(tmp_path)).get("agent_notes") is None
    run("ingest", env={"LORE_INGEST_AGENT_FILES": "no"}, code=0)
    assert run.document("status")["agent_notes"] == {}
    run("ingest", "--source", "gemini")
    assert run.document("status")["agent_notes"] == {"gemini": 1}


def test_one_command_removes_them_for_good_and_one_brings_them_back(run: Command) -> None:
    run("ingest")
    assert "unknown source 'x'" in run("forget", "--agent-files", "x", code=1).stderr
    assert run.document("forget", "--agent-files", "gemini", "--dry-run")["count"] == 1
    assert "Forgot 1 memory." in run("forget", "--agent-files", "gemini").output
    batch = run.document("forget", "--agent-files")["batch"]
    run("ingest")
    assert run.document("status")["agent_notes"] == {}
    run("undo", batch)
    assert run.document("status")["agent_notes"] == {"claude-code": 1}


def test_a_daemon_reads_them_as_they_are_written(home: Path, endpoint: Endpoint) -> None:
    with Agent(endpoint, LORE_SURFACES="typed", LORE_INGEST_POLL_SECONDS="0.5") as agent:
        agent.greet()

        def found(text: str) -> bool:
            hits = agent.call("memory_recall", query=text)["memories"]
            return any(text in hit["content"] for hit in hits)

        until(lambda: found("The bridge opens at six"))
        write(home / ".claude" / "projects" / "-gone-ferry" / "memory" / "pier.md", "The pier is shut.")
        until(lambda: found("The pier is shut"))


@pytest.mark.parametrize(
    ("transcript", "loads"),
    [(".claude/projects/-gone-ferry/s.jsonl", True), (".codex/sessions/2026/rollout-s.jsonl", False)],
)
def test_a_hook_leaves_out_what_its_client_loads(
    home: Path, run: Command, endpoint: Endpoint, transcript: str, loads: bool
) -> None:
    checkout = home / "ferry"
    (checkout / ".git").mkdir(parents=True)
    name = "".join(one if one.isalnum() else "-" for one in str(checkout))
    write(home / ".claude" / "projects" / name / "memory" / "port.md", PORT)
    run("ingest")
    start(endpoint)
    sent: dict[str, Any] = {
        "session_id": "s",
        "cwd": str(checkout),
        "source": "startup",
        "transcript_path": str(home / transcript),
    }
    output = subprocess.run(
        [
            sys.executable,
            "-c",
            "from lore.doors import hook; hook.DEADLINE_SECONDS = 60; hook.main()",
            "SessionStart",
        ],
        input=json.dumps(sent).encode(),
        capture_output=True,
        timeout=SECONDS,
        env={**os.environ, "LORE_DATA_DIR": endpoint.home},
    ).stdout.decode()
    assert "The bridge opens at six" in output
    assert (PORT not in output) is loads


def test_the_prompt_brief_leaves_out_what_its_client_loads(home: Path, run: Command) -> None:
    run("ingest")

    async def brief(program: str) -> str:
        config = Config(data_dir=run.data_dir, surfaces="tree")
        async with served(config, "auto", HashEmbedder(), program=program) as client:
            [message] = (await client.get_prompt("brief")).messages
            return str(message.content)

    assert "The bridge opens at six" in anyio.run(brief, "claude-code")
    assert "The bridge opens at six" not in anyio.run(brief, "gemini-cli-mcp-client")
