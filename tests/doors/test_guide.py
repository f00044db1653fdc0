"""The guide names what is really there: this command, this file."""

import json
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from lore import Lore
from lore.config import Config
from lore.doors.guide import guide


def calls(text: str) -> dict[str, list[str]]:
    """Client -> the call of the server that its line or its JSON describes."""
    lines = [shlex.split(line)[-20:] for line in text.splitlines() if " mcp add " in line]
    found = {words[words.index("mcp") - 1]: words for words in lines}
    [cursor, opencode] = [json.loads(line) for line in text.splitlines() if line.strip().startswith("{")]
    server = cursor["mcpServers"]["lore"]
    assert opencode["mcp"]["lore"]["type"] == "local"
    return {
        "claude": found["claude"][found["claude"].index("--") + 1 :],
        "codex": found["codex"][found["codex"].index("--") + 1 :],
        "gemini": found["gemini"][found["gemini"].index("lore") + 1 :],
        "cursor": [server["command"], *server.get("args", [])],
        "opencode": opencode["mcp"]["lore"]["command"],
    }


def test_the_guide_tells_where_the_data_is(lore: Lore) -> None:
    assert lore.status().location in guide(lore.status())


def test_every_client_is_told_the_same_command(lore: Lore) -> None:
    told = calls(guide(lore.status()))
    assert len({tuple(call) for call in told.values()}) == 1
    assert Path(told["claude"][0]).is_absolute()


def test_the_command_of_the_guide_can_be_run(lore: Lore) -> None:
    call = calls(guide(lore.status()))["claude"]
    done = subprocess.run([*call, "--version"], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("lore-mcp ")


@pytest.mark.parametrize(
    ("programs", "command"),
    [
        (("uv", "pipx"), "    uv tool install .\n"),
        (("pipx",), "    pipx install .\n"),
        ((), "    uv tool install . or pipx install ."),
        (("uv", "lore"), None),
    ],
)
def test_the_guide_names_the_installer_that_is_there(
    lore: Lore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    programs: tuple[str, ...],
    command: str | None,
) -> None:
    for program in programs:
        (tmp_path / program).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    text = guide(lore.status())
    if command is None:
        assert "install ." not in text
    else:
        assert command in text


def test_a_store_in_its_usual_place_needs_no_flag(lore: Lore) -> None:
    usual = replace(lore.status(), location=str(Config().database.expanduser()))
    assert "--db" not in guide(usual)
    assert "--db" in guide(lore.status())


def test_the_command_is_absolute_wherever_it_was_started(
    lore: Lore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lore-mcp").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["./lore", "mcp"])
    assert calls(guide(lore.status()))["cursor"][0] == str(tmp_path / "lore-mcp")
