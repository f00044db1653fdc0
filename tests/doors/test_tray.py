"""`lore-tray` without a screen: states, colours, menu, commands, and the files that install it."""

import configparser
import os
import plistlib
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lore.doors.daemon_status import read_status
from lore.doors.endpoint import Endpoint
from lore.doors.starting import start
from lore.doors.tray_commands import Commands, Failed
from lore.doors.tray_install import desktop_of, macos
from lore.doors.tray_state import (
    FRAMES,
    GREEN,
    ORANGE,
    RED,
    Entry,
    View,
    colour_of,
    entries_of,
    view_of,
)
from lore.errors import NotFound, Unavailable
from lore.version import VERSION
from tests.doors.resident import pid_of, until

TRAY = (sys.executable, "-m", "lore.doors.tray")
AWKWARD = "a 100%h of $HOME, \"q\" 'x' \\n é `id`"
ALWAYS = {"explorer", "logs", "quit"}


def status_of(state: str | None, **more: Any) -> dict[str, Any]:
    base = {"running": state is not None, "state": state, "mode": "local", "pid": 7, "embedding": None}
    return base | more


def enabled(view: View, *running: str) -> set[str]:
    return {entry.action for group in entries_of(view, running) for entry in group if entry.enabled}


def scaled(colour: tuple[int, int, int], share: float) -> tuple[int, ...]:
    return tuple(round(part * share) for part in colour)


# --- the icon
@pytest.mark.parametrize(("state", "share"), [("stopped", 0.15), ("idle", 1.0)])
def test_a_daemon_at_rest_has_a_steady_red_that_is_dim_when_it_is_stopped(state: str, share: float) -> None:
    assert {colour_of(state, frame) for frame in range(FRAMES)} == {scaled(RED, share)}
    assert not View(state).pulsing


@pytest.mark.parametrize(
    ("state", "colour"),
    [("ingesting", RED), ("embedding", RED), ("consolidating", ORANGE), ("syncing", GREEN)],
)
def test_a_daemon_at_work_pulses_in_its_colour(state: str, colour: tuple[int, int, int]) -> None:
    frames = [colour_of(state, frame) for frame in range(FRAMES)]
    assert View(state).pulsing
    assert (min(frames), max(frames)) == (scaled(colour, 0.3), colour)
    assert frames == [colour_of(state, frame + FRAMES) for frame in range(FRAMES)]
    assert frames[0] == frames[8] == scaled(colour, 0.65)
    assert frames[:5] == sorted(frames[:5])
    assert frames[4:13] == sorted(frames[4:13], reverse=True)


def test_a_state_of_another_version_looks_idle_and_says_its_name() -> None:
    assert colour_of("dreaming", 3) == RED
    assert View("dreaming").title == f"Lore v{VERSION} dreaming"


# --- the menu
def test_the_first_line_says_version_and_state() -> None:
    assert View().title == f"Lore v{VERSION} stopped"
    assert view_of(status_of("busy"), View()).title == f"Lore v{VERSION} starting or stopping"
    backlog = status_of("embedding", embedding={"left": 1234, "seconds_left": None})
    assert view_of(backlog, View()).title == f"Lore v{VERSION} embedding (1,234 left)"


def test_only_what_is_possible_can_be_chosen() -> None:
    assert enabled(View()) == {"start", *ALWAYS}
    for state in ("idle", "embedding"):
        assert enabled(View(state)) == {"stop", "ingest", "consolidate", *ALWAYS}
    for state in ("busy", "ingesting", "consolidating", "syncing"):
        assert enabled(View(state)) == {"stop", *ALWAYS}


def test_an_action_that_has_begun_cannot_be_chosen_again() -> None:
    assert enabled(View(), "start") == ALWAYS
    assert enabled(View("idle"), "stop") == ALWAYS
    assert enabled(View("idle"), "ingest") == {"stop", "consolidate", *ALWAYS}
    assert enabled(View("idle"), "consolidate", "explorer") == {"stop", "ingest", "logs", "quit"}


