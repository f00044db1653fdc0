"""journey: two conversations of each real agent in a fresh home, where `lore install` was the only step.

In the first conversation the user says one thing and the agent stores another through Lore's tool. In the
second the user asks about both. A loopback model (`model_api`) takes the place of the real one and keeps what
it was sent: the brief, the memories recalled for the prompt and the tool's answer are looked for there.
"""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

from bench.clients.cold import SETUPS
from bench.clients.model_api import Call, ModelApi
from bench.clients.peers import AGENTS, Missing, Peer, agent
from bench.clients.report import Cell, say, table
from bench.clients.scene import Scene

SECONDS = 180.0
INGEST_SECONDS = 60.0
LOOK_EVERY_SECONDS = 0.25
SPOKEN = "For later: the staging database is called heron-seven, and only Priya may reset it."
STORED = "Releases are cut on Thursdays by the tool quaycutter."
QUESTION = "Who may reset the staging database, and what is it called?"
FIRST = Call("store", {"content": STORED})
SECOND = Call("search", {"query": QUESTION, "detail": "full"})
INSTALLED_AS = {"gemini-cli": "gemini"}
"""Names of clients in `lore install` that differ from their packages'."""
CHECKS = ("installed", "tool called", "brief", "recalled", "ingested", "found by tool")
TOOLS = ",".join(
    f"mcp__{server}__{tool}" for server in ("plugin_lore_memory", "lore") for tool in ("store", "search")
)
UNATTENDED = {
    "claude-code": ["--allowedTools", TOOLS, "-p"],
    "codex": [
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
    ],
}
"""Flags in place of the usual ones: they allow calls of tools and, in Codex, new hooks without asking."""


class Home(NamedTuple):
    """A fresh home of one client, with the settings that lead it to the model."""

    peer: Peer
    folder: Path
    flags: list[str]
    env: dict[str, str]

    def run(self, command: list[str]) -> "subprocess.CompletedProcess[str]":
        work = self.folder / "work"
        work.mkdir(parents=True, exist_ok=True)
        return subprocess.run(
            command,
            cwd=work,
            env={**self.env, "HOME": str(self.folder)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )


def journey(folder: Path) -> dict[str, Any]:
    """One row per client."""
    rows = []
    for name in AGENTS:
        try:
            peer = agent(folder, name)
        except Missing as error:
            say(f"{name} is not here: {error}")
            continue
        say(name)
        with Scene("gte-small") as scene:
            rows.append({"client": name, "version": peer.version} | _travel(peer, scene))
    return {"clients": rows}


def shown(report: dict[str, Any]) -> str:
    """The table of a report."""
    rows: list[list[Cell]] = [
        [row["client"], row["version"], *("yes" if row[check] else "NO" for check in CHECKS)]
        for row in report["clients"]
    ]
    return table("two conversations after `lore install`", ("client", "version", *CHECKS), rows)


def sound(report: dict[str, Any]) -> bool:
    return bool(report["clients"]) and all(row[check] for row in report["clients"] for check in CHECKS)


def _travel(peer: Peer, scene: Scene) -> dict[str, Any]:
    """Install Lore and hold both conversations; what was seen of each check."""
    seen = dict.fromkeys(CHECKS, False)
    with ModelApi() as api:
        home = _home(peer, scene, api.url)
        home.run(["git", "init", "--quiet", "."])
        client = INSTALLED_AS.get(peer.name, peer.name)
        done = home.run([*scene.lore(), "install", client, "--yes"])
        seen["installed"] = done.returncode == 0
        if done.returncode:
            say(done.stdout + done.stderr)
            return seen
        api.call = FIRST
        home.run([*peer.command, *home.flags, SPOKEN])
        seen["tool called"] = any('\\"stored\\"' in json.dumps(request) for _, request in api.requests)
        seen["ingested"] = _ingested(home, scene)
        api.requests.clear()
        api.call = SECOND
        home.run([*peer.command, *home.flags, QUESTION])
        requests = [json.dumps(request) for _, request in api.requests if QUESTION in json.dumps(request)]
    if requests:
        seen["brief"] = "quaycutter" in requests[0]
        seen["recalled"] = "heron-seven" in requests[0]
        seen["found by tool"] = any("heron-seven" in request for request in requests[1:])
    return seen


def _home(peer: Peer, scene: Scene, url: str) -> Home:
    setup = SETUPS[peer.name](url, [])
    folder = scene.folder / peer.name
    for name, text in setup.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    env = {name: value for name, value in os.environ.items() if name != "LORE_INGEST_PAUSED"}
    return Home(peer, folder, UNATTENDED.get(peer.name, setup.flags), env | setup.env)


def _ingested(home: Home, scene: Scene) -> bool:
    """Whether the words of the first conversation arrive in the store."""
    until = time.monotonic() + INGEST_SECONDS
    while time.monotonic() < until:
        done = home.run([*scene.lore(), "search", "--everywhere", "--json", "heron-seven"])
        if SPOKEN in done.stdout:
            return True
        time.sleep(LOOK_EVERY_SECONDS)
    return False
