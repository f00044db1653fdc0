"""cold: check that real agents have Lore's tools in their first request to the model although no daemon runs.

The daemon is stopped before each run. A loopback model (`model_api`) replaces the real one. The bench counts
the names of Lore's tools in the first request that has the user's prompt and tools, wherever the client puts
them (Claude Code lists them by name and gives their schemas on demand).
"""

import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from bench.clients.line import Line
from bench.clients.model_api import ModelApi
from bench.clients.peers import AGENTS, Missing, Peer, agent
from bench.clients.report import Cell, say, spread, table
from bench.clients.scene import Scene

SECONDS = 180.0
PROMPT = "Say the word that you were told to say."
PASSED_ON = ("PYTHONPATH", "LORE_INGEST_PAUSED")
"""Variables that the relay gets although clients hide the rest of the environment from it."""
ENV = "/usr/bin/env"
LORES = re.compile(r"(?:mcp__?)?lore__?(\w+)")
"""A tool of the server `lore`, as clients compose such names."""


class Setup(NamedTuple):
    """How a client is run in a home of its own. flags: before the prompt. files: what it reads there."""

    flags: list[str]
    files: dict[str, str]
    env: dict[str, str]


def cold(model: str, runs: int, folder: Path) -> dict[str, Any]:
    """Start each client `runs` times; one row per client."""
    rows = []
    with Scene(model) as scene, ModelApi() as api:
        with Line(scene.relay(), log=scene.log) as line:
            tools = line.tools()
        for name in AGENTS:
            try:
                peer = agent(folder, name)
            except Missing as error:
                say(f"{name} is not here: {error}")
                continue
            rows.append(_row(peer, scene, api, tools, runs))
    return {"runs": runs, "tools": tools, "clients": rows}


def shown(report: dict[str, Any]) -> str:
    """The table of a report."""
    rows: list[list[Cell]] = [
        [row["client"], row["version"], row["runs"], row["whole"], row["partly"], row["p50"], row["worst"]]
        for row in report["clients"]
    ]
    heads = ("client", "version", "runs", "all tools", "some", "p50 s", "worst s")
    return table("first request to the model without a daemon before; seconds to that request", heads, rows)


def sound(report: dict[str, Any]) -> bool:
    return all(row["whole"] == row["runs"] for row in report["clients"]) and bool(report["clients"])


def _row(peer: Peer, scene: Scene, api: ModelApi, tools: list[str], runs: int) -> dict[str, Any]:
    seen, seconds = [], []
    for number in range(runs):
        scene.stop()
        began = time.monotonic()
        request, at = _first_request(peer, scene, api)
        seen.append(len(names_of(request) & set(tools)))
        seconds.append(at - began)
        say(f"{peer.name} {number + 1}: {seen[-1]} of {len(tools)} tools after {seconds[-1]:.1f} s")
    times = spread(seconds)
    return {
        "client": peer.name,
        "version": peer.version,
        "runs": runs,
        "whole": sum(count == len(tools) for count in seen),
        "partly": sum(0 < count < len(tools) for count in seen),
        "p50": times.p50,
        "worst": times.worst,
    }


def _first_request(peer: Peer, scene: Scene, api: ModelApi) -> tuple[dict[str, Any], float]:
    """The first request of a run that has the prompt and tools, and when it came; an empty one if none."""
    home = scene.folder / peer.name
    work = home / "work"
    work.mkdir(parents=True, exist_ok=True)
    passed_on = [f"{name}={os.environ[name]}" for name in PASSED_ON if name in os.environ]
    setup = SETUPS[peer.name](api.url, [ENV, *passed_on, *scene.relay()])
    for name, text in setup.files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    api.requests.clear()
    with open(scene.folder / f"{peer.name}.log", "ab") as log:
        process = subprocess.Popen(
            [*peer.command, *setup.flags, PROMPT],
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "HOME": str(home), **setup.env},
        )
    try:
        process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return next(
        ((request, at) for at, request in requests_with_tools(api)), ({"tools": []}, time.monotonic())
    )


def requests_with_tools(api: ModelApi) -> list[tuple[float, dict[str, Any]]]:
    """The requests that have the prompt and tools, and when they came."""
    return [
        (at, request)
        for at, request in api.requests
        if request.get("tools") and PROMPT in json.dumps(request)
    ]


def names_of(request: dict[str, Any]) -> set[str]:
    """Lore's tools in a request: among its tools, in groups of them, or by name in a message."""
    tools = [name for tool in request["tools"] for name in _declared(tool)]
    tools += re.findall(r"\bmcp__lore__\w+", json.dumps(request.get("messages", [])).replace("\\n", " "))
    return {found[1] for name in tools if (found := LORES.fullmatch(name))}


def _declared(tool: dict[str, Any]) -> list[str]:
    """The full names that one entry of a request's tools declares."""
    if "functionDeclarations" in tool:
        return [str(function["name"]) for function in tool["functionDeclarations"]]
    if "tools" in tool:
        return [f"{tool['name']}__{inner['name']}" for inner in tool["tools"]]
    return [str(tool.get("function", tool).get("name"))]


def _claude(url: str, relay: list[str]) -> Setup:
    servers = {"lore": {"type": "stdio", "command": relay[0], "args": relay[1:]}} if relay else {}
    return Setup(
        ["-p"],
        {".claude.json": json.dumps({"mcpServers": servers, "hasCompletedOnboarding": True})},
        {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    )


def _codex(url: str, relay: list[str]) -> Setup:
    lines = [
        'model = "mock-1"',
        'model_provider = "mock"',
        "[model_providers.mock]",
        'name = "mock"',
        f'base_url = "{url}/v1"',
        'wire_api = "responses"',
        'env_key = "MOCK_KEY"',
    ]
    if relay:
        lines += [
            "[mcp_servers.lore]",
            f"command = {json.dumps(relay[0])}",
            f"args = {json.dumps(relay[1:])}",
        ]
    flags = ["exec", "--skip-git-repo-check"]
    return Setup(flags, {".codex/config.toml": "\n".join(lines) + "\n"}, {"MOCK_KEY": "none"})


def _gemini(url: str, relay: list[str]) -> Setup:
    settings = {
        "mcpServers": {"lore": {"command": relay[0], "args": relay[1:]}} if relay else {},
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    env = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return Setup(
        ["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p"],
        {".gemini/settings.json": json.dumps(settings)},
        env,
    )


def _opencode(url: str, relay: list[str]) -> Setup:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"mock-1": {"name": "mock-1"}},
    }
    settings = {
        "provider": {"mock": provider},
        "model": "mock/mock-1",
        "small_model": "mock/mock-1",
        "autoupdate": False,
        "mcp": {"lore": {"type": "local", "command": relay, "enabled": True}} if relay else {},
    }
    env = {"OPENCODE_DISABLE_AUTOUPDATE": "true", "OPENCODE_DISABLE_MODELS_FETCH": "true"}
    return Setup(["run"], {".config/opencode/opencode.json": json.dumps(settings)}, env)


# name of the client -> its setup for a model's address and the command of Lore's server (empty: without one)
SETUPS: dict[str, Callable[[str, list[str]], Setup]] = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": _gemini,
    "opencode": _opencode,
}
