"""Lore comes into the settings of every client, once, and goes without a trace."""

import shlex
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from lore.clients.edit import Hooks, Module, Programs, Servers, format_of
from lore.clients.jsonc import at, parse
from lore.clients.table import CLIENTS, Client, client_named, location
from lore.errors import Invalid

PROGRAMS = Programs(["/opt/lore-mcp"], [], ["/opt/lore-hook"], {})
OF_TOM = Programs(["/opt/lore-mcp"], ["--namespace", "tom"], ["/opt/lore-hook"], {"LORE_NAMESPACE": "tom a"})
ENTRIES = {
    "claude-code": '{"mcpServers": {"lore": {"type": "stdio", "command": "/opt/lore-mcp", "args": []}}}',
    "claude-desktop": '{"mcpServers": {"lore": {"command": "/opt/lore-mcp", "args": []}}}',
    "cursor": '{"mcpServers": {"lore": {"command": "/opt/lore-mcp", "args": []}}}',
    "vscode": '{"servers": {"lore": {"type": "stdio", "command": "/opt/lore-mcp", "args": []}}}',
    "codex": '[mcp_servers.lore]\ncommand = "/opt/lore-mcp"\nargs = []\n',
    "gemini": '{"mcpServers": {"lore": {"command": "/opt/lore-mcp", "args": []}}}',
    "windsurf": '{"mcpServers": {"lore": {"command": "/opt/lore-mcp", "args": []}}}',
    "zed": '{"context_servers": {"lore": {"command": "/opt/lore-mcp", "args": []}}}',
    "opencode": '{"mcp": {"lore": {"type": "local", "command": ["/opt/lore-mcp"], "enabled": true}}}',
}
PLACES = {  # client -> its file on linux, darwin and win32, below the home
    "claude-code": [".claude.json"] * 3,
    "claude-desktop": [
        f"{folder}/Claude/claude_desktop_config.json"
        for folder in (".config", "Library/Application Support", "AppData/Roaming")
    ],
    "cursor": [".cursor/mcp.json"] * 3,
    "vscode": [
        f"{folder}/Code/User/mcp.json"
        for folder in (".config", "Library/Application Support", "AppData/Roaming")
    ],
    "codex": [".codex/config.toml"] * 3,
    "gemini": [".gemini/settings.json"] * 3,
    "windsurf": [".codeium/windsurf/mcp_config.json"] * 3,
    "zed": [".config/zed/settings.json"] * 2 + ["AppData/Roaming/zed/settings.json"],
    "opencode": [".config/opencode/opencode.json"] * 3,
}
every_client = pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda client: client.name)


def servers(client: Client) -> Servers:
    return Servers(client, format_of(Path(client.servers[0])))


def hooks(name: str = "claude-code") -> Hooks:
    return Hooks(client_named(name), format_of(Path("settings.json")))


@every_client
def test_the_entry_of_each_client_has_the_shape_that_it_reads(client: Client) -> None:
    part = servers(client)
    text = part.add("", PROGRAMS)
    assert part.format.parse(text) == part.format.parse(ENTRIES[client.name])
    assert part.present(text)
    assert part.add(text, PROGRAMS) == text
    assert not part.format.parse(part.remove(text, ""))


@every_client
def test_the_files_of_each_client_are_where_its_platform_has_them(client: Client) -> None:
    home = Path("/home/tom")
    platforms = ("linux", "darwin", "win32")
    assert [location(client.servers[0], home, {}, platform) for platform in platforms] == [
        home / place for place in PLACES[client.name]
    ]


def test_a_variable_moves_the_files_of_a_client() -> None:
    moved = location(
        client_named("codex").servers[0], Path("/home/tom"), {"CODEX_HOME": "/srv/codex"}, "linux"
    )
    assert moved == Path("/srv/codex/config.toml")


def test_an_entry_under_another_name_is_renewed_and_keeps_the_rest() -> None:
    part = servers(client_named("cursor"))
    entry = '{"command": "lore-mcp", "args": ["--surfaces", "graph"], "env": {"A": "b"}}'
    text = f'{{"mcpServers": {{"memory": {entry}}}}}'
    renewed = part.add(text, PROGRAMS)
    assert at(parse(renewed), ("mcpServers",)) == {
        "memory": {"command": "/opt/lore-mcp", "args": ["--surfaces", "graph"], "env": {"A": "b"}}
    }
    assert part.remove(renewed, "") == "{}"


@pytest.mark.parametrize(
    ("new", "merged"),
    [
        ("--surfaces graph --db /m.db", "--namespace=tom --standalone --surfaces graph --db /m.db"),
        ("--namespace ann", "--namespace ann --standalone --surfaces tree"),
    ],
)
def test_a_new_flag_replaces_the_same_flag_alone(new: str, merged: str) -> None:
    part = servers(client_named("opencode"))
    text = part.add("", replace(PROGRAMS, arguments="--namespace=tom --standalone --surfaces tree".split()))
    changed = part.add(text, replace(PROGRAMS, arguments=new.split()))
    assert at(parse(changed), ("mcp", "lore", "command")) == ["/opt/lore-mcp", *merged.split()]


def test_another_server_of_that_name_is_not_overwritten() -> None:
    with pytest.raises(Invalid, match="another server is called 'lore'"):
        servers(client_named("cursor")).add('{"mcpServers": {"lore": {"command": "folklore"}}}', PROGRAMS)


