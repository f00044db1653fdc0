"""real: the clients of other vendors, with `lore-mcp`."""

import json
import os
import subprocess
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, MCPError, StdioServerParameters

from bench.clients.peers import Missing, Peer, inspector
from bench.clients.report import say
from bench.clients.scene import Scene

SECONDS = 90.0
STORED = {"content": "The harbour master keeps the tide tables."}
SEARCHED = {"query": "who keeps the tide tables?"}
SDK_MODES = {"handshake": "legacy", "stateless": "2026-07-28", "either": "auto"}
INSPECTOR_ERAS = {"handshake": "legacy", "stateless": "modern", "either": "auto"}


def real(scene: Scene, folder: Path) -> list[dict[str, Any]]:
    """Each client in each era: it lists the tools, stores something and finds it."""
    sdk = Peer("Python SDK", version("mcp"), [])
    rows = [_row(sdk, era, partial(_with_sdk, scene, mode)) for era, mode in SDK_MODES.items()]
    try:
        peer = inspector(folder)
    except Missing as error:
        say(f"the inspector is not here: {error}")
        return [*rows, _row(Peer("inspector", "-", []), "-", lambda: (0, 0, "not here"))]
    return rows + [
        _row(peer, era, partial(_with_inspector, scene, peer, name)) for era, name in INSPECTOR_ERAS.items()
    ]


def _row(peer: Peer, era: str, attempt: Callable[[], tuple[int, int, str]]) -> dict[str, Any]:
    say(f"{peer.name}, {era}")
    tools, calls, outcome = attempt()
    return {
        "client": peer.name,
        "version": peer.version,
        "era": era,
        "tools": tools,
        "calls": calls,
        "outcome": outcome,
    }


def _with_sdk(scene: Scene, mode: str) -> tuple[int, int, str]:
    async def story() -> tuple[int, int, str]:
        command, *arguments = scene.relay()
        server = StdioServerParameters(command=command, args=arguments)
        with anyio.fail_after(SECONDS):
            async with Client(server, mode=mode) as client:
                tools = (await client.list_tools()).tools
                stored = await client.call_tool("store", STORED)
                found = await client.call_tool("search", SEARCHED)
        return len(tools), 2, _judged(stored.structured_content, found.structured_content)

    try:
        return anyio.run(story)
    except (MCPError, TimeoutError, OSError) as error:
        return 0, 0, str(error)


def _with_inspector(scene: Scene, peer: Peer, era: str) -> tuple[int, int, str]:
    def asked(*what: str) -> dict[str, Any]:
        command = [*peer.command, "--protocol-era", era, "--format", "json", *what, "--", *scene.relay()]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
            env={**os.environ, "HOME": str(scene.folder)},
        )
        answer: dict[str, Any] = json.loads(done.stdout)["result"]
        return answer

    def called(tool: str, arguments: dict[str, str]) -> Any:
        answer = asked(
            "--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)
        )
        return answer["structuredContent"]

    try:
        tools = len(asked("--method", "tools/list")["tools"])
        return tools, 2, _judged(called("store", STORED), called("search", SEARCHED))
    except subprocess.CalledProcessError as error:
        return 0, 0, (error.stderr or error.stdout).strip()[-200:]
    except (ValueError, KeyError, subprocess.TimeoutExpired) as error:
        return 0, 0, repr(error)[-200:]


def _judged(stored: Any, found: Any) -> str:
    """Whether what was stored was found: a hit is the best of its tree."""
    return "works" if stored["status"] == "stored" and found["results"] else "does not find what it stored"