def test_with_a_server_the_menu_syncs_instead_of_consolidating_also_while_the_daemon_is_stopped() -> None:
    remote = view_of(status_of("idle", mode="remote"), View())
    assert enabled(remote) == {"stop", "ingest", "sync", *ALWAYS}
    stopped = view_of(status_of(None, mode=None), remote)
    assert stopped == View(mode="remote")
    assert Entry("sync", "Trigger S&ync", enabled=False) in entries_of(stopped)[1]


def test_every_entry_has_a_letter_of_its_own() -> None:
    for mode in ("local", "remote"):
        labels = [entry.label for group in entries_of(View(mode=mode)) for entry in group]
        letters = [label[label.index("&") + 1].lower() for label in labels]
        assert len(set(letters)) == len(letters)


# --- the commands
def finished(commands: Commands) -> list[Failed]:
    """Wait for all commands; those that have failed."""
    failed: list[Failed] = []

    def look() -> bool:
        failed.extend(commands.finish())
        return not commands.running

    until(look)
    return failed


def test_a_tray_stops_the_daemon_that_it_started_even_if_its_predecessor_was_killed(fresh: Endpoint) -> None:
    killed = Commands(fresh)
    killed.run("start")
    assert finished(killed) == []
    assert read_status(fresh)["running"]
    Commands(fresh).end()
    assert not read_status(fresh)["running"]
    assert not Path(fresh.home, "tray.daemon").exists()


def test_a_tray_leaves_a_daemon_alone_that_took_the_place_of_its_own(fresh: Endpoint) -> None:
    commands = Commands(fresh)
    for action in ("start", "stop"):
        commands.run(action)
        assert finished(commands) == []
    start(fresh)
    commands.run("start")
    assert finished(commands) == []
    pid = pid_of(fresh)
    commands.end()
    assert pid_of(fresh) == pid


def test_a_tray_that_quits_while_it_starts_the_daemon_stops_it(fresh: Endpoint) -> None:
    commands = Commands(fresh)
    commands.run("start")
    commands.end()
    assert not read_status(fresh)["running"]


def test_a_command_that_fails_says_why_and_can_be_chosen_again(fresh: Endpoint) -> None:
    commands = Commands(fresh)
    Path(fresh.home, "config.toml").write_text("idle_minutes = 'red'\n")
    for _ in range(2):
        commands.run("start")
        [failed] = finished(commands)
        assert failed.action == "start"
        assert failed.reason.endswith("config.toml: idle_minutes must be a number of 0 or more, not 'red'")
    commands.run("consolidate")
    [failed] = finished(commands)
    assert failed.reason.startswith(f"{fresh.home}/config.toml: idle_minutes")


def test_without_a_log_the_tray_says_so(fresh: Endpoint) -> None:
    with pytest.raises(NotFound, match=r"there is no log at .*: no daemon has run there yet"):
        Commands(fresh).run("logs")


# --- the program
def run(*options: str, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*TRAY, *options], env={**os.environ, **env}, capture_output=True, text=True)


def test_without_the_extra_the_program_says_how_to_install_it(tmp_path: Path) -> None:
    hide = "import sys; sys.modules['PySide6'] = None; from lore.doors.tray import main; main()"
    for options in ([], ["--install"]):
        words = [sys.executable, "-c", hide, *options]
        done = subprocess.run(
            words, env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True
        )
        assert done.returncode == 1
        reason = "PySide6 is missing; install it with the extra: pip install 'agent-lore[tray]'"
        assert done.stderr.startswith(f"lore-tray: {reason}")
    assert list(tmp_path.iterdir()) == []


