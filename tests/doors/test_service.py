"""`lore daemon install`, `uninstall`: the units, and what is done with a manager of services and without."""

import configparser
import json
import os
import plistlib
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lore.doors.endpoint import Endpoint
from lore.doors.service import LABEL, install, launchd, manager_of, systemd, uninstall
from lore.doors.starting import stop
from lore.errors import Unavailable
from lore.filelock import is_held
from tests.doors.command import Command

LIMIT_SECONDS = 60
AWKWARD = "a 100%h of $HOME, \"q\" 'x' \\n é"

MANAGER = """#!{python}
# Stands in for systemctl: notes what it is asked, and runs what the unit says.
import os, shlex, signal, subprocess, sys
here = os.path.dirname(os.path.abspath(__file__))
asked = " ".join(sys.argv[1:])
with open(here + "/asked", "a") as notes:
    notes.write(asked + "\\n")

def pid():
    try:
        with open(here + "/pid") as file:
            number = int(file.read())
        os.kill(number, 0)
        return number
    except (FileNotFoundError, ProcessLookupError):
        return None

if "is-active" in asked:
    sys.exit(0 if pid() else 3)
if "restart" in asked:
    with open(os.environ["XDG_CONFIG_HOME"] + "/systemd/user/lore.service") as unit:
        [line] = [line for line in unit if line.startswith("ExecStart=:")]
    command = shlex.split(line.partition(":")[2])
    with open(here + "/said", "w") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True)
    with open(here + "/pid", "w") as file:
        file.write(str(process.pid))
if "disable" in asked and pid():
    os.kill(pid(), signal.SIGTERM)
"""


