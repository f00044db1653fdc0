"""`lore-tray` on a screen: the real program, a real panel, a real daemon, a real mouse."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lore.doors.daemon_status import read_status
from lore.doors.endpoint import Endpoint
from lore.doors.starting import start
from lore.doors.tray_state import FRAMES, colour_of
from lore.filelock import is_held
from tests.doors.command import Command
from tests.doors.resident import SECONDS, pid_of, until, writers_waiting
from tests.doors.screen import Screen, a_screen

TRAY = (sys.executable, "-m", "lore.doors.tray")
IDLE, STOPPED = colour_of("idle", 0), colour_of("stopped", 0)
PULSE = {colour_of("consolidating", frame) for frame in range(FRAMES)}
SEEN = 5
"""Frames of a pulse that a test waits for."""
OPENER = """#!/bin/sh
printf %s "$1" > "$HOME/opened"
"""


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    with a_screen(tmp_path) as screen:
        yield screen


class Desk:
    """A user with a screen, a home with one conversation of Claude Code, and a program that opens files."""

    def __init__(self, home: Path, endpoint: Endpoint, screen: Screen) -> None:
        self.home = home
        self.lore = Command(Path(endpoint.home))
        self._screen = screen
        chat = home / ".claude" / "projects" / "ferry" / "chat.jsonl"
        opener = home / "bin" / "xdg-open"
        for path in (chat, opener):
            path.parent.mkdir(parents=True)
        line = {
            "type": "user",
            "sessionId": "s1",
            "message": {"role": "user", "content": "Where is the ferry?"},
        }
        chat.write_text(json.dumps(line) + "\n")
        opener.write_text(OPENER)
        opener.chmod(0o755)

    @contextmanager
    def tray(self) -> "Iterator[subprocess.Popen[str]]":
        with subprocess.Popen(TRAY, env=self.env, stderr=subprocess.PIPE, text=True) as process:
            try:
                yield process
            finally:
                process.kill()

    @property
    def env(self) -> dict[str, str]:
        path = f"{self.home / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return self.lore.env({**self._screen.env, "HOME": str(self.home), "PATH": path})


@pytest.fixture
def desk(tmp_path: Path, fresh: Endpoint, screen: Screen) -> Desk:
    return Desk(tmp_path / "home", fresh, screen)


def test_the_icon_follows_the_daemon_and_its_menu_commands_it(
    fresh: Endpoint, screen: Screen, desk: Desk
) -> None:
    panel = screen.icon
    with desk.tray() as tray:
        until(lambda: screen.icon == IDLE)
        first = pid_of(fresh)
        screen.choose("t")
        until(lambda: screen.icon == STOPPED)
        assert not is_held(fresh.lock)
        screen.choose("s")
        until(lambda: screen.icon == IDLE)
        assert pid_of(fresh) != first

        with writers_waiting(fresh):
            screen.choose("c")
            frames = {until(lambda: screen.icon in PULSE and screen.icon)}
            while len(frames) < SEEN:
                frames.add(until(lambda: screen.icon not in frames and screen.icon))
            assert frames <= PULSE
        until(lambda: screen.icon == IDLE)

        screen.choose("i")
        until(lambda: desk.lore.document("sessions"))
        screen.choose("l")
        until(lambda: (desk.home / "opened").exists() and (desk.home / "opened").read_text() == fresh.log)

        screen.choose("q")
        assert tray.wait(SECONDS) == 0
        assert tray.stderr
        assert tray.stderr.read() == ""
    assert not is_held(fresh.lock)
    until(lambda: screen.icon == panel)


def test_a_tray_leaves_a_daemon_alone_that_ran_before_and_a_second_tray_is_refused(
    fresh: Endpoint, screen: Screen, desk: Desk
) -> None:
    start(fresh)
    pid = pid_of(fresh)
    with desk.tray() as tray:
        until(lambda: screen.icon == IDLE)
        second = subprocess.run(TRAY, env=desk.env, capture_output=True, text=True, timeout=SECONDS)
        assert (second.returncode, second.stderr) == (1, f"lore-tray: a tray runs already for {fresh.home}\n")
        tray.send_signal(signal.SIGTERM)
        assert tray.wait(SECONDS) == 0
    assert read_status(fresh)["pid"] == pid
