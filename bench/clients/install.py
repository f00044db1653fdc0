"""install: do real agents have Lore after `lore install`, and is nothing left after `lore uninstall`?

Each client has a home of its own with settings of a user. Lore is installed and removed at once: all files
must be as before. Then it is installed again: the client lists its servers and runs one prompt against a
loopback model (`model_api`), whose first request must have its tools. Then Lore is removed, and the client
must not list it.
"""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from bench.clients.cold import ENV, SETUPS, names_of, requests_with_tools
from bench.clients.line import Line
from bench.clients.model_api import ModelApi
from bench.clients.peers import AGENTS, Missing, Peer, agent
from bench.clients.report import Cell, say, table
from bench.clients.scene import Scene

SECONDS = 180.0
NAMES = {"gemini-cli": "gemini"}
"""Names of clients in `lore install`, where they differ."""
LISTED = re.compile(r"^\W*lore\b.*$", re.MULTILINE)
FOUND = ("connected", "enabled")
"""Words for a server that works; Codex lists servers without starting them."""


class Home:
    """The home of one client, and its settings there without Lore."""

    def __init__(self, scene: Scene, peer: Peer, url: str) -> None:
        self.scene, self.peer = scene, peer
        self.client = NAMES.get(peer.name, peer.name)
        self.folder = scene.folder / peer.name
        self.work = self.folder / "work"
        self.work.mkdir(parents=True)
        self.setup = SETUPS[peer.name](url, [ENV, *scene.relay()])
        for name, text in self.setup.files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text)
        self.lore("uninstall")  # the entry of the set-up, as written by hand

    def lore(self, verb: str) -> str:
        """Run `lore install` or `lore uninstall`; the outcome."""
        done = self._run([*self.scene.lore(), verb, self.client, "--json"])
        [outcome] = json.loads(done)["clients"]
        return f"{outcome['state']} {outcome['problem']}".strip()

    def files(self) -> dict[str, str]:
        return {str(path): path.read_text() for path in self.folder.rglob("*") if path.is_file()}

    def listed(self) -> str:
        """The line of Lore in the client's list of servers; empty if there is none."""
        found = LISTED.search(self._run([*self.peer.command, "mcp", "list"]))
        return found[0].strip() if found else ""

    def prompt(self) -> None:
        self._run([*self.peer.command, *self.setup.flags])

    def _run(self, command: list[str]) -> str:
        done = subprocess.run(
            command,
            cwd=self.work,
            env={**os.environ, "HOME": str(self.folder), **self.setup.env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return done.stdout + done.stderr if "mcp" in command else done.stdout


def install(model: str, folder: Path) -> dict[str, Any]:
    """One row per client."""
    rows = []
    with Scene(model) as scene, ModelApi() as api:
        with Line(scene.relay(), log=scene.log) as line:
            tools = set(line.tools())
        for name in AGENTS:
            try:
                home = Home(scene, agent(folder, name), api.url)
            except Missing as error:
                say(f"{name} is not here: {error}")
                continue
            say(name)
            rows.append(_row(home, api, tools))
    return {"clients": rows}


def shown(report: dict[str, Any]) -> str:
    """The table of a report."""
    heads = ("client", "version", "restored", "listed", "tools", "gone")
    rows: list[list[Cell]] = [[row[head] for head in heads] for row in report["clients"]]
    return table("lore install and lore uninstall in real clients", heads, rows)


def sound(report: dict[str, Any]) -> bool:
    wanted = ("restored", "listed", "tools", "gone")
    return bool(report["clients"]) and all(row[key] == "yes" for row in report["clients"] for key in wanted)


def _row(home: Home, api: ModelApi, tools: set[str]) -> dict[str, Any]:
    before = home.files()
    outcomes = [home.lore("install"), home.lore("install"), home.lore("uninstall")]
    restored = home.files() == before and outcomes == ["done", "unchanged", "done"]
    home.lore("install")
    listed = home.listed()
    api.requests.clear()
    home.prompt()
    seen = [names_of(request) for _, request in requests_with_tools(api)]
    home.lore("uninstall")
    checks = {
        "restored": restored,
        "listed": any(word in listed.lower() for word in FOUND),
        "tools": bool(seen) and tools <= seen[0],
        "gone": not home.listed(),
    }
    if not all(checks.values()):
        say(f"{outcomes} {listed!r} {seen[:1]}")
    row = {"client": home.peer.name, "version": home.peer.version, "line": listed}
    return row | {name: "yes" if holds else "no" for name, holds in checks.items()}