def test_toml_keeps_its_comments_and_its_order() -> None:
    part = servers(client_named("codex"))
    text = '# mine\nmodel = "x"  # fast\n\n[mcp_servers.other]\ncommand = "o"\n\n[features]\nz = 1\na = 2\n'
    changed = part.add(text, OF_TOM)
    entry = '[mcp_servers.lore]\ncommand = "/opt/lore-mcp"\nargs = ["--namespace", "tom"]\n\n'
    assert changed == text.replace("[features]", f"{entry}[features]")
    assert part.remove(changed, text) == text
    assert part.add(changed, PROGRAMS) == changed


def test_toml_keeps_the_line_ends_of_windows() -> None:
    part = servers(client_named("codex"))
    text = 'model = "x"\r\n\r\n[features]\r\na = 2\r\n'
    changed = part.add(text, PROGRAMS)
    assert changed.count("\n") == changed.count("\r\n") > text.count("\n")
    assert part.remove(changed, text) == text


def test_toml_that_has_all_servers_in_one_line_is_edited_too() -> None:
    part = servers(client_named("codex"))
    changed = part.add('mcp_servers = { other = { command = "o" } }\n', PROGRAMS)
    assert set(tomllib.loads(changed)["mcp_servers"]) == {"other", "lore"}


def test_hooks_of_others_stay_and_lores_are_there_once() -> None:
    part = hooks()
    text = (
        '{"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "beep"}]}]}} // mine\n'
    )
    changed = part.add(text, PROGRAMS)
    assert part.present(changed)
    assert part.add(changed, PROGRAMS) == changed
    assert at(parse(changed), ("hooks", "Stop", 0, "hooks", 0, "command")) == "beep"
    assert at(parse(changed), ("hooks", "Stop", 1, "hooks")) == [
        {"type": "command", "command": "/opt/lore-hook Stop", "timeout": 3}
    ]
    assert part.remove(changed, text) == text


def test_a_hook_beside_lores_in_one_group_stays() -> None:
    text = '{"hooks": {"Stop": [{"hooks": [{"command": "beep"}, {"command": "lore-hook Stop"}]}]}}'
    assert hooks().remove(text, text) == '{"hooks": {"Stop": [{"hooks": [{"command": "beep"}]}]}}'


def test_a_hook_gets_the_new_path_and_keeps_its_settings() -> None:
    part = hooks("gemini")
    changed = part.add("", OF_TOM)
    moved = part.add(changed, Programs(["/new/lore-mcp"], [], ["/new/lore-hook"], {}))
    line = at(parse(moved), ("hooks", "BeforeAgent", 0, "hooks", 0, "command"))
    assert shlex.split(str(line)) == ["env", "LORE_NAMESPACE=tom a", "/new/lore-hook", "BeforeAgent"]
    assert not part.own(part.remove(moved, ""))


@pytest.mark.parametrize("prefix", ["env ", "/usr/bin/env ", ""])
def test_a_new_setting_of_a_hook_replaces_the_same_setting_alone(prefix: str) -> None:
    line = f"{prefix}LORE_NAMESPACE=ann LORE_W_2='a b' lore-hook Stop"
    text = f'{{"hooks": {{"Stop": [{{"hooks": [{{"command": "{line}"}}]}}]}}}}'
    changed = at(parse(hooks().add(text, OF_TOM)), ("hooks", "Stop", 0, "hooks", 0, "command"))
    assert changed == "env 'LORE_NAMESPACE=tom a' 'LORE_W_2=a b' /opt/lore-hook Stop"


def test_a_new_hook_has_the_settings_of_those_that_are_there() -> None:
    part = hooks()
    warned = part.add(part.add("", OF_TOM), replace(PROGRAMS, before_tools=True))
    line = at(parse(warned), ("hooks", "PreToolUse", 0, "hooks", 0, "command"))
    assert shlex.split(str(line)) == ["env", "LORE_NAMESPACE=tom a", "/opt/lore-hook", "PreToolUse"]


def test_the_hook_before_a_tool_comes_and_goes_with_the_setting() -> None:
    part = hooks()
    warned = part.add("", replace(PROGRAMS, before_tools=True))
    line = at(parse(warned), ("hooks", "PreToolUse", 0, "hooks", 0, "command"))
    assert line == "/opt/lore-hook PreToolUse"
    assert parse(part.add(warned, PROGRAMS)) == parse(part.add("", PROGRAMS))


def test_code_for_a_client_runs_the_hook_of_this_installation_and_replaces_no_other() -> None:
    part = Module('const SETTINGS = {}\nspawn("lore-hook", [event])')
    changed = part.add("", PROGRAMS)
    assert changed == 'const SETTINGS = {}\nspawn("/opt/lore-hook", [event])'
    assert part.add("", OF_TOM).splitlines()[0] == 'const SETTINGS = {"LORE_NAMESPACE": "tom a"}'
    assert part.remove(changed, "") == ""
    with pytest.raises(Invalid, match="another plugin"):
        part.add("export const Mine = 1", PROGRAMS)


def test_code_for_a_client_keeps_its_settings_but_for_new_ones() -> None:
    part = Module('const SETTINGS = {}\nspawn("lore-hook", [event])')
    text = part.add("", OF_TOM)
    assert part.add(text, PROGRAMS) == text
    changed = part.add(text, replace(PROGRAMS, settings={"LORE_DB_PATH": "/m.db"}))
    assert changed.startswith('const SETTINGS = {"LORE_NAMESPACE": "tom a", "LORE_DB_PATH": "/m.db"}\n')
    with pytest.raises(Invalid, match="SETTINGS is not JSON"):
        part.add(text.replace('"LORE_NAMESPACE"', "LORE_NAMESPACE"), PROGRAMS)
