"""early: answer the requests that clients make before their first call, while no daemon runs.

`early.json` holds the answers of the daemon, word for word; `python -m scripts.record_early` writes it.
"""

import json
import os
from importlib import import_module
from typing import Any

RECORDED = "early.json"
SETTINGS = "config.toml"
ALL = "all"
ERAS = HANDSHAKE, STATELESS = "handshake", "stateless"
META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"

TROUBLED = (
    "Lore, your long-term memory, cannot be opened: {trouble}. Tell the user. Until this is corrected, every"
    " tool answers with the reason; afterwards the tools work without a restart."
)
"""Instructions for an agent while the daemon cannot start."""


class Early:
    """The answers for one client. trouble: the reason why there is no daemon; empty while one starts."""

    def __init__(self, folder: str, fields: dict[str, str]) -> None:
        """folder: the data folder. fields: the client's own settings, as variables."""
        with open(os.path.join(os.path.dirname(__file__), RECORDED), encoding="utf-8") as file:
            recorded = json.load(file)
        self.trouble = ""
        self._versions = recorded["versions"]
        value = fields.get("LORE_SURFACES") or _surfaces_setting(folder) or recorded["default"]
        names = _surface_names(value, recorded["surfaces"])
        surfaces = [recorded["surfaces"][name] for name in names or [recorded["default"]]]
        self._instructions = surfaces[0]["instructions"]
        if len(names) > 1:
            self._instructions = "\n".join([recorded["together"], *(one["line"] for one in surfaces)])
        self._tools = {era: [tool for one in surfaces for tool in one["tools"][era]] for era in ERAS}
        self._resources = [resource for one in surfaces for resource in one["resources"]]
        prompts = {prompt["name"]: prompt for one in surfaces for prompt in one["prompts"]}
        self._prompts = list(prompts.values())
        drop_in = all(one["drop_in"] for one in surfaces)
        self._bodies = recorded["answers"]["drop-in" if drop_in else "own"]

    def answer(self, message: dict[str, Any], initialized: bool) -> bytes | None:
        """The line that answers a request; None if only the daemon can answer it.

        initialized: `initialize` was answered.
        """
        era = self._era(message, initialized) if _is_plain(message) else None
        body = self._bodies[era].get(message["method"]) if era else None
        if era is None or body is None:
            return None
        if "result" in body:
            body = {"result": self._filled(body["result"], message, era)}
        answer = {"jsonrpc": "2.0", "id": message["id"], **body}
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def _era(self, message: dict[str, Any], initialized: bool) -> str | None:
        """The era of a request, by the rules of the SDK; None where the daemon may refuse it."""
        parameters = message.get("params", {})
        meta = parameters.get("_meta", {})
        if META_VERSION in meta:
            served = not initialized and meta[META_VERSION] in self._versions[STATELESS]
            return STATELESS if served and isinstance(meta.get(META_CAPABILITIES), dict) else None
        if message["method"] == "initialize":
            return HANDSHAKE if not initialized and _is_complete(parameters) else None
        return HANDSHAKE if initialized else None

    def _filled(self, result: dict[str, Any], message: dict[str, Any], era: str) -> dict[str, Any]:
        """A recorded result with the parts that depend on the client; the order of the keys is kept."""
        versions = self._versions[HANDSHAKE]
        version = message.get("params", {}).get("protocolVersion")
        instructions = TROUBLED.format(trouble=self.trouble.removesuffix(".")) if self.trouble else ""
        parts = {
            "instructions": instructions or self._instructions,
            "protocolVersion": version if version in versions else versions[-1],
            "prompts": self._prompts,
            "resources": self._resources,
            "tools": self._tools[era],
        }
        return {key: parts.get(key, value) for key, value in result.items()}


def _surfaces_setting(folder: str) -> str:
    """The surfaces in the settings file; empty if it names none. The daemon reports a broken file."""
    path = os.path.join(folder, SETTINGS)
    if not os.path.exists(path):
        return ""
    toml = import_module("tomllib")
    try:
        with open(path, "rb") as file:
            value = toml.load(file).get("surfaces")
    except (OSError, ValueError):
        return ""
    return value if isinstance(value, str) else ""


def _surface_names(value: str, surfaces: dict[str, Any]) -> list[str]:
    """The names in order; none where the daemon will refuse them."""
    names = list(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    if names == [ALL]:
        return [name for name, surface in surfaces.items() if not surface["alone"]]
    if any(name not in surfaces for name in names):
        return []
    calls = [call for name in names for call in surfaces[name]["calls"]]
    return names if len(set(calls)) == len(calls) else []


def _is_plain(message: dict[str, Any]) -> bool:
    """Whether the message is valid beyond doubt; the daemon judges all others."""
    id, parameters = message["id"], message.get("params", {})
    valid_id = type(id) is int or (isinstance(id, str) and id.isascii())
    valid_parameters = isinstance(parameters, dict) and isinstance(parameters.get("_meta", {}), dict)
    return message.get("jsonrpc") == "2.0" and valid_id and valid_parameters


def _is_complete(parameters: dict[str, Any]) -> bool:
    """Whether `initialize` has all required parameters."""
    client = parameters.get("clientInfo")
    return (
        isinstance(parameters.get("protocolVersion"), str)
        and isinstance(parameters.get("capabilities"), dict)
        and isinstance(client, dict)
        and all(isinstance(client.get(key), str) for key in ("name", "version"))
    )
