"""The daemon reads what agents write down, while they do."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lore.doors.place import Place
from lore.doors.starting import start, stop
from tests.doors.resident import SETTINGS, Agent, a_place, short_folder, until


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Of somebody who uses Claude Code."""
    with short_folder() as folder:
        for name, value in SETTINGS.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("HOME", str(folder))
        monkeypatch.setenv("LORE_INGEST_PAUSED", "no")
        monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
        (folder / ".claude" / "projects" / "-ferry").mkdir(parents=True)
        yield folder


@pytest.fixture
def place(home: Path) -> Iterator[Place]:
    with a_place(home / ".lore") as place:
        yield place


def say(home: Path, number: int, text: str) -> None:
    line = {
        "type": "user",
        "message": {"role": "user", "content": text},
        "uuid": f"{number:08x}-0000-4000-8000-000000000000",
        "timestamp": "2026-11-15T20:00:00.000Z",
        "sessionId": "a-session",
        "cwd": "/gone/ferry",
    }
    with (home / ".claude" / "projects" / "-ferry" / "a-session.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")


def heard(agent: Agent, text: str) -> bool:
    found = agent.call("memory_recall", query=text)["memories"]
    return any(memory["content"] == text for memory in found)


def test_what_is_written_down_is_found(home: Path, place: Place) -> None:
    """What was there before, and what is added while it runs."""
    say(home, 1, "The ferry leaves at noon")
    with Agent(place, LORE_SURFACES="typed") as agent:
        agent.greet()
        until(lambda: heard(agent, "The ferry leaves at noon"))
        say(home, 2, "The harbour closes at ten")
        until(lambda: heard(agent, "The harbour closes at ten"))
    assert "read 1 new turns" in Path(place.log).read_text()


def test_a_pause_is_a_pause(home: Path, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    say(home, 1, "The ferry leaves at noon")
    Path(place.home).mkdir()
    Path(place.home, "config.toml").write_text("[ingestion]\npaused = true\n")
    monkeypatch.delenv("LORE_INGEST_PAUSED")
    start(place)
    with Agent(place, LORE_SURFACES="typed") as agent:
        assert agent.greet().call("memory_recall", query="ferry")["memories"] == []
    assert stop(place)
    assert "new turns" not in Path(place.log).read_text()
