"""The question of `lore setup` about a language model, on a terminal, with programs in place of clients."""

import json
import os
import pty
import shlex
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.doors.command import Command, read_to_the_end
from tests.llm.serving import HERE

MINE = "# mine\nnamespace = 'shared'  # stays\n"
SECRET = "ghp_" + "aB3dE5gH7jK9" * 3


class Home(Command):
    """The command in a home of its own, whose path has only what a test puts there."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / ".lore")
        self.folder = folder
        variables = ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "LORE_LLM_BACKEND")
        self._settings |= {"HOME": str(folder), "PATH": str(folder / "bin")} | dict.fromkeys(variables, "")
        self._settings["OLLAMA_HOST"] = "127.0.0.1:9"
        self.record = folder / "record.json"
        self.config = self.data_dir / "config.toml"

    def install(self, name: str, behaviour: str = "ok") -> str:
        """Put a program of this name on the path; its whole path."""
        program = self.folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        command = shlex.join([sys.executable, str(HERE / "program.py"), behaviour, str(self.record)])
        program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        program.chmod(0o700)
        return str(program)

    def answers(self, text: str) -> str:
        """What `lore setup` shows on a terminal on which a person types this."""
        ours, theirs = pty.openpty()
        with self.start("setup", "--yes", stdin=theirs, stdout=theirs, stderr=theirs):
            os.close(theirs)
            os.write(ours, text.encode())
            return read_to_the_end(ours).decode()

    @property
    def llm(self) -> dict[str, Any]:
        """The section of the file."""
        found: dict[str, Any] = tomllib.loads(self.config.read_text()).get("llm", {})
        return found


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def served() -> Iterator[str]:
    """The address of a server on loopback that lists a model."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            models = [{"id": "nomic-embed-text"}, {"id": "qwen3:14b"}]
            content = json.dumps({"data": models if self.path == "/v1/models" else []}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def transcript(home: Home) -> None:
    lines = [
        {
            "type": role,
            "message": {"role": role, "content": [{"type": "text", "text": text}]},
            "uuid": f"u{number}",
            "timestamp": (datetime.now(UTC) - timedelta(minutes=9 - number)).isoformat(),
            "cwd": str(home.folder),
            "sessionId": "one",
        }
        for number, (role, text) in enumerate(
            (
                ("user", f"The harbour has four piers. {SECRET}"),
                ("assistant", "Noted."),
                ("user", "The ferry leaves at noon."),
                ("assistant", "Noted, too."),
            )
        )
    ]
    path = home.folder / ".claude" / "projects" / "p" / "one.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines))


@pytest.mark.parametrize("typed", ["n\n", "\n"])
def test_no_is_the_default_is_written_and_is_not_asked_again(home: Home, typed: str) -> None:
    program = home.install("claude")
    home.data_dir.mkdir()
    home.config.write_text(MINE)
    shown = " ".join(home.answers(typed).split())
    assert "About 0.3 cents a conversation, at most 20 a day, from your plan. [y/N" in shown
    assert f"runs {program} -p --output-format json --no-session-persistence --safe-mode" in shown
    assert "to Anthropic" in shown
    assert home.config.read_text().startswith(MINE)
    assert home.llm == {"backend": "none"}
    assert "[y/N" not in home.answers("")
    assert not home.record.exists()


def test_yes_writes_the_command_and_its_guards(home: Home) -> None:
    program = home.install("claude")
    shown = home.answers("y\n")
    assert "lore setup --model none" in shown
    assert home.llm == {
        "backend": "command",
        "command": f"{program} -p --output-format json",
        "extraction_model": "haiku",
        "compression_model": "haiku",
        "daily_conversations": 20,
        "daily_tokens": 500_000,
        "daily_dollars": 0.25,
        "idle_secs": 21_600.0,
    }
    status = " ".join(home("status").stdout.split())
    assert "haiku (" in status
    assert "spent today nothing; `lore setup --model none` turns it off" in status
    home("setup", "--model", "none")
    assert home.llm["backend"] == "none"
    assert "spent today" not in home("status").stdout


def test_a_dry_run_shows_what_is_sent_and_stores_nothing(home: Home) -> None:
    """The program's answer fits no conversation: what it took is shown all the same."""
    home.install("claude")
    transcript(home)
    shown = home.answers("d\nn\n")
    assert "Sending" in shown
    assert "The harbour has four piers." in shown
    assert SECRET not in shown + home.record.read_text()
    assert "Nothing was stored." in shown
    assert shown.count("[y/N") == 2
    assert [path.name for path in home.data_dir.iterdir()] == ["config.toml"]
    assert home.llm == {"backend": "none"}


def test_without_a_terminal_nothing_is_asked_and_a_flag_chooses(home: Home, served: str) -> None:
    home("setup")
    assert not home.config.exists()
    assert "nothing on the path" in home("setup", "--model", "claude", code=1).stderr
    assert "no model server answers" in home("setup", "--model", "ollama", code=1).stderr
    program = home.install("codex")
    home("setup", "--model", "codex", "--dry-run")
    assert not home.config.exists()
    home("setup", "--model", "codex")
    assert home.llm["command"] == f"{program} exec"
    assert "extraction_model" not in home.llm
    home("setup", "--model", "ollama", env={"OLLAMA_HOST": served})
    models = (home.llm["extraction_model"], home.llm["compression_model"])
    assert (home.llm["base_url"], models) == (f"http://{served}/v1", ("qwen3:14b", "qwen3:14b"))
    assert not {"command", "daily_conversations", "idle_secs"} & home.llm.keys()
