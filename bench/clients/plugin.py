"""plugin: do the plugin's server and hooks work in real agents?

Each client has a home of its own and installs the plugin from this checkout; Gemini CLI and OpenCode get the
same server and hooks by files of their own. The client is given one prompt against a loopback model
(`model_api`). Counted are Lore's tools, the brief and the memory for the prompt in the first request, the
seconds from the end of the client until its transcript is in the store, and turns in the store that repeat
the hooks' texts. The daemon's home is elsewhere: it finds the transcript by the hook alone.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from bench.clients.model_api import ModelApi
from bench.clients.peers import Missing, Peer, agent
from bench.clients.report import Cell, say, table
from bench.clients.scene import Scene
from lore.config import load
from lore.connecting import wire
from lore.doors.client_files import plugin_folder
from lore.doors.endpoint import Endpoint
from lore.doors.hooks import EVENTS, GEMINI
from lore.doors.starting import stop
from lore.model import Draft

SECONDS = 120.0
INGESTED_SECONDS = 30.0
LOOK_EVERY_SECONDS = 0.02
QUESTION = "Which colour does the lighthouse of Portavera have?"
IN_BRIEF = "Releases are tagged on Mondays, by Ines alone."
FOR_PROMPT = "The lighthouse of Portavera has the colour vermilion."
FILLERS = 80
"""Longer memories between the two, so that the brief has no room for the older one."""
TOOL = "list_roots"
LOG_SHOWN = 4000
"""Characters of the log of a client in which something did not work."""
PROGRAMS = ("lore", "lore-mcp", "lore-hook")


class Run(NamedTuple):
    """The arguments and the variables with which a client is given the prompt."""

    flags: list[str]
    env: dict[str, str]


class Home:
    """A client's home, with Lore's programs and a store."""

    def __init__(self, scene: Scene, peer: Peer, url: str) -> None:
        """url: of the model."""
        self.peer = peer
        self.url = url
        self.folder = scene.folder / peer.name
        self.work = self.folder / "work"
        self.data = self.folder / ".lore"
        self.log = scene.folder / f"{peer.name}.log"
        for folder in (self.work, self.data, self.folder / ".local/bin"):
            folder.mkdir(parents=True)
        for name in PROGRAMS:
            self.program(name).symlink_to(Path(sys.executable).with_name(name))
        shutil.copy(scene.data / "config.toml", self.data)

    def program(self, name: str) -> Path:
        return self.folder / ".local/bin" / name

    def write(self, name: str, text: str) -> None:
        """A file of the client."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run(self, *command: str, home: Path | None = None, env: dict[str, str] | None = None) -> None:
        """A program in the client's home, or in another."""
        inherited = {name: value for name, value in os.environ.items() if name != "LORE_INGEST_PAUSED"}
        with open(self.log, "ab") as log:
            subprocess.run(
                command,
                cwd=self.work,
                env={**inherited, "HOME": str(home or self.folder), **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                timeout=SECONDS,
                check=False,
            )

    def start_daemon(self) -> None:
        """Start the daemon on a store with memories; it watches no transcripts of this home."""
        lore = wire(load({}, data_dir=self.data))
        fillers = (f"Crate {number} holds rope, tar and sailcloth. " * 5 for number in range(FILLERS))
        for text in (FOR_PROMPT, *fillers, IN_BRIEF):
            lore.remember(Draft(content=text))
        lore.close()
        self.run(str(self.program("lore")), "--data-dir", str(self.data), "daemon", "start", home=self.data)

    def seconds_until_read(self) -> float | None:
        """Seconds until the prompt is in the store; None if it never is."""
        began = time.monotonic()
        store = apsw.Connection(str(self.data / "memory.db"), flags=apsw.SQLITE_OPEN_READONLY)
        wanted = "SELECT 1 FROM memory WHERE kind = 'turn' AND instr(content, ?)"
        while not list(store.execute(wanted, (QUESTION,))):
            if time.monotonic() > began + INGESTED_SECONDS:
                return None
            time.sleep(LOOK_EVERY_SECONDS)
        return time.monotonic() - began

    def echoes(self) -> int:
        """Turns in the store that repeat a memory: a hook's text was taken for a part of the conversation."""
        store = apsw.Connection(str(self.data / "memory.db"), flags=apsw.SQLITE_OPEN_READONLY)
        repeated = "SELECT 1 FROM memory WHERE kind = 'turn' AND (instr(content, ?) OR instr(content, ?))"
        return len(list(store.execute(repeated, (IN_BRIEF, FOR_PROMPT))))


def plugin(model: str, folder: Path) -> dict[str, Any]:
    """One row for each client."""
    rows = []
    for name, install in INSTALLS.items():
        try:
            peer = agent(folder, name)
        except Missing as error:
            say(f"{name} is not here: {error}")
            continue
        with Scene(model) as scene, ModelApi() as api:
            rows.append(_row(Home(scene, peer, api.url), api, install))
    return {"clients": rows}


def shown(report: dict[str, Any]) -> str:
    """The table of a report."""
    rows: list[list[Cell]] = [
        [row[key] for key in ("client", "version", "tools", "brief", "prompt", "read", "echoes")]
        for row in report["clients"]
    ]
    heads = ("client", "version", "tools", "brief", "memory for the prompt", "s until read", "echoes")
    return table("the plugin in real clients: first request to the model, and the transcript", heads, rows)


def sound(report: dict[str, Any]) -> bool:
    return all(map(_works, report["clients"])) and bool(report["clients"])


def _row(home: Home, api: ModelApi, install: "Install") -> dict[str, Any]:
    say(home.peer.name)
    home.start_daemon()
    try:
        flags, env = install(home)
        api.requests.clear()
        home.run(*home.peer.command, *flags, env=env)
        requests = [json.dumps(body) for _, body in api.requests if body.get("tools")]
        request = next((one for one in requests if QUESTION in one), "")
        seen = {"tools": TOOL, "brief": IN_BRIEF, "prompt": FOR_PROMPT}
        found = {key: "yes" if wanted in request else "no" for key, wanted in seen.items()}
        row: dict[str, Any] = {"client": home.peer.name, "version": home.peer.version, **found}
        row |= {"read": home.seconds_until_read(), "echoes": home.echoes()}
        if not _works(row):
            say(home.log.read_text(errors="replace")[-LOG_SHOWN:])
        return row
    finally:
        stop(Endpoint({}, str(home.data)))


def _works(row: dict[str, Any]) -> bool:
    return row["read"] is not None and not row["echoes"] and "no" not in row.values()


def _claude(home: Home) -> Run:
    quiet = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    env = {"ANTHROPIC_BASE_URL": home.url, "ANTHROPIC_API_KEY": "none", **quiet}
    home.write(".claude.json", json.dumps({"hasCompletedOnboarding": True}))
    for command in (["marketplace", "add", str(plugin_folder())], ["install", "lore@lore"]):
        home.run(*home.peer.command, "plugin", *command, env=env)
    return Run(["-p", QUESTION], env)


def _codex(home: Home) -> Run:
    provider = f'name = "mock"\nbase_url = "{home.url}/v1"\nwire_api = "responses"\nenv_key = "MOCK_KEY"\n'
    chosen = f'model = "mock-1"\nmodel_provider = "mock"\n[model_providers.mock]\n{provider}'
    home.write(".codex/config.toml", chosen)
    for command in (["marketplace", "add", str(plugin_folder())], ["add", "lore@lore"]):
        home.run(*home.peer.command, "plugin", *command)
    flags = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", QUESTION]
    return Run(flags, {"MOCK_KEY": "none"})


def _gemini(home: Home) -> Run:
    hook = str(home.program("lore-hook"))
    events = [name for name in (*EVENTS, *GEMINI) if name not in GEMINI.values()]
    hooks = {
        name: [{"hooks": [{"type": "command", "command": f"{hook} {name}", "timeout": 3000}]}]
        for name in events
    }
    settings = {
        "mcpServers": {"lore": {"command": str(home.program("lore-mcp")), "args": []}},
        "hooks": hooks,
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    home.write(".gemini/settings.json", json.dumps(settings))
    env = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": home.url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return Run(["-p", QUESTION, "-m", "gemini-2.5-flash", "--approval-mode", "yolo"], env)


def _opencode(home: Home) -> Run:
    options = {"baseURL": f"{home.url}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"mock-1": {}}}
    settings = {
        "provider": {"mock": provider},
        "model": "mock/mock-1",
        "small_model": "mock/mock-1",
        "autoupdate": False,
        "mcp": {"lore": {"type": "local", "command": [str(home.program("lore-mcp"))], "enabled": True}},
    }
    home.write(".config/opencode/opencode.json", json.dumps(settings))
    home.write(".config/opencode/plugins/lore.js", (plugin_folder() / "opencode/lore.js").read_text())
    env = {"OPENCODE_DISABLE_AUTOUPDATE": "true", "OPENCODE_DISABLE_MODELS_FETCH": "true"}
    return Run(["run", QUESTION], env)


Install = Callable[[Home], Run]
INSTALLS: dict[str, Install] = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": _gemini,
    "opencode": _opencode,
}
