"""The guide names what is really there: this command, this file."""

import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from lore import Lore
from lore.config import Config
from lore.doors.guide import guide


def setup_command(text: str) -> list[str]:
    """The words of the command that connects agents."""
    [line] = [line for line in text.splitlines() if line.endswith(" setup")]
    return shlex.split(line)


def test_the_guide_tells_where_the_data_is(lore: Lore) -> None:
    assert lore.status().location in guide(lore.status())


def test_the_command_of_the_guide_can_be_run(lore: Lore) -> None:
    call = setup_command(guide(lore.status()))
    done = subprocess.run([*call, "--help"], capture_output=True, text=True, check=True, timeout=60)
    assert "all clients" in done.stdout


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
    (tmp_path / "lore").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["./lore", "mcp"])
    assert setup_command(guide(lore.status()))[0] == str(tmp_path / "lore")
