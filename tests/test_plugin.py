"""The plugin that clients install: its files agree with the programs."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from lore.doors.client_files import plugin_folder
from lore.doors.hooks import EVENTS
from lore.surfaces import surfaces_named
from lore.version import VERSION

ROOT = Path(__file__).parent.parent
PLUGIN = plugin_folder() / "lore"
TOOL = "mcp__plugin_lore_memory__"


def document(name: str) -> Any:
    return json.loads((plugin_folder() / name).read_text())


def test_the_plugin_has_the_version_of_lore() -> None:
    marketplace = document(".claude-plugin/marketplace.json")
    [listed] = marketplace["plugins"]
    versions = (marketplace["metadata"]["version"], listed["version"])
    assert {*versions, document("lore/.claude-plugin/plugin.json")["version"]} == {VERSION}


def test_the_plugin_has_the_licence_of_lore() -> None:
    assert (PLUGIN / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_every_hook_of_the_plugin_runs_lore_hook_with_its_own_event() -> None:
    hooks = document("lore/hooks/hooks.json")["hooks"]
    for event, [entry] in hooks.items():
        [handler] = entry["hooks"]
        assert "args" not in handler, "Codex ignores arguments"
        assert shlex.split(handler["command"])[-4:] == ["lore-hook", event, "||", ":"]
    assert hooks.keys() <= EVENTS.keys()


def test_the_server_is_called_memory_so_that_its_tools_are_known_as_lore_s() -> None:
    [(name, server)] = document("lore/.mcp.json")["mcpServers"].items()
    assert (name, server["args"][-1].split()[-1]) == ("memory", "lore-mcp")


SKILLS = ("lore-memory", "distil")
COMMANDS = ("recall", "remember", "forget", "lore-status")
TEXTS = [f"skills/{one}/SKILL.md" for one in SKILLS] + [f"commands/{one}.md" for one in COMMANDS]


@pytest.mark.parametrize("name", TEXTS)
def test_skill_and_commands_name_tools_that_exist(name: str) -> None:
    _, head, _ = (PLUGIN / name).read_text().split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    tools = {tool.strip() for tool in fields["allowed-tools"].split(",")}
    real = {f"{TOOL}{tool}" for surface in surfaces_named("tree") for tool in surface.tools}
    assert fields["description"]
    assert {tool for tool in tools if not tool.startswith("Bash(lore ")} <= real
