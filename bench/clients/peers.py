"""peers: servers and clients of other vendors, installed from their registries into a folder that is kept."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

FOLDER = Path("~/.cache/lore-bench")
OFFICIAL = "@modelcontextprotocol/server-memory"
INSPECTOR = "@modelcontextprotocol/inspector"
CONFORMANCE = "@modelcontextprotocol/conformance"
CONFORMANCE_VERSION = "0.2.0-alpha.12"
"""The first versions with the requirements of 2026-07-28 are no releases, so the newest is named."""
NODE = "node@22"
"""The Node.js that the inspector and the conformance suite need."""
PYTHON_PEER = "omega-memory"
AGENTS = {
    "claude-code": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini-cli": "@google/gemini-cli",
    "opencode": "opencode-ai",
}
"""Real agents, by the names of their packages."""
INSTALL_SECONDS = 600


class Missing(Exception):
    """It cannot be had here; the message says why."""


class Peer(NamedTuple):
    name: str
    version: str
    command: list[str]


def official(folder: Path) -> Peer:
    """The official memory server, without the launcher that would look for it first."""
    package = _npm(folder / "official", OFFICIAL)
    return Peer("server-memory", _version(package), [_found("node"), str(package / "dist" / "index.js")])


def python_peer(folder: Path) -> Peer:
    """A memory server in Python with embeddings."""
    home = folder / PYTHON_PEER
    python = home / "bin" / "python"
    if not (home / "bin" / "omega").exists():
        _run([sys.executable, "-m", "venv", str(home)])
        _run([str(python), "-m", "pip", "install", "--quiet", f"{PYTHON_PEER}[server]"])
    ask = f"from importlib.metadata import version; print(version({PYTHON_PEER!r}))"
    return Peer(PYTHON_PEER, _run([str(python), "-c", ask]).strip(), [str(home / "bin" / "omega"), "serve"])


def inspector(folder: Path) -> Peer:
    """The official inspector, which is a client."""
    home = folder / "inspector"
    node = _npm(home, NODE, "node") / "bin" / "node"
    package = _npm(home, INSPECTOR, path=str(node.parent))
    script = json.loads((package / "package.json").read_text())["bin"]["mcp-inspector"]
    return Peer("inspector", _version(package), [str(node), str(package / script), "--cli"])


def conformance(folder: Path) -> Peer:
    """The official conformance suite."""
    home = folder / "conformance"
    node = _npm(home, NODE, "node") / "bin" / "node"
    package = _npm(home, f"{CONFORMANCE}@{CONFORMANCE_VERSION}", CONFORMANCE, str(node.parent))
    script = json.loads((package / "package.json").read_text())["bin"]["conformance"]
    return Peer("conformance", _version(package), [str(node), str(package / script)])


def agent(folder: Path, name: str) -> Peer:
    """A real agent, with a Node that is new enough for it."""
    home = folder / "agents"
    node = _npm(home, NODE, "node") / "bin" / "node"
    package = _npm(home, AGENTS[name], path=str(node.parent))
    [script] = json.loads((package / "package.json").read_text())["bin"].values()
    program = package / script
    return Peer(
        name, _version(package), [str(node), str(program)] if program.suffix == ".js" else [str(program)]
    )


def _npm(home: Path, package: str, name: str = "", path: str = "") -> Path:
    """The folder of an installed package; path: where its own node is."""
    there = home / "node_modules" / (name or package)
    if not there.exists():
        home.mkdir(parents=True, exist_ok=True)
        quiet = ["--no-audit", "--no-fund", "--silent"]
        _run([_found("npm"), "install", "--prefix", str(home), *quiet, package], path)
    return there


def _found(command: str) -> str:
    found = shutil.which(command)
    if found is None:
        raise Missing(f"{command} is not there")
    return found


def _run(command: list[str], path: str = "") -> str:
    env = {**os.environ, "PATH": os.pathsep.join(filter(None, (path, os.environ.get("PATH", ""))))}
    try:
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS, env=env
        )
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or error.stdout).strip().splitlines()
        raise Missing(lines[-1] if lines else str(error)) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(str(error)) from error
    return done.stdout


def _version(package: Path) -> str:
    return str(json.loads((package / "package.json").read_text())["version"])
