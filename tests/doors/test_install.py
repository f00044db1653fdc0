"""`lore install`, `lore uninstall` and `lore setup` change the files of clients, and nothing beside them."""

import json
import os
import pty
from pathlib import Path
from typing import Any

import pytest

from tests.doors.command import Command, read_to_the_end

CODEX = '# mine\nmodel = "x"  # fast\n'
ZED = '{\n  // dark\n  "theme": "One Dark", // nice\n  "context_servers": {},\n}\n'


class Home(Command):
    """The command, in a home of its own."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / ".lore")
        self.folder = folder
        variables = ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME")
        self._settings |= {"HOME": str(folder), "PATH": str(folder / "bin")} | dict.fromkeys(variables, "")

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def files(self) -> dict[str, str]:
        """Every file in the home with its content."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes().decode()
            for path in self.folder.rglob("*")
            if path.is_file()
        }


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def outcomes(document: Any) -> dict[str, str]:
    return {entry["client"]: entry["state"] for entry in document["clients"]}


def test_a_client_gets_lore_once_and_is_afterwards_as_it_was(home: Home) -> None:
    home.write(".codex/config.toml", CODEX)
    home.write(".config/zed/settings.json", ZED)
    home.write(".gemini/settings.json", "{ }")
    before = home.files()
    clients = ("codex", "zed", "gemini", "opencode")
    assert "+[mcp_servers.lore]" in home("install", *clients, "--surfaces", "graph").stdout
    installed = home.files()
    assert installed[".codex/config.toml.lore-backup"] == CODEX
    assert "SessionStart" in installed[".codex/hooks.json"]
    assert installed[".config/zed/settings.json"].startswith(ZED[:60])
    assert "already installed" in home("install", *clients).stdout
    assert home.files() == installed
    assert home.document("install")["clients"][4]["state"] == "installed"
    home("uninstall", *clients)
    assert home.files() == before
    assert "not installed" in home("uninstall", "codex").stdout


def test_no_folder_goes_with_lore(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, own = tmp_path / "work" / "project", tmp_path / ".claude"
    project.mkdir(parents=True)
    own.mkdir()
    monkeypatch.chdir(project)
    for arguments in (("cursor", "--project"), ("claude-code",)):
        home("install", *arguments)
        home("uninstall", *arguments)
    assert home.files() == {}
    assert project.is_dir()
    assert own.is_dir()


def test_what_changed_meanwhile_stays_when_lore_goes(home: Home) -> None:
    path = home.write(".config/zed/settings.json", ZED)
    home("install", "zed")
    path.write_text(path.read_text().replace("One Dark", "Ayu"))
    home("uninstall", "zed")
    assert path.read_text() == ZED.replace("One Dark", "Ayu")


def test_a_link_stays_a_link_and_the_mode_the_same(home: Home) -> None:
    real = home.write("dotfiles/mcp.json", "{}")
    real.chmod(0o640)
    (home.folder / ".cursor").mkdir()
    link = home.folder / ".cursor" / "mcp.json"
    link.symlink_to(real)
    home("install", "cursor")
    assert link.is_symlink()
    assert "lore" in json.loads(real.read_text())["mcpServers"]
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("client", "file"), [("cursor", ".cursor/mcp.json"), ("claude-code", ".claude/settings.json")]
)
def test_a_broken_file_is_named_and_left_alone_while_others_are_written(
    home: Home, client: str, file: str
) -> None:
    path = home.write(file, '{\n  "mcpServers": {"a" 1}\n}')
    result = home("install", client, "windsurf", code=1)
    assert f"{path}: line 2, column 22: expected ':'; the file was left alone" in result.stderr
    assert path.read_text() == '{\n  "mcpServers": {"a" 1}\n}'
    assert "Installed Lore in Windsurf" in result.stdout


def test_a_folder_that_cannot_be_looked_into_ends_nothing_for_other_clients(home: Home) -> None:
    home.write(".gemini/settings.json", "{}")
    too_long = {"CODEX_HOME": str(home.folder / ("x" * 300))}
    listed = {
        entry["client"]: entry
        for entry in json.loads(home("install", "--json", env=too_long).stdout)["clients"]
    }
    assert (listed["codex"]["detected"], listed["codex"]["state"]) == (False, "unreadable")
    assert "Installed Lore in Gemini CLI" in home("setup", env=too_long).stdout


def test_a_lore_without_its_plugin_folder_installs_the_server_alone(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lore.doors.client_files.PLUGINS", (tmp_path / "plugin",))
    home("install", "opencode")
    assert set(home.files()) == {".config/opencode/opencode.json"}


def test_a_dry_run_shows_the_lines_and_writes_nothing(home: Home) -> None:
    home.write(".codex/config.toml", CODEX)
    before = home.files()
    assert "+[mcp_servers.lore]" in home("install", "codex", "--dry-run").stdout
    assert "+[mcp_servers.lore]" in home("setup", "--dry-run").stdout
    assert home.files() == before


def test_setup_installs_lore_in_the_clients_that_are_there(home: Home) -> None:
    (home.folder / ".claude").mkdir()
    program = home.write("bin/opencode", "#!/bin/sh\n")
    program.chmod(0o755)
    document = home.document("--namespace", "tom", "setup")
    assert outcomes(document) == {"claude-code": "done", "opencode": "done"}
    server = json.loads((home.folder / ".claude.json").read_text())["mcpServers"]["lore"]
    assert os.path.isabs(server["command"])
    assert server["args"][-2:] == ["--namespace", "tom"]
    assert "LORE_NAMESPACE=tom" in (home.folder / ".claude" / "settings.json").read_text()


def test_a_plugin_that_brings_lore_is_not_doubled(home: Home) -> None:
    home.write(".claude/settings.json", '{"enabledPlugins": {"lore@lore": true}}')
    home.write(".codex/config.toml", '[plugins."lore@lore"]\nenabled = true\n')
    before = home.files()
    assert outcomes(home.document("install", "claude-code", "codex")) == {
        "claude-code": "plugin",
        "codex": "plugin",
    }
    assert home.files() == before


def test_a_project_has_its_own_file_where_the_client_has_one(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    home("install", "claude-code", "vscode", "--project")
    assert set(home.files()) == {".mcp.json", ".vscode/mcp.json"}
    assert (
        "has no file in a project; these have: claude-code"
        in home("install", "zed", "--project", code=1).stderr
    )


def test_wrong_names_are_answered_with_the_right_ones(home: Home) -> None:
    assert "unknown client 'vim'; known: claude-code," in home("install", "vim", code=1).stderr
    assert "unknown surfaces: x" in home("install", "zed", "--surfaces", "x", code=1).stderr
    assert home.files() == {}


def test_on_a_terminal_nothing_is_written_without_a_yes(home: Home) -> None:
    ours, theirs = pty.openpty()
    with home.start("install", "zed", stdin=theirs, stdout=theirs, stderr=theirs):
        os.close(theirs)
        os.write(ours, b"n\n")
        shown = read_to_the_end(ours).decode()
    assert "Install? [Y/n]" in shown
    assert "Nothing was written for Zed." in shown
    assert home.files() == {}
