"""url: real agents with the address of a server and a token: do they have Lore's tools and prompts?

Each agent is given the server by its own command, or in its own file where it has none, as the page
docs/mcp-over-http.md says. A loopback model (`model_api`) calls a tool of Lore; the journal tells who stored.
Claude Code, whose commands for prompts also work without a terminal, uses a prompt.
"""

import json
import os
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.clients.cold import SETUPS, names_of
from bench.clients.journey import Home
from bench.clients.model_api import Call, ModelApi
from bench.clients.peers import AGENTS, Missing, Peer, agent
from bench.clients.report import Cell, say, table
from bench.clients.scene import Scene
from bench.server.serving import Server
from lore.config import Config
from lore.connecting import wire
from lore.model import Filter

PROMPT = "Say the word that you were told to say."
STORED = "{client} cuts releases on Thursdays with the tool quaycutter."
MOST = 100
TOOLS = 6
"""Tools of the surface `tree`."""
SLASH = "/mcp__lore__recall quaycutter"
EXPANDED = "Search Lore, the long-term memory, for: quaycutter"
CHECKS = ("added", "tools", "stored", "prompt")
FLAGS = {
    "claude-code": ["--allowedTools", "mcp__lore__store", "-p"],
    "codex": ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
}


def url(folder: Path) -> dict[str, Any]:
    """One row per client."""
    rows = []
    with Scene("hash") as scene, Server(scene) as server:
        for name in AGENTS:
            try:
                peer = agent(folder, name)
            except Missing as error:
                say(f"{name} is not here: {error}")
                continue
            say(name)
            rows.append({"client": name, "version": peer.version} | _attempt(peer, scene, server))
    return {"clients": rows}


def shown(report: dict[str, Any]) -> str:
    """The table of a report."""
    rows: list[list[Cell]] = [
        [row["client"], row["version"], *(_word(row[check]) for check in CHECKS), row["actor"]]
        for row in report["clients"]
    ]
    heads = ("client", "version", *CHECKS, "actor in the journal")
    return table("clients with the address of a server and a token", heads, rows)


def sound(report: dict[str, Any]) -> bool:
    rows = report["clients"]
    return bool(rows) and all(row[one] is not False for row in rows for one in CHECKS)


def _word(seen: bool | None) -> str:
    return "-" if seen is None else "yes" if seen else "NO"


def _attempt(peer: Peer, scene: Scene, server: Server) -> dict[str, Any]:
    """Add the server, hold one conversation, and use a prompt; what was seen of each check."""
    address = f"http://127.0.0.1:{server.port}/mcp?surfaces=tree"
    text = STORED.format(client=peer.name)
    with ModelApi(Call("store", {"content": text})) as api:
        setup = SETUPS[peer.name](api.url, [])
        folder = scene.folder / peer.name
        for name, content in setup.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)
        flags = FLAGS.get(peer.name, setup.flags)
        env = {**os.environ, **setup.env, "LORE_TOKEN": server.tokens[0]}
        home = Home(peer, folder, flags, env)
        added = ADD[peer.name](home, address, server.tokens[0])
        _report(added)
        done = home.run([*peer.command, *flags, PROMPT])
        requests = [request for _, request in api.requests if request.get("tools")]
        tools = max((len(names_of(request)) for request in requests), default=0)
        api.requests.clear()
        prompt: bool | None = None
        if peer.name == "claude-code":
            home.run([*peer.command, "-p", SLASH])
            prompt = any(EXPANDED in json.dumps(request) for _, request in api.requests)
    actor = _actor(scene, text)
    if not actor:
        _report(done)
    return {"added": added.returncode == 0, "tools": tools == TOOLS, "stored": bool(actor)} | {
        "prompt": prompt,
        "actor": actor,
    }


def _report(done: "subprocess.CompletedProcess[str]") -> None:
    say((done.stdout + done.stderr).strip()[-600:])


def _actor(scene: Scene, text: str) -> str:
    """Who stored a text, by the journal; empty if nobody did."""
    with closing(wire(Config(data_dir=scene.data, embedding_model="hash"))) as lore:
        stored = [memory.id for memory in lore.select(Filter(), MOST) if memory.content == text]
        return next((entry.cause.actor for id in stored for entry in lore.history(id)), "")


def _claude(home: Home, address: str, token: str) -> "subprocess.CompletedProcess[str]":
    header = f"Authorization: Bearer {token}"
    add = ["mcp", "add", "--transport", "http", "--scope", "user", "lore", address, "--header", header]
    return home.run([*home.peer.command, *add])


def _codex(home: Home, address: str, token: str) -> "subprocess.CompletedProcess[str]":
    add = ["mcp", "add", "lore", "--url", address, "--bearer-token-env-var", "LORE_TOKEN"]
    return home.run([*home.peer.command, *add])


def _gemini(home: Home, address: str, token: str) -> "subprocess.CompletedProcess[str]":
    header = f"Authorization: Bearer {token}"
    add = ["mcp", "add", "--scope", "user", "--transport", "http", "--header", header, "lore", address]
    return home.run([*home.peer.command, *add])


def _opencode(home: Home, address: str, token: str) -> "subprocess.CompletedProcess[str]":
    file = home.folder / ".config" / "opencode" / "opencode.json"
    settings = json.loads(file.read_text())
    headers = {"Authorization": f"Bearer {token}"}
    settings["mcp"] = {"lore": {"type": "remote", "url": address, "enabled": True, "headers": headers}}
    file.write_text(json.dumps(settings))
    return subprocess.CompletedProcess([], 0, "", "")


ADD: dict[str, Callable[[Home, str, str], "subprocess.CompletedProcess[str]"]] = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": _gemini,
    "opencode": _opencode,
}
"""How each client learns of the server."""
