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


def snippet(text: str) -> list[str]:
    """The call that the JSON for other clients describes."""
    server = json.loads(text[text.index("{") : text.rindex("}") + 1])["mcpServers"]["lore"]
    return [server["command"], *server["args"]]


def test_the_guide_tells_where_the_data_is(lore: Lore) -> None:
    assert lore.status().location in guide(lore.status())


def test_both_ways_to_connect_run_the_same_command(lore: Lore) -> None:
    text = guide(lore.status())
    [line] = [line for line in text.splitlines() if "claude mcp add" in line]
    call = shlex.split(line)[shlex.split(line).index("--") + 1 :]
    assert call == snippet(text)
    assert Path(call[0]).is_absolute()


def test_the_command_of_the_guide_can_be_run(lore: Lore) -> None:
    call = snippet(guide(lore.status()))
    done = subprocess.run([*call, "--version"], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("lore-mcp ")


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
    assert snippet(guide(lore.status()))[0] == str(tmp_path / "lore-mcp")