def test_wrong_options_and_a_machine_without_a_display_are_refused(tmp_path: Path) -> None:
    nothing = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "QT_QPA_PLATFORM": "", "HOME": str(tmp_path)}
    for options, reason in {
        (): "lore-tray: there is no display here: neither DISPLAY nor WAYLAND_DISPLAY is set",
        (
            "--install",
            "--uninstall",
        ): "lore-tray: --install and --uninstall exclude each other; give one of them",
        ("--autostart",): "lore-tray: --autostart belongs to --install; give both",
    }.items():
        done = run(*options, **nothing)
        assert (done.returncode, done.stderr) == (1, f"{reason}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_display_that_does_not_answer_is_an_error_of_one_line(tmp_path: Path) -> None:
    done = run(DISPLAY=":4711", WAYLAND_DISPLAY="", QT_QPA_PLATFORM="xcb", HOME=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("lore-tray: nothing can be shown on this display: ")
    assert done.stderr.count("\n") == 1


# --- installing
@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def files_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def exec_words(entry: str) -> list[str]:
    """The command of a desktop entry, decoded as specified: first as a value, then as a command line."""
    parser = configparser.RawConfigParser()
    parser.read_string(entry)
    value = parser["Desktop Entry"]["Exec"].replace("\\\\", "\\")
    return [word.replace("%%", "%") for word in shlex.split(value.replace("\\`", "`").replace("\\$", "$"))]


def test_on_linux_the_tray_goes_into_the_menu_and_starts_at_login_only_if_wanted(home: Path) -> None:
    entry = ".local/share/applications/lore-tray.desktop"
    login = ".config/autostart/lore-tray.desktop"
    icon = ".local/share/icons/hicolor/512x512/apps/lore-tray.png"
    data = str(home / AWKWARD)
    written = run("--install", "--autostart", "--data-dir", data).stdout
    assert files_in(home) == {entry, login, icon}
    assert written.splitlines() == [f"Wrote {home / path}" for path in (entry, icon, login)]
    assert (home / login).read_text() == (home / entry).read_text()
    assert exec_words((home / entry).read_text()) == [
        *(sys.executable, "-P", "-m", "lore.doors.tray", "--data-dir", data)
    ]
    run("--install", "--data-dir", data)
    assert files_in(home) == {entry, icon}
    removed = run("--uninstall")
    assert removed.stdout.splitlines() == [f"Removed {home / path}" for path in (entry, icon)]
    assert files_in(home) == set()
    assert run("--uninstall").stdout == "Nothing to remove.\n"


@pytest.mark.skipif(not shutil.which("desktop-file-validate"), reason="there are no desktop-file-utils here")
def test_the_desktop_entry_is_valid(home: Path) -> None:
    run("--install", "--data-dir", str(home / AWKWARD))
    entry = home / ".local/share/applications/lore-tray.desktop"
    done = subprocess.run(["desktop-file-validate", entry], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_on_macos_the_tray_is_an_application_outside_of_the_dock(home: Path) -> None:
    desktop = macos([sys.executable, "-c", "import sys; print(sys.argv[1])", AWKWARD])
    desktop.install(autostart=True)
    app = "Applications/Lore.app/Contents"
    login = "Library/LaunchAgents/com.lore.tray.plist"
    program = home / app / "MacOS/lore-tray"
    pictures = f"{app}/Resources/lore-tray.icns"
    assert files_in(home) == {f"{app}/Info.plist", f"{app}/MacOS/lore-tray", pictures, login}
    about = plistlib.loads((home / app / "Info.plist").read_bytes())
    assert (about["CFBundleIdentifier"], about["LSUIElement"]) == ("com.lore.tray", True)
    assert (about["CFBundleExecutable"], about["CFBundleVersion"]) == ("lore-tray", VERSION)
    assert plistlib.loads((home / login).read_bytes())["ProgramArguments"] == [str(program)]
    assert subprocess.run([program], capture_output=True, text=True).stdout == f"{AWKWARD}\n"
    icns = (home / pictures).read_bytes()
    assert (icns[:4], int.from_bytes(icns[4:8]), icns[16:24]) == (b"icns", len(icns), b"\x89PNG\r\n\x1a\n")
    desktop.uninstall()
    assert files_in(home) == set()
    assert not (home / "Applications/Lore.app").exists()


def test_other_platforms_are_told_what_to_do(fresh: Endpoint) -> None:
    with pytest.raises(Unavailable, match="files for linux and darwin, not for win32; run lore-tray by hand"):
        desktop_of("win32", fresh)