class Desk:
    """A user with a home of their own: `bin` is their whole PATH, `config` where their units go."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.bin = folder / "bin"
        self.unit = folder / "config" / "systemd" / "user" / "lore.service"
        self.endpoint = Endpoint({}, str(self.data))
        self.bin.mkdir()
        self._env = {
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "PATH": str(self.bin),
            "LORE_IDLE_MINUTES": "",
        }

    def __call__(self, *args: str, code: int = 0, env: dict[str, str] | None = None) -> str:
        result = Command(self.data)("daemon", *args, code=code, env={**self._env, **(env or {})})
        return result.stdout or result.stderr

    def document(self, *args: str, code: int = 0) -> Any:
        return json.loads(self(*args, "--json", code=code))

    def give_systemctl(self, script: str = MANAGER) -> None:
        self.bin.joinpath("systemctl").write_text(script.format(python=sys.executable))
        self.bin.joinpath("systemctl").chmod(0o755)

    def asked(self) -> list[str]:
        """What systemctl was asked since the last time."""
        asked = self.bin.joinpath("asked").read_text().splitlines()
        self.bin.joinpath("asked").write_text("")
        return asked


@pytest.fixture
def desk() -> Iterator[Desk]:
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    desk = Desk(folder)
    yield desk
    stop(desk.endpoint)
    assert not is_held(desk.endpoint.lock)
    shutil.rmtree(folder)


def parsed(unit: str) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(unit)
    return parser


def values(unit: str, name: str) -> list[str]:
    """All values of a key that may stand there more than once."""
    return [line.partition("=")[2] for line in unit.splitlines() if line.startswith(f"{name}=")]


# --- the unit of systemd
def test_printing_the_unit_changes_nothing(desk: Desk) -> None:
    desk.give_systemctl()
    unit = desk("install", "--print")
    service = parsed(unit)
    assert service["Service"]["Type"] == "simple"
    assert service["Service"]["Restart"] == "on-failure"
    assert service["Install"]["WantedBy"] == "default.target"
    command = shlex.split(service["Service"]["ExecStart"].removeprefix(":"))
    wanted = [sys.executable, "-P", "-m", "lore.doors.cli", "--data-dir", str(desk.data), "daemon", "run"]
    assert command == wanted
    assert "MALLOC_ARENA_MAX=2" in values(unit, "Environment")
    assert "OPENBLAS_NUM_THREADS=1" in values(unit, "Environment")
    assert "LORE_EMBEDDING_MODEL=hash" in values(unit, "Environment")
    assert not desk.unit.exists()
    assert not desk.data.exists()
    assert not desk.bin.joinpath("asked").exists()


def test_only_a_daemons_own_variables_are_in_the_unit(desk: Desk) -> None:
    told = {"LORE_NAMESPACE": "anna", "LORE_SURFACES": "all", "LORE_IDLE_MINUTES": "2.5"}
    unit = desk("install", "--print", env=told)
    assert "LORE_IDLE_MINUTES=2.5" in values(unit, "Environment")
    assert "NAMESPACE" not in unit
    assert "SURFACES" not in unit


def test_a_database_of_its_own_is_in_the_command(tmp_path: Path) -> None:
    unit = systemd(Endpoint({}, "/data", "/other/notes.db")).unit.decode()
    assert " --data-dir /data --db /other/notes.db daemon run" in unit


def unescaped(word: str) -> str:
    """As systemd reads a quoted word: backslashes first, then percent signs."""
    assert word[0] == word[-1] == '"'
    plain = word[1:-1].encode("latin-1", "backslashreplace").decode("unicode_escape")
    return plain.replace("%%", "%")


def test_paths_with_special_characters_survive_quoting() -> None:
    unit = systemd(Endpoint({}, f"/{AWKWARD}\t")).unit.decode()
    [command] = values(unit, "ExecStart")
    quoted = command.partition("--data-dir ")[2].removesuffix(" daemon run")
    assert unescaped(quoted) == f"/{AWKWARD}\t"
    assert "100%%h" in quoted
    assert "\t" not in quoted


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
@pytest.mark.parametrize("folder", ["/plain", f"/{AWKWARD}"])
def test_systemd_has_nothing_to_say_against_the_unit(tmp_path: Path, folder: str) -> None:
    path = tmp_path / "lore.service"
    path.write_bytes(systemd(Endpoint({}, folder)).unit)
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(path)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# --- without a manager that answers
def test_without_systemctl_the_unit_is_written_and_the_rest_is_told(desk: Desk) -> None:
    said = desk("install")
    assert said.splitlines() == [
        f"Wrote {desk.unit}",
        "The service could not be started from here: there is no systemctl here. Run:",
        "  systemctl --user daemon-reload",
        "  systemctl --user enable --now lore.service",
    ]
    assert desk.unit.read_text() == desk("install", "--print")
    assert desk("install").splitlines()[0] == f"Unchanged: {desk.unit}"
    assert desk("uninstall") == f"Removed {desk.unit}\n"
    assert not desk.unit.exists()
    assert desk("uninstall") == f"Nothing to remove at {desk.unit}\n"


def test_a_systemctl_that_does_not_answer_is_quoted(desk: Desk) -> None:
    desk.give_systemctl("#!/bin/sh\necho 'Failed to connect to bus: No medium found' >&2; exit 1\n")
    document = desk.document("install")
    assert (document["enabled"], document["started"], document["changed"]) == (False, False, True)
    assert document["why"] == "Failed to connect to bus: No medium found"
    assert document["left"][0] == "systemctl --user daemon-reload"


def test_a_running_daemon_is_left_alone_where_the_service_cannot_take_over(desk: Desk) -> None:
    pid = desk.document("start")["pid"]
    assert desk.document("install")["left"][0] == f"lore --data-dir {desk.data} daemon stop"
    assert desk.document("status")["pid"] == pid
    assert desk.document("uninstall") == {"unit": str(desk.unit), "removed": True, "running": True}
    assert desk.document("status")["pid"] == pid


def test_wrong_settings_are_refused_before_anything_is_written(desk: Desk) -> None:
    desk.data.mkdir()
    desk.data.joinpath("config.toml").write_text("idle_minutes = 'red'\n")
    assert "idle_minutes" in desk("install", code=1)
    assert not desk.unit.exists()


def test_a_home_that_cannot_be_written_is_an_error(desk: Desk) -> None:
    desk.unit.parent.parent.parent.write_text("in the way")
    assert f"lore: {desk.unit} cannot be written" in desk("install", code=1)


# --- with one
def test_the_service_takes_over_from_a_daemon_that_runs_and_ends_when_it_is_uninstalled(desk: Desk) -> None:
    desk.give_systemctl()
    first = desk.document("start")["pid"]
    done = desk.document("install")
    assert (done["changed"], done["enabled"], done["started"], done["left"]) == (True, True, True, [])
    assert desk.document("status")["pid"] == done["pid"] != first
    assert int(desk.bin.joinpath("pid").read_text()) == done["pid"]
    assert desk.asked() == [
        "--user daemon-reload",
        "--user is-active --quiet lore.service",
        "--user enable --quiet lore.service",
        "--user restart lore.service",
    ]
    assert desk("uninstall") == f"Removed {desk.unit}\n"
    assert desk.asked() == [
        "--user daemon-reload",
        "--user is-active --quiet lore.service",
        "--user disable --quiet --now lore.service",
        "--user daemon-reload",
    ]
    assert not desk.unit.exists()


def test_installing_again_changes_nothing_but_a_changed_unit_restarts_the_service(desk: Desk) -> None:
    desk.give_systemctl()
    pid = desk.document("install")["pid"]
    desk.asked()
    again = desk.document("install")
    assert (again["changed"], again["started"], again["pid"]) == (False, False, pid)
    assert not [line for line in desk.asked() if "restart" in line]
    assert desk("install").splitlines()[1] == f"Lore: running already as a service (PID: {pid})"
    said = desk("install", env={"LORE_IDLE_MINUTES": "3"})
    assert said.startswith(f"Wrote {desk.unit}\nLore: started as a service")
    assert desk.document("status")["pid"] != pid


def test_it_can_be_left_to_the_next_login(desk: Desk) -> None:
    desk.give_systemctl()
    assert desk("install", "--no-start").splitlines()[1] == "Lore: starts at the next login"
    assert desk.asked() == ["--user daemon-reload", "--user enable --quiet lore.service"]
    assert desk.document("status", code=3)["running"] is False


def test_the_reason_of_the_service_manager_is_quoted(desk: Desk) -> None:
    desk.give_systemctl("#!/bin/sh\ncase $* in *enable*) echo 'Unit is masked.' >&2; exit 1;; esac\n")
    said = desk("install", code=1)
    assert said == "lore: `systemctl --user enable --quiet lore.service` failed: Unit is masked.\n"


# --- launchd, and others
def test_the_agent_of_launchd(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    manager = launchd(Endpoint({}, f"/{AWKWARD}"))
    unit = plistlib.loads(manager.unit)
    assert unit["Label"] == LABEL
    assert unit["ProgramArguments"][-5:] == ["--data-dir", f"/{AWKWARD}", "daemon", "run", "--quietly"]
    assert unit["EnvironmentVariables"]["MALLOC_ARENA_MAX"] == "2"
    assert unit["KeepAlive"] == {"SuccessfulExit": False}
    assert unit["RunAtLoad"] is True
    assert manager.path == str(tmp_path / "Library" / "LaunchAgents" / f"{LABEL}.plist")
    assert ["launchctl", "bootstrap", f"gui/{os.getuid()}", manager.path] == manager.start


def test_an_agent_is_written_and_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One that is not loaded is enabled and not thrown out."""
    bin = tmp_path / "bin"
    bin.mkdir()
    bin.joinpath("launchctl").write_text(
        f'#!/bin/sh\necho "$*" >> {bin}/asked\ncase $* in *{LABEL}) test $1 = enable;; esac\n'
    )
    bin.joinpath("launchctl").chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(bin))
    endpoint = Endpoint({}, str(tmp_path / "data"))
    manager = manager_of("darwin", endpoint)
    assert install(manager, endpoint, start=False).enabled is True
    assert Path(manager.path).read_bytes() == manager.unit
    assert uninstall(manager) is True
    assert uninstall(manager) is False
    assert not Path(manager.path).exists()
    domain = f"gui/{os.getuid()}"
    assert bin.joinpath("asked").read_text().splitlines() == [
        f"print {domain}",
        f"enable {domain}/{LABEL}",
        f"print {domain}",
        f"print {domain}/{LABEL}",
        f"print {domain}",
    ]


def test_other_platforms_have_no_services() -> None:
    with pytest.raises(Unavailable, match="linux and darwin, not for win32"):
        manager_of("win32", Endpoint({}, "/data"))
