"""A screen for tests: a real X server without a monitor, and a panel with a system tray on it."""

import os
import shutil
import struct
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.doors.resident import SECONDS, until

PROGRAMS = {"Xvfb": "xvfb", "trayer": "trayer", "xdotool": "xdotool"}
"""The programs that a screen needs, and the packages of Debian that have them."""
WIDTH, HEIGHT = 400, 300
PANEL = ("--edge", "bottom", "--align", "right", "--widthtype", "pixel", "--width", "128", "--height", "32")
ICON = (WIDTH - 12, HEIGHT - 16)
"""The middle of the only icon of the panel."""
MENU = (WIDTH - 40, HEIGHT - 60)
"""A point of the screen that is empty unless a menu is open."""
EMPTY = (0, 0, 0)

Colour = tuple[int, int, int]


class Screen:
    """What is shown on a screen, and the mouse and keyboard in front of it."""

    def __init__(self, display: str, buffer: Path) -> None:
        self.env = {
            "DISPLAY": display,
            "WAYLAND_DISPLAY": "",
            "QT_QPA_PLATFORM": "xcb",
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",  # not the desktop of whoever runs the test
        }
        self._buffer = buffer

    @property
    def icon(self) -> Colour:
        """The colour in the middle of the icon; of the panel, if there is no icon."""
        return self.pixel(*ICON)

    @property
    def menu_open(self) -> bool:
        return self.pixel(*MENU) != EMPTY

    def pixel(self, x: int, y: int) -> Colour:
        blue, green, red = self._rows()[y][4 * x : 4 * x + 3]
        return red, green, blue

    def choose(self, letter: str) -> None:
        """Open the menu of the icon, and choose the entry with this letter as soon as that is possible."""
        self.open_menu()
        until(lambda: self._closes_at(letter))

    def save(self, path: Path) -> None:
        """Write what is shown to a PNG file."""
        rows = b"".join(
            b"\0" + bytes(part for x in range(WIDTH) for part in row[4 * x : 4 * x + 3][::-1])
            for row in self._rows()
        )
        chunks = (
            (b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)),
            (b"IDAT", zlib.compress(rows)),
        )
        path.write_bytes(
            b"\x89PNG\r\n\x1a\n"
            + b"".join(
                struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
                for name, data in (*chunks, (b"IEND", b""))
            )
        )

    def press(self, *actions: str) -> None:
        """Move the mouse, click, or press keys, in the words of xdotool."""
        subprocess.run(["xdotool", *actions], env={**os.environ, **self.env}, check=True, timeout=SECONDS)

    def open_menu(self) -> None:
        self.press("mousemove", *map(str, ICON), "click", "3", "mousemove", "0", "0")
        until(lambda: self.menu_open)

    def _closes_at(self, letter: str) -> bool:
        """Whether the menu has closed: it stays open while the entry with this letter is disabled."""
        self.press("key", letter)
        return not self.menu_open

    def _rows(self) -> list[bytes]:
        """The lines of the picture, four bytes a pixel, from the X window dump that the server updates."""
        dump = self._buffer.read_bytes()
        header = struct.unpack(">25I", dump[:100])
        begin, bytes_per_line = header[0] + 12 * header[19], header[12]
        return [
            dump[start : start + 4 * WIDTH]
            for start in range(begin, begin + HEIGHT * bytes_per_line, bytes_per_line)
        ]


def require_screen() -> None:
    """Skip a test where a screen cannot be had; where CI is set, that is a failure."""
    missing = [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
    if find_spec("PySide6") is None:
        missing.append("PySide6")
    if missing and os.environ.get("CI"):
        pytest.fail(f"a test of the screen needs {', '.join(missing)}; `scripts/setup test` installs that")
    if missing:
        pytest.skip(f"there is no {', '.join(missing)} here; `scripts/setup test` installs that for root")


@contextmanager
def a_screen(folder: Path) -> Iterator[Screen]:
    """An empty screen with a panel; both end with the block."""
    require_screen()
    ours, theirs = os.pipe()
    size = f"{WIDTH}x{HEIGHT}x24"
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(theirs), "-screen", "0", size, "-fbdir", str(folder), "-nolisten", "tcp"],
        pass_fds=(theirs,),
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    with server, os.fdopen(ours) as reply:
        try:
            screen = Screen(f":{reply.readline().strip()}", folder / "Xvfb_screen0")
            with subprocess.Popen(["trayer", *PANEL], env={**os.environ, **screen.env}) as panel:
                try:
                    until(lambda: screen.icon != EMPTY)
                    yield screen
                finally:
                    panel.terminate()
        finally:
            server.terminate()
