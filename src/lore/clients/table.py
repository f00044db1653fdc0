"""table: every client that Lore installs itself into: its files, the shape of a server, its hooks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from lore.clients.jsonc import Json, Keys
from lore.environment import CONFIG_HOME, application_folder
from lore.errors import Invalid
from lore.text import listed

Shape: TypeAlias = Callable[[str, list[str]], dict[str, Json]]
VARIABLES = ("XDG_CONFIG_HOME", "APPDATA", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME")
"""Variables that say where clients keep their files."""
HOOK_SECONDS = 3
"""Seconds that a client waits for a hook: the most that Codex grants at the end of a session."""
EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A client. Its files begin with the name of a folder (see `folders`).

    servers: its file with servers; of several the first that exists, or else the first. key: the path of
    the servers in it. shape: an entry for a command and its arguments. project: its file in a project.
    hooks: its file with hooks; events: its names of those that Lore wants; patience: seconds or milliseconds
    for one; before_tool: its name of the event before a tool is used, which users may want. module: in place
    of hooks, its file for code, and the name of the code in the plugin folder. programs: its commands.
    plugin: file and path of a switch, on where Lore's plugin brings server and hooks; unplug: the command
    that removes the plugin. next: what remains to do.
    """

    name: str
    title: str
    servers: tuple[str, ...]
    shape: Shape
    key: Keys = ("mcpServers",)
    project: str = ""
    hooks: str = ""
    events: tuple[str, ...] = EVENTS
    patience: int = HOOK_SECONDS
    before_tool: str = ""
    module: tuple[str, str] = ("", "")
    programs: tuple[str, ...] = ()
    plugin: tuple[str, Keys] = ("", ())
    unplug: str = ""
    next: str = "Restart it."


def folders(platform: str) -> dict[str, tuple[str, str]]:
    """Names of folders: an environment variable, and the fallback below the home."""
    application = application_folder(platform)
    return {
        "home": ("", ""),
        "application": application,
        "config": CONFIG_HOME,
        "zed": application if platform == "win32" else CONFIG_HOME,
        "claude-state": ("CLAUDE_CONFIG_DIR", ""),
        "claude": ("CLAUDE_CONFIG_DIR", ".claude"),
        "codex": ("CODEX_HOME", ".codex"),
        "gemini": ("GEMINI_CLI_HOME", ""),
    }


def location(file: str, home: Path, variables: Mapping[str, str], platform: str) -> Path:
    """The path of a client's file on a platform."""
    name, _, below = file.partition("/")
    variable, folder = folders(platform)[name]
    return Path(variables.get(variable) or home / folder) / below


# --- shapes of an entry
def plain(command: str, arguments: list[str]) -> dict[str, Json]:
    return {"command": command, "args": arguments}


def with_type(command: str, arguments: list[str]) -> dict[str, Json]:
    return {"type": "stdio", "command": command, "args": arguments}


def one_list(command: str, arguments: list[str]) -> dict[str, Json]:
    return {"type": "local", "command": [command, *arguments], "enabled": True}


CLIENTS: dict[str, Client] = {
    client.name: client
    for client in (
        Client(
            name="claude-code",
            title="Claude Code",
            servers=("claude-state/.claude.json",),
            shape=with_type,
            project=".mcp.json",
            hooks="claude/settings.json",
            before_tool="PreToolUse",
            programs=("claude",),
            plugin=("claude/settings.json", ("enabledPlugins", "lore@lore")),
            unplug="claude plugin uninstall lore@lore",
            next="New sessions have it.",
        ),
        Client(
            name="claude-desktop",
            title="Claude Desktop",
            servers=("application/Claude/claude_desktop_config.json",),
            shape=plain,
        ),
        Client(
            name="cursor",
            title="Cursor",
            servers=("home/.cursor/mcp.json",),
            shape=plain,
            project=".cursor/mcp.json",
            programs=("cursor", "cursor-agent"),
        ),
        Client(
            name="vscode",
            title="VS Code",
            servers=("application/Code/User/mcp.json",),
            key=("servers",),
            shape=with_type,
            project=".vscode/mcp.json",
            programs=("code",),
            next="It asks once whether you trust the server.",
        ),
        Client(
            name="codex",
            title="Codex",
            servers=("codex/config.toml",),
            key=("mcp_servers",),
            shape=plain,
            hooks="codex/hooks.json",
            before_tool="PreToolUse",
            programs=("codex",),
            plugin=("codex/config.toml", ("plugins", "lore@lore", "enabled")),
            unplug="codex plugin remove lore@lore",
            next="Codex skips new hooks until you trust them: start it, type /hooks, and trust Lore's.",
        ),
        Client(
            name="gemini",
            title="Gemini CLI",
            servers=("gemini/.gemini/settings.json",),
            shape=plain,
            project=".gemini/settings.json",
            hooks="gemini/.gemini/settings.json",
            events=("SessionStart", "BeforeAgent", "PreCompress", "AfterAgent", "SessionEnd"),
            patience=HOOK_SECONDS * 1000,
            before_tool="BeforeTool",
            programs=("gemini",),
            next="New sessions have it, in folders that you have trusted.",
        ),
        Client(
            name="windsurf",
            title="Windsurf",
            servers=("home/.codeium/windsurf/mcp_config.json",),
            shape=plain,
            programs=("windsurf",),
        ),
        Client(
            name="zed",
            title="Zed",
            servers=("zed/zed/settings.json",),
            key=("context_servers",),
            shape=plain,
            programs=("zed", "zeditor"),
            next="It has it at once.",
        ),
        Client(
            name="opencode",
            title="OpenCode",
            servers=("config/opencode/opencode.json", "config/opencode/opencode.jsonc"),
            key=("mcp",),
            shape=one_list,
            project="opencode.json",
            module=("config/opencode/plugins/lore.js", "opencode/lore.js"),
            programs=("opencode",),
            next="New sessions have it.",
        ),
    )
}


def client_named(name: str) -> Client:
    """The client of this name."""
    if name not in CLIENTS:
        raise Invalid(f"unknown client {name!r}; known: {listed(CLIENTS)}")
    return CLIENTS[name]
